#include "fetch/version.h"

#include <algorithm>
#include <array>
#include <limits>
#include <regex>
#include <tuple>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "storage/base/number.h"
#include "storage/base/printable.h"

namespace torchwatch::fetch {
namespace {

constexpr std::size_t longest_version = 200;

/// The regular expression of PEP 440, appendix B, without names of groups.
std::regex const& form() {
  static std::regex const form{R"(v?(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*))"
                               R"((?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?([0-9]*))?)"
                               R"((?:-([0-9]+)|[-_.]?(post|rev|r)[-_.]?([0-9]*))?)"
                               R"(([-_.]?dev[-_.]?([0-9]*))?)"
                               R"((?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?)"};
  return form;
}

/// Returns a number of the version, which may be left out.
std::optional<int> number_of(std::string const& digits) {
  if (digits.empty()) return 0;
  auto const number = parse_number<int>(digits);
  return number == std::numeric_limits<int>::max() ? std::nullopt : number;
}

std::vector<std::string> parts_of(std::string const& text, std::string const& marks) {
  std::vector<std::string> parts;
  boost::split(parts, text, [&](char c) { return marks.find(c) != std::string::npos; });
  return parts;
}

int phase_named(std::string const& name) {
  if (name.empty()) return 3;
  if (name.front() == 'a') return 0;
  return name.front() == 'b' ? 1 : 2;
}

}  // namespace

std::vector<Version::LocalPart> Version::local_parts_in(std::string const& text) {
  std::vector<LocalPart> parts;
  if (text.empty()) return parts;
  for (auto const& part : parts_of(text, "-_.")) {
    auto const number = parse_number<int>(part);
    parts.push_back(number ? LocalPart{*number, ""} : LocalPart{-1, part});
  }
  return parts;
}

std::optional<Version> Version::parse(std::string_view text) {
  auto const plain = boost::to_lower_copy(std::string{text});
  std::smatch found;
  if (plain.size() > longest_version || !std::regex_match(plain, found, form()))
    return std::nullopt;
  Version version;
  bool is_sound = true;
  auto const number = [&](std::size_t group) {
    auto const value = number_of(found[group]);
    is_sound = is_sound && value.has_value();
    return value.value_or(0);
  };
  version.epoch_ = number(1);
  for (auto const& part : parts_of(found[2], ".")) {
    auto const value = number_of(part);
    is_sound = is_sound && value.has_value();
    version.release_.push_back(value.value_or(0));
  }
  version.phase_ = {phase_named(found[3]), number(4)};
  if (found[5].matched) version.post_ = number(5);
  if (found[6].matched) version.post_ = number(7);
  if (found[8].matched) version.dev_ = number(9);
  version.local_ = local_parts_in(found[10]);
  if (!is_sound) return std::nullopt;
  return version;
}

Version Version::without_local() const {
  auto version = *this;
  version.local_.clear();
  return version;
}

bool Version::starts_with(Version const& start) const {
  auto numbers = release_;
  if (numbers.size() < start.release_.size()) numbers.resize(start.release_.size());
  return epoch_ == start.epoch_ &&
         std::equal(start.release_.begin(), start.release_.end(), numbers.begin());
}

bool Version::is_of_release(Version const& other) const {
  return epoch_ == other.epoch_ && trimmed_release() == other.trimmed_release();
}

Version Version::without_last_number() const {
  Version version;
  version.epoch_ = epoch_;
  version.release_ = release_;
  if (version.release_.size() > 1) version.release_.pop_back();
  return version;
}

std::vector<int> Version::trimmed_release() const {
  auto numbers = release_;
  while (numbers.size() > 1 && numbers.back() == 0)
    numbers.pop_back();
  return numbers;
}

std::strong_ordering operator<=>(Version const& one, Version const& other) {
  auto const key = [](Version const& version) {
    // A development release comes before an alpha. After a post-release, only its number counts.
    bool const is_before_all = version.phase_.first == Version::final_phase &&
                               !version.is_postrelease() && version.dev_ != Version::no_dev;
    auto const phase = is_before_all ? std::pair{-1, 0} : version.phase_;
    return std::tuple{version.epoch_,
                      version.trimmed_release(),
                      phase,
                      version.post_,
                      version.dev_,
                      version.local_};
  };
  return key(one) <=> key(other);
}

bool operator==(Version const& one, Version const& other) {
  return (one <=> other) == std::strong_ordering::equal;
}

Result<VersionRange::Clause> VersionRange::clause_in(std::string_view text) {
  constexpr std::array<std::string_view, 8> comparisons{
      "===", "~=", "==", "!=", "<=", ">=", "<", ">"};
  auto const clause = boost::trim_copy(std::string{text});
  auto const* const comparison = std::ranges::find_if(
      comparisons, [&](std::string_view sign) { return clause.starts_with(sign); });
  Error bad{ErrorCode::invalid_argument,
            "\"" + printable(clause, 100) + "\" is not a range of versions"};
  if (comparison == comparisons.end()) return bad;
  auto rest = boost::trim_copy(clause.substr(comparison->size()));
  bool const is_equality = *comparison == "==" || *comparison == "!=";
  bool const is_prefix = is_equality && rest.ends_with(".*");
  if (is_prefix) rest.resize(rest.size() - 2);
  auto const version = Version::parse(rest);
  if (!version) return bad;
  bool const may_be_local = *comparison == "===" || (is_equality && !is_prefix);
  if (version->is_local() && !may_be_local) return bad;
  return Clause{*comparison == "===" ? "==" : std::string{*comparison}, *version, is_prefix};
}

Result<VersionRange> VersionRange::parse(std::string_view text) {
  VersionRange range;
  if (boost::trim_copy(std::string{text}).empty()) return range;
  for (auto const& part : parts_of(std::string{text}, ",")) {
    auto clause = clause_in(part);
    if (!clause) return clause.error();
    range.clauses_.push_back(std::move(*clause));
  }
  return range;
}

bool VersionRange::holds(Version const& version) const {
  return std::ranges::all_of(clauses_,
                             [&](Clause const& clause) { return is_in(version, clause); });
}

bool VersionRange::is_in(Version const& version, Clause const& clause) {
  auto const& [comparison, limit, is_prefix] = clause;
  auto const plain = version.without_local();
  auto const is_equal = [&] {
    if (is_prefix) return version.starts_with(limit);
    return (limit.is_local() ? version : plain) == limit;
  };
  if (comparison == "==") return is_equal();
  if (comparison == "!=") return !is_equal();
  if (comparison == "<=") return plain <= limit;
  if (comparison == ">=") return plain >= limit;
  if (comparison == "~=") return plain >= limit && version.starts_with(limit.without_last_number());
  bool const is_beside = version.is_of_release(limit);
  if (comparison == "<")
    return plain < limit && (!is_beside || !version.is_prerelease() || limit.is_prerelease());
  return plain > limit && (!is_beside || !version.is_postrelease() || limit.is_postrelease());
}

}  // namespace torchwatch::fetch
