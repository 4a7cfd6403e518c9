#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include <boost/algorithm/string/replace.hpp>

#include "fetch/companions.h"
#include "fetch/wheel_metadata.h"
#include "fetch/wheel_record.h"
#include "storage/base/digest.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"
#include "tests/temporary_folder.h"

namespace torchwatch::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr auto module_text = "import os\n";
/// The number of files of the wheel, without its RECORD.
constexpr std::size_t files = 4;

/// Returns the digest of the module in RECORD's format.
std::string digest_of_module() {
  Sha256 digest;
  digest.add(module_text);
  return "sha256=" + digest.base64url();
}

void check_record_of(fs::path const& wheel, std::string const& record) {
  auto const checked = fetch::check_record(wheel);
  if (!checked) {
    require(checked.error().code == ErrorCode::corrupt,
            "a wheel that differs from RECORD is corrupt");
    require(is_one_line(checked.error().message), "an error is one line");
    return;
  }
  if (!checked->empty()) {
    require(is_one_line(*checked), "a warning is one line");
    return;
  }
  std::istringstream stream{record};
  std::set<std::string> lines;  // equal lines count once
  for (std::string line; std::getline(stream, line);)
    if (!line.empty() && line != "\r") lines.insert(line);
  auto const own = std::ranges::count_if(
      lines, [](std::string const& line) { return line.find("RECORD") != std::string::npos; });
  require(lines.size() >= files + static_cast<std::size_t>(own), "each file is listed");
  bool const has_digest = std::ranges::any_of(
      lines, [](auto const& line) { return line.find(digest_of_module()) != std::string::npos; });
  if (!has_digest) return;
  write_file(wheel / "pkg/module.py", "import sys\n");
  require(!fetch::check_record(wheel), "a changed wheel is refused");
  write_file(wheel / "pkg/module.py", module_text);
}

void check_metadata_of(fs::path const& wheel) {
  auto const metadata = fetch::wheel_metadata_of(wheel);
  if (!metadata) {
    require(is_one_line(metadata.error().message), "an error is one line");
    return;
  }
  require(!metadata->name.empty() && !metadata->version.empty(), "a wheel has name and version");
  fetch::fits(*metadata, {"cp312", "cp312", "x86_64"});
  fetch::MarkerEnvironment const environment{"3.12", "x86_64", {"cublas"}};
  for (auto const scope : {fetch::CompanionScope::libraries, fetch::CompanionScope::python}) {
    auto const companions = fetch::companions_of(*metadata, environment, scope);
    if (!companions) {
      require(is_one_line(companions.error().message), "an error is one line");
      continue;
    }
    for (auto const& companion : *companions)
      require(scope == fetch::CompanionScope::python || companion.name.starts_with("nvidia-") ||
                  companion.name == "cuda-toolkit",
              "a companion has libraries");
  }
}

}  // namespace

/// RECORD, METADATA and WHEEL of an unpacked wheel. DIGEST and SIZE are replaced by those of a
/// module.
void wheel(std::string_view input) {
  static tests::TemporaryFolder const folder;
  auto const info = folder / "pkg-1.dist-info";
  fs::create_directories(info);
  fs::create_directories(folder / "pkg");
  auto parts = parts_of(input, 3);
  boost::replace_all(parts[0], "DIGEST", digest_of_module());
  boost::replace_all(parts[0], "SIZE", std::to_string(std::string_view{module_text}.size()));
  write_file(folder / "pkg/module.py", module_text);
  write_file(folder / "pkg/with, \"comma.py", "");
  write_file(info / "RECORD", parts[0]);
  write_file(info / "METADATA", parts[1]);
  write_file(info / "WHEEL", parts[2]);
  check_record_of(folder.path(), parts[0]);
  check_metadata_of(folder.path());
}

}  // namespace torchwatch::fuzz
