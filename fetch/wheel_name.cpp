#include "fetch/wheel_name.h"

#include <algorithm>
#include <array>

#include <boost/algorithm/string/split.hpp>

#include "fetch/requirement.h"
#include "storage/base/number.h"

namespace torchwatch::fetch {
namespace {

std::vector<std::string> words_of(std::string_view text, char mark) {
  std::vector<std::string> words;
  boost::split(words, text, [mark](char c) { return c == mark; });
  return words;
}

std::vector<WheelTag> product_of(std::string_view pythons,
                                 std::string_view abis,
                                 std::string_view platforms) {
  std::vector<WheelTag> tags;
  for (auto const& python : words_of(pythons, '.'))
    for (auto const& abi : words_of(abis, '.'))
      for (auto const& platform : words_of(platforms, '.'))
        tags.push_back({python, abi, platform});
  return tags;
}

/// Returns {2, "b"} for "2b". A build tag begins with a digit.
std::pair<int, std::string> build_in(std::string const& tag) {
  auto const end = std::min(tag.find_first_not_of("0123456789"), tag.size());
  return {parse_number<int>(std::string_view{tag}.substr(0, end)).value_or(0), tag.substr(end)};
}

/// Returns 12 for the start "cp3" of "cp312"; 0 for the start alone. Returns nothing for other
/// tags.
std::optional<int> minor_after(std::string_view start, std::string_view tag) {
  if (!tag.starts_with(start)) return std::nullopt;
  if (tag.size() == start.size()) return 0;
  return parse_number<int>(tag.substr(start.size()));
}

/// Returns the minor version of a tag of Python 3, "cp312" or "py3".
std::optional<int> python_minor_of(std::string_view tag) {
  auto const compiled = minor_after("cp3", tag);
  return compiled ? compiled : minor_after("py3", tag);
}

/// Returns the kind of ABI of a tag that fits: 3 for the target's own, 2 for the stable one, 1 for
/// none. The stable ABI has no free-threaded builds.
std::optional<int> abi_rank_of(WheelTag const& tag, WheelTarget const& target) {
  auto const minor = python_minor_of(tag.python);
  auto const newest = python_minor_of(target.python);
  bool const is_own = tag.python == target.python;
  if (is_own && tag.abi == target.abi) return 3;
  if (!minor || !newest || *minor > *newest) return std::nullopt;
  if (tag.abi == "abi3" && tag.python.starts_with("cp") && !target.abi.ends_with('t')) return 2;
  if (tag.abi == "none" && (is_own || tag.python.starts_with("py"))) return 1;
  return std::nullopt;
}

/// Returns the minor version of the glibc that a platform needs, 28 for "manylinux_2_28_x86_64".
/// Large for "linux_x86_64", which names none.
int glibc_of(std::string_view platform) {
  constexpr int unknown = 900;
  constexpr std::array<std::pair<std::string_view, int>, 3> names{
      {{"manylinux1_", 5}, {"manylinux2010_", 12}, {"manylinux2014_", 17}}};
  for (auto const& [start, minor] : names)
    if (platform.starts_with(start)) return minor;
  constexpr std::string_view start = "manylinux_2_";
  if (!platform.starts_with(start)) return unknown;
  auto const rest = platform.substr(start.size());
  return parse_number<int>(rest.substr(0, rest.find('_'))).value_or(unknown);
}

/// Returns the rank of a platform that fits: 0 for any, else larger for an older glibc.
std::optional<int> platform_rank_of(std::string_view platform, std::string const& machine) {
  constexpr int newest = 1000;
  if (platform == "any") return 0;
  bool const is_linux = platform.starts_with("manylinux") || platform.starts_with("linux_");
  if (!is_linux || !platform.ends_with("_" + machine)) return std::nullopt;
  return newest - glibc_of(platform);
}

std::optional<TagRank> rank_of_tag(WheelTag const& tag, WheelTarget const& target) {
  auto const platform = platform_rank_of(tag.platform, target.machine);
  if (!platform) return std::nullopt;
  if (target.python.empty()) return TagRank{};
  auto const abi = abi_rank_of(tag, target);
  if (!abi) return std::nullopt;
  return TagRank{*abi, python_minor_of(tag.python).value_or(0), *platform};
}

}  // namespace

std::vector<WheelTag> tags_in(std::string_view text) {
  auto const parts = words_of(text, '-');
  if (parts.size() != 3) return {};
  return product_of(parts[0], parts[1], parts[2]);
}

std::optional<WheelName> parse_wheel_name(std::string_view file_name) {
  constexpr std::string_view end = ".whl";
  constexpr std::size_t with_build = 6;
  if (!file_name.ends_with(end)) return std::nullopt;
  file_name.remove_suffix(end.size());
  auto const parts = words_of(file_name, '-');
  if (parts.size() != with_build - 1 && parts.size() != with_build) return std::nullopt;
  auto const version = Version::parse(parts[1]);
  if (!version) return std::nullopt;
  auto const tag = parts.end() - 3;
  WheelName wheel{canonical_name(parts[0]), *version, parts[1], {}, {}};
  if (parts.size() == with_build) wheel.build = build_in(parts[2]);
  wheel.tags = product_of(tag[0], tag[1], tag[2]);
  return wheel;
}

std::optional<TagRank> rank_of(std::vector<WheelTag> const& tags, WheelTarget const& target) {
  std::optional<TagRank> best;
  for (auto const& tag : tags) {
    auto const rank = rank_of_tag(tag, target);
    if (rank && (!best || *best < *rank)) best = rank;
  }
  return best;
}

bool is_compiled_for(std::vector<WheelTag> const& tags, WheelTarget const& target) {
  return std::ranges::any_of(tags, [&target](WheelTag const& tag) {
    return !target.python.empty() && tag.python == target.python && tag.abi == target.abi;
  });
}

std::string variant_of(std::vector<WheelTag> const& tags) {
  if (tags.empty() || !tags.front().python.starts_with("cp")) return {};
  auto const& [python, abi, platform] = tags.front();
  return abi == "none" || abi == "abi3" ? python : abi;
}

std::string python_version_of(std::string_view tag) {
  constexpr std::string_view start = "cp3";
  if (!tag.starts_with(start) || tag.size() == start.size()) return {};
  return "3." + std::string{tag.substr(start.size())};
}

}  // namespace torchwatch::fetch
