#include "fetch/requirement.h"

#include <algorithm>
#include <regex>
#include <vector>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>

namespace torchwatch::fetch {
namespace {

constexpr std::size_t longest_requirement = 2000;

std::set<std::string> extras_in(std::string const& list) {
  std::set<std::string> extras;
  std::vector<std::string> names;
  boost::split(names, list, [](char c) { return c == ','; });
  for (auto const& name : names)
    if (auto const plain = boost::trim_copy(name); !plain.empty())
      extras.insert(canonical_name(plain));
  return extras;
}

}  // namespace

std::string canonical_name(std::string_view name) {
  std::string plain;
  for (char const c : name) {
    bool const is_mark = c == '-' || c == '_' || c == '.';
    if (is_mark && plain.ends_with('-')) continue;
    plain += is_mark ? '-' : c;
  }
  return boost::to_lower_copy(plain);
}

Result<Requirement> parse_requirement(std::string_view text) {
  static std::regex const form{
      R"(\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*\(?([^()@]*)\)?\s*)"};
  auto const semicolon = text.find(';');
  auto const what = std::string{text.substr(0, semicolon)};
  std::smatch found;
  if (what.size() > longest_requirement || !std::regex_match(what, found, form))
    return Error{ErrorCode::invalid_argument,
                 "\"" + what.substr(0, 100) + "\" is no name of a package with its versions"};
  auto versions = VersionRange::parse(found[3].str());
  if (!versions) return versions.error();
  Requirement requirement;
  requirement.text = boost::trim_copy(what);
  requirement.name = canonical_name(found[1].str());
  requirement.extras = extras_in(found[2]);
  requirement.versions = std::move(*versions);
  if (semicolon != std::string_view::npos)
    requirement.marker = boost::trim_copy(std::string{text.substr(semicolon + 1)});
  return requirement;
}

}  // namespace torchwatch::fetch
