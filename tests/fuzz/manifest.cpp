#include "daemon/builds/manifest.h"

#include "storage/base/date.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"
#include "tests/temporary_folder.h"

namespace torchwatch::fuzz {
namespace {

void check_equal(BuildManifest const& one, BuildManifest const& other) {
  require(one.commit == other.commit && one.version == other.version && one.date == other.date &&
              one.variant == other.variant && one.kind == other.kind && one.env == other.env &&
              one.preload == other.preload && one.launcher == other.launcher,
          "a written manifest is read as an equal one");
}

}  // namespace

/// build.json, written by the maker of a build.
void manifest(std::string_view input) {
  static tests::TemporaryFolder const folder;
  write_file(folder / "build.json", input);
  auto const build = builds::read_build(folder.path());
  if (!build) {
    require(is_one_line(build.error().message), "an error is one line");
    return;
  }
  auto const& read = build->manifest;
  require(is_commit_sha(read.commit.hex), "a build has a commit");
  require(read.date.empty() || day_of(read.date).has_value(), "a build has a day or none");
  for (auto const& library : read.preload)
    require(library.starts_with('/'), "libraries have absolute paths");
  auto const again = builds::write_build(folder.path(), read);
  require(again.has_value(), "a manifest that was read can be written");
  check_equal(again->manifest, read);
}

}  // namespace torchwatch::fuzz
