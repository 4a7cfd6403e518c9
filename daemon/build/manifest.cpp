#include "daemon/build/manifest.h"

#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

namespace torchwatch::build {
namespace {

using nlohmann::json;

Error bad_field(std::filesystem::path const& file, std::string const& what) {
  return Error{ErrorCode::corrupt, file.string() + ": " + what};
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
  std::ifstream stream{file};
  if (!stream) return Error{ErrorCode::not_found, file.string() + ": cannot be read"};
  std::string const text{std::istreambuf_iterator<char>{stream}, {}};
  Build build;
  build.prefix = std::filesystem::absolute(prefix).lexically_normal().string();
  try {
    build.manifest = manifest_from(json::parse(text));
  } catch (json::exception const& problem) {
    return bad_field(file, problem.what());
  }
  auto& manifest = build.manifest;
  if (!is_commit_sha(manifest.commit.hex)) {
    return bad_field(file,
                     "commit: found \"" + manifest.commit.hex +
                         "\", allowed are 40 lower-case hexadecimal digits");
  }
  if (manifest.kind != "libtorch" && manifest.kind != "python") {
    return bad_field(
        file, "kind: found \"" + manifest.kind + "\", allowed are \"libtorch\" and \"python\"");
  }
  for (auto& library : manifest.preload)
    library = (std::filesystem::path{build.prefix} / library).lexically_normal().string();
  return build;
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
  auto const file = prefix / "build.json";
  auto const unfinished = prefix / "build.json.new";
  std::ofstream stream{unfinished};
  stream << object.dump() << '\n';
  stream.close();
  std::error_code problem;
  std::filesystem::rename(unfinished, file, problem);
  if (!stream || problem)
    return Error{ErrorCode::unavailable, file.string() + ": cannot be written"};
  return read_build(prefix);
}

}  // namespace torchwatch::build
