#include "fetch/package.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <locale>
#include <vector>

#include <boost/algorithm/string/split.hpp>

#include "storage/base/number.h"

namespace torchwatch::fetch {
namespace {

/// True when the name has only letters, digits and the marks of versions and tags.
bool is_plain(std::string_view file_name) {
  constexpr std::string_view marks = "._+!-";
  return std::ranges::all_of(file_name, [marks](char c) {
    return std::isalnum(c, std::locale::classic()) || marks.find(c) != std::string_view::npos;
  });
}

/// Returns the text between `start` and `end`. Returns nothing when `text` does not begin and end
/// with them.
std::optional<std::string_view> between(std::string_view start,
                                        std::string_view text,
                                        std::string_view end) {
  if (text.size() < start.size() + end.size() || !text.starts_with(start) || !text.ends_with(end))
    return std::nullopt;
  return text.substr(start.size(), text.size() - start.size() - end.size());
}

/// Returns "2025-09-02" for "20250902". Returns nothing when there is no such day.
std::optional<std::string> to_date(std::string_view digits) {
  if (digits.size() != 8) return std::nullopt;
  auto const year = parse_number<unsigned>(digits.substr(0, 4));
  auto const month = parse_number<unsigned>(digits.substr(4, 2));
  auto const day = parse_number<unsigned>(digits.substr(6, 2));
  if (!year || !month || !day) return std::nullopt;
  std::chrono::year_month_day const date{std::chrono::year{static_cast<int>(*year)},
                                         std::chrono::month{*month},
                                         std::chrono::day{*day}};
  if (!date.ok()) return std::nullopt;
  std::string text{digits};
  return text.insert(6, "-").insert(4, "-");
}

/// Parses a version such as "2.9.0.dev20250902+cu126" (PEP 440). Returns nothing when it is not the
/// version of a nightly.
std::optional<Package> parse_version(PackageKind kind, std::string_view version) {
  constexpr std::string_view mark = ".dev";
  auto const plus = version.find('+');
  auto const release = version.substr(0, plus);
  auto const dev = release.find(mark);
  if (dev == std::string_view::npos || dev == 0) return std::nullopt;
  auto const date = to_date(release.substr(dev + mark.size()));
  if (!date) return std::nullopt;
  Package package;
  package.kind = kind;
  package.version = version;
  package.date = *date;
  if (plus != std::string_view::npos) package.variant = version.substr(plus + 1);
  return package;
}

/// Parses torch-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl.
std::optional<Package> parse_wheel(std::string_view file_name) {
  auto const inside = between("torch-", file_name, ".whl");
  if (!inside) return std::nullopt;
  std::vector<std::string> parts;
  boost::split(parts, *inside, [](char c) { return c == '-'; });
  if (parts.size() != 4 && parts.size() != 5) return std::nullopt;
  auto package = parse_version(PackageKind::wheel, parts.front());
  if (!package) return std::nullopt;
  auto tag = parts.end();
  package->platform = *--tag;
  package->abi = *--tag;
  package->python = *--tag;
  return package;
}

std::optional<Package> parse_libtorch(std::string_view file_name) {
  // The first name since LibTorch has one ABI, the second from the time when it had two.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> starts{
      {{"libtorch-shared-with-deps-", ""}, {"libtorch-cxx11-abi-shared-with-deps-", "cxx11-abi"}}};
  for (auto const& [start, abi] : starts) {
    auto const version = between(start, file_name, ".zip");
    if (!version) continue;
    auto package = parse_version(PackageKind::libtorch, *version);
    if (package) package->abi = abi;
    return package;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Package> parse_package(std::string_view file_name) {
  if (!is_plain(file_name)) return std::nullopt;
  auto package = parse_wheel(file_name);
  return package ? package : parse_libtorch(file_name);
}

}  // namespace torchwatch::fetch
