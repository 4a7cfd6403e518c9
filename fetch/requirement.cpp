#include "fetch/requirement.h"

#include <optional>
#include <vector>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "storage/base/printable.h"

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

/// The parts of 'name[extras](versions)', as written.
struct Pieces {
  std::string name;
  std::string extras;
  std::string versions;
};

std::optional<Pieces> pieces_of(std::string text) {
  constexpr std::string_view ends =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  static auto const inside = std::string{ends} + "._-";
  Pieces pieces;
  pieces.name = text.substr(0, text.find_first_not_of(inside));
  if (pieces.name.empty() || ends.find(pieces.name.front()) == std::string_view::npos ||
      ends.find(pieces.name.back()) == std::string_view::npos)
    return std::nullopt;
  text = boost::trim_left_copy(text.substr(pieces.name.size()));
  if (text.starts_with('[')) {
    auto const end = text.find(']');
    if (end == std::string::npos) return std::nullopt;
    pieces.extras = text.substr(1, end - 1);
    text = boost::trim_left_copy(text.substr(end + 1));
  }
  bool const is_bracketed = text.size() > 1 && text.front() == '(' && text.back() == ')';
  pieces.versions = is_bracketed ? text.substr(1, text.size() - 2) : text;
  if (pieces.versions.find_first_of("()@") != std::string::npos) return std::nullopt;
  return pieces;
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
  auto const semicolon = text.find(';');
  auto const what = boost::trim_copy(std::string{text.substr(0, semicolon)});
  auto const pieces = what.size() <= longest_requirement ? pieces_of(what) : std::nullopt;
  if (!pieces)
    return Error{ErrorCode::invalid_argument,
                 "\"" + printable(what, 100) + "\" is not the name of a package with versions"};
  auto versions = VersionRange::parse(pieces->versions);
  if (!versions) return versions.error();
  Requirement requirement;
  requirement.text = what;
  requirement.name = canonical_name(pieces->name);
  requirement.extras = extras_in(pieces->extras);
  requirement.versions = std::move(*versions);
  if (semicolon != std::string_view::npos)
    requirement.marker = boost::trim_copy(std::string{text.substr(semicolon + 1)});
  return requirement;
}

}  // namespace torchwatch::fetch
