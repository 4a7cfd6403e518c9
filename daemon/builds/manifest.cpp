#include "daemon/builds/manifest.h"

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/process/excerpt.h"
#include "storage/base/date.h"
#include "storage/base/printable.h"
#include "storage/base/small_file.h"

namespace torchwatch::builds {
namespace {

using nlohmann::json;

Error bad_field(std::filesystem::path const& file, std::string const& what) {
  return Error{ErrorCode::corrupt, printable(file.string() + ": " + what)};
}

constexpr int deepest = 16;

/// Returns nothing when the text is nested too deeply.
std::optional<json> parse(std::string const& text) {
  bool is_shallow = true;
  auto object = json::parse(text, [&](int depth, json::parse_event_t, json const&) {
    is_shallow = is_shallow && depth < deepest;
    return depth < deepest;
  });
  if (!is_shallow) return std::nullopt;
  return object;
}

BuildManifest manifest_from(json const& object) {
  BuildManifest manifest;
  manifest.commit.hex = object.at("commit").get<std::string>();
  manifest.version = object.value("version", manifest.version);
  manifest.date = object.value("date", manifest.date);
  manifest.variant = object.value("variant", manifest.variant);
  manifest.kind = object.value("kind", manifest.kind);
  manifest.env = object.value("env", manifest.env);
  manifest.preload = object.value("preload", manifest.preload);
  manifest.launcher = object.value("launcher", manifest.launcher);
  return manifest;
}

}  // namespace

Result<Build> read_build(std::filesystem::path const& prefix) {
  auto const file = prefix / "build.json";
  auto const text = read_small_file(file);
  if (!text) return text.error();
  Build build;
  build.prefix = std::filesystem::absolute(prefix).lexically_normal().string();
  try {
    auto const object = parse(*text);
    if (!object)
      return bad_field(file, "nested deeper than " + std::to_string(deepest) + " levels");
    build.manifest = manifest_from(*object);
  } catch (json::exception const& problem) {
    return bad_field(file, problem.what());
  }
  auto& manifest = build.manifest;
  if (!is_commit_sha(manifest.commit.hex)) {
    return bad_field(file,
                     "commit: found \"" + process::excerpt(manifest.commit.hex) +
                         "\", allowed are 40 lower-case hexadecimal digits");
  }
  if (!manifest.date.empty() && !day_of(manifest.date)) {
    return bad_field(
        file, "date: found \"" + process::excerpt(manifest.date) + "\", allowed is YYYY-MM-DD");
  }
  if (manifest.kind != "libtorch" && manifest.kind != "python") {
    return bad_field(file,
                     "kind: found \"" + process::excerpt(manifest.kind) +
                         "\", allowed are \"libtorch\" and \"python\"");
  }
  for (auto& library : manifest.preload)
    library = (std::filesystem::path{build.prefix} / library).lexically_normal().string();
  return build;
}

Result<Build> read_build_of(Nightly const& nightly) {
  auto build = read_build(nightly.prefix);
  if (!build || build->manifest.commit == nightly.commit) return build;
  return bad_field(std::filesystem::path{nightly.prefix} / "build.json",
                   "commit: found \"" + build->manifest.commit.hex + "\", nightly " + nightly.date +
                       " is of \"" + nightly.commit.hex + '"');
}

Result<Build> write_build(std::filesystem::path const& prefix, BuildManifest const& manifest) {
  json const object{{"commit", manifest.commit.hex},
                    {"version", manifest.version},
                    {"date", manifest.date},
                    {"variant", manifest.variant},
                    {"kind", manifest.kind},
                    {"env", manifest.env},
                    {"preload", manifest.preload},
                    {"launcher", manifest.launcher}};
  auto const written = write_small_file(prefix / "build.json", object.dump() + '\n');
  if (!written) return written.error();
  return read_build(prefix);
}

}  // namespace torchwatch::builds
