#include "fetch/offers.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <boost/algorithm/string/split.hpp>

#include "storage/base/number.h"

namespace torchwatch::fetch {
namespace {

/// {2, 10, 0} of "2.10.0.dev20251103+cpu".
std::vector<int> release_of(Package const& package) {
  std::vector<std::string> parts;
  boost::split(parts, package.version.substr(0, package.version.find(".dev")), [](char c) {
    return c == '.';
  });
  std::vector<int> numbers;
  for (auto const& part : parts)
    numbers.push_back(parse_number<int>(part).value_or(0));
  return numbers;
}

/// 10 of "cp310"; 0 of what is none of CPython 3.
int minor_of(std::string_view python) {
  constexpr std::string_view start = "cp3";
  return python.starts_with(start) ? parse_number<int>(python.substr(start.size())).value_or(0) : 0;
}

/// The larger, the better.
auto worth_of(Package const& package) {
  return std::tuple{package.abi == package.python, minor_of(package.python)};
}

bool is_wanted(Package const& package, PackageFilter const& filter) {
  auto const fits = [](std::string const& wanted, std::string const& found) {
    return wanted.empty() || wanted == found;
  };
  if (package.kind != filter.kind || !fits(filter.variant, package.variant)) return false;
  if (package.kind == PackageKind::libtorch) return true;
  return package.platform.ends_with(filter.machine) && fits(filter.python, package.python) &&
         fits(filter.abi, package.abi);
}

}  // namespace

std::vector<Offer> offers_in(std::vector<PageLink> const& links, PackageFilter const& filter) {
  using Key = std::tuple<std::string, std::vector<int>>;  // date and release
  std::map<Key, Offer> best;
  for (auto const& link : links) {
    auto const package = parse_package(link.name);
    if (!package || link.is_yanked || !is_wanted(*package, filter)) continue;
    Offer offer{*package, link.url, link.sha256};
    auto const [known, is_new] = best.try_emplace({package->date, release_of(*package)}, offer);
    if (!is_new && worth_of(known->second.package) < worth_of(*package)) known->second = offer;
  }
  std::vector<Offer> offers;
  for (auto& [key, offer] : best)
    offers.push_back(std::move(offer));
  return offers;
}

}  // namespace torchwatch::fetch
