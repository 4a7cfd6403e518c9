#include "fetch/wheel_metadata.h"

#include <map>
#include <sstream>
#include <system_error>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>

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

/// Returns "3.12" for "cp312". Empty for the tags of any Python.
std::string python_of(std::string const& tag) {
  if (!tag.starts_with("cp3") || tag.size() < 4) return {};
  return "3." + tag.substr(3);
}

}  // namespace

fs::path dist_info_in(fs::path const& directory) {
  fs::path only;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator{directory, ignored}) {
    if (entry.path().extension() != ".dist-info" || !entry.is_directory(ignored)) continue;
    if (!only.empty()) return {};
    only = entry.path();
  }
  return only;
}

Result<WheelMetadata> wheel_metadata_of(fs::path const& directory) {
  auto const bad = [](fs::path const& file, std::string const& why) {
    return Error{ErrorCode::corrupt, printable(file.string() + ": " + why)};
  };
  auto const info = dist_info_in(directory);
  if (info.empty()) return bad(directory, "does not have exactly one *.dist-info");
  auto const fields = fields_in(info / "METADATA");
  WheelMetadata metadata;
  metadata.name = first_of(fields, "name");
  metadata.version = first_of(fields, "version");
  if (metadata.name.empty() || metadata.version.empty())
    return bad(info / "METADATA", "names no package and version");
  for (auto [at, end] = fields.equal_range("requires-dist"); at != end; ++at)
    metadata.needs.push_back(at->second);
  std::vector<std::string> tags;
  auto const tag = first_of(fields_in(info / "WHEEL"), "tag");
  boost::split(tags, tag, [](char c) { return c == '-'; });
  if (tags.size() != 3) return bad(info / "WHEEL", "found \"" + tag + "\" for its tag");
  metadata.python = python_of(tags.front());
  metadata.platform = tags.back();
  return metadata;
}

}  // namespace torchwatch::fetch
