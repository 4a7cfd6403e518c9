#include "fetch/wheel_metadata.h"

#include <map>
#include <sstream>
#include <system_error>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "fetch/requirement.h"
#include "storage/base/printable.h"
#include "storage/base/small_file.h"

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;

/// Returns the fields by their names in lower case. They have the form of e-mail headers, up to an
/// empty line, after which a description follows.
using Fields = std::multimap<std::string, std::string>;

Fields fields_in(fs::path const& file) {
  constexpr std::size_t most = std::size_t{1} << 20;
  Fields fields;
  auto const text = read_small_file(file, most);
  std::istringstream stream{text ? *text : ""};
  for (std::string line; std::getline(stream, line);) {
    boost::trim_right(line);
    if (line.empty()) break;
    auto const colon = line.find(':');
    if (colon == std::string::npos || line.front() == ' ' || line.front() == '\t') continue;
    fields.emplace(boost::to_lower_copy(line.substr(0, colon)),
                   boost::trim_copy(line.substr(colon + 1)));
  }
  return fields;
}

std::string first_of(Fields const& fields, std::string const& name) {
  auto const found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

/// True for the directory NAME-VERSION.dist-info of `package`, or of any package.
bool is_dist_info_of(std::string const& package, fs::path const& directory) {
  if (directory.extension() != ".dist-info") return false;
  auto const stem = directory.stem().string();
  return package.empty() || canonical_name(stem.substr(0, stem.find('-'))) == package;
}

}  // namespace

fs::path dist_info_in(fs::path const& directory, std::string const& package) {
  fs::path only;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator{directory, ignored}) {
    if (!is_dist_info_of(package, entry.path()) || !entry.is_directory(ignored)) continue;
    if (!only.empty()) return {};
    only = entry.path();
  }
  return only;
}

Result<WheelMetadata> wheel_metadata_of(fs::path const& directory, std::string const& package) {
  auto const bad = [](fs::path const& file, std::string const& why) {
    return Error{ErrorCode::corrupt, printable(file.string() + ": " + why)};
  };
  auto const info = dist_info_in(directory, package);
  if (info.empty()) return bad(directory, "does not have exactly one " + package + "*.dist-info");
  auto const fields = fields_in(info / "METADATA");
  WheelMetadata metadata;
  metadata.name = first_of(fields, "name");
  metadata.version = first_of(fields, "version");
  if (metadata.name.empty() || metadata.version.empty())
    return bad(info / "METADATA", "names no package and version");
  for (auto [at, end] = fields.equal_range("requires-dist"); at != end; ++at)
    metadata.needs.push_back(at->second);
  metadata.requires_python = first_of(fields, "requires-python");
  auto const wheel = fields_in(info / "WHEEL");
  for (auto [at, end] = wheel.equal_range("tag"); at != end; ++at)
    for (auto& tag : tags_in(at->second))
      metadata.tags.push_back(std::move(tag));
  auto const first = first_of(wheel, "tag");
  if (tags_in(first).empty()) return bad(info / "WHEEL", "found \"" + first + "\" for its tag");
  metadata.python = python_version_of(metadata.tags.front().python);
  metadata.platform = metadata.tags.front().platform;
  return metadata;
}

}  // namespace torchwatch::fetch
