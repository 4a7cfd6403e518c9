#include "fetch/offers.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/split.hpp>

#include "storage/base/number.h"

namespace torchwatch::fetch {
namespace {

/// Returns the release numbers: {2, 10, 0} for "2.10.0.dev20251103+cpu".
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

/// Returns the minor version of CPython 3: 10 for "cp310". Returns 0 for other tags.
int minor_of(std::string_view python) {
  constexpr std::string_view start = "cp3";
  return python.starts_with(start) ? parse_number<int>(python.substr(start.size())).value_or(0) : 0;
}

/// The order of offers: date, release, worth_of(), Python and ABI.
using Place =
    std::tuple<std::string, std::vector<int>, std::tuple<bool, int>, std::string, std::string>;

Place place_of(Package const& package) {
  return {package.date, release_of(package), worth_of(package), package.python, package.abi};
}

/// One part of a filter, and the value of a package for it.
struct Criterion {
  std::string name;
  std::string wanted;  ///< empty: any value
  std::string found;

  bool is_met() const { return wanted.empty() || wanted == found; }
};

/// Returns the criteria, in the order in which a user checks them.
std::vector<Criterion> criteria_for(Package const& package, PackageFilter const& filter) {
  std::vector<Criterion> criteria{{"channel", filter.variant, package.variant}};
  if (package.kind == PackageKind::libtorch) return criteria;
  bool const is_for_machine = package.platform.ends_with(filter.machine);
  criteria.push_back(
      {"machine", filter.machine, is_for_machine ? filter.machine : package.platform});
  criteria.push_back({"python", filter.python, package.python});
  criteria.push_back({"abi", filter.abi, package.abi});
  return criteria;
}

bool is_wanted(Package const& package, PackageFilter const& filter) {
  return package.kind == filter.kind &&
         std::ranges::all_of(criteria_for(package, filter), &Criterion::is_met);
}

/// A part of a filter that no package matches, with the values of the packages.
struct Miss {
  Criterion criterion;
  std::set<std::string> found;
};

std::string text_of(Miss const& miss) {
  auto text = miss.criterion.name + " is \"" + miss.criterion.wanted + "\", found: ";
  std::string separator;
  for (auto const& found : miss.found) {
    text += separator + (found.empty() ? "none" : found);
    separator = ", ";
  }
  return text;
}

}  // namespace

std::tuple<bool, int> worth_of(Package const& package) {
  return {package.abi == package.python, minor_of(package.python)};
}

std::vector<Offer> offers_in(std::vector<PageLink> const& links, PackageFilter const& filter) {
  std::map<Place, Offer> by_place;
  for (auto const& link : links) {
    auto const package = parse_package(link.name);
    if (!package || link.is_yanked || !is_wanted(*package, filter)) continue;
    by_place.try_emplace(place_of(*package), Offer{*package, link.url, link.sha256});
  }
  std::vector<Offer> offers;
  for (auto& [place, offer] : by_place)
    offers.push_back(std::move(offer));
  return offers;
}

std::string why_none_fits(std::vector<PageLink> const& links, PackageFilter const& filter) {
  std::map<std::ptrdiff_t, Miss> misses;  // by how many criteria are met before
  for (auto const& link : links) {
    auto const package = parse_package(link.name);
    if (!package || link.is_yanked || package->kind != filter.kind) continue;
    auto const criteria = criteria_for(*package, filter);
    auto const missed = std::ranges::find_if_not(criteria, &Criterion::is_met);
    if (missed == criteria.end()) return {};
    auto& miss = misses[missed - criteria.begin()];
    miss.criterion = *missed;
    miss.found.insert(missed->found);
  }
  return misses.empty() ? std::string{} : text_of(misses.rbegin()->second);
}

std::string newer_for_other_pythons(std::vector<PageLink> const& links,
                                    PackageFilter const& filter) {
  auto any = filter;
  any.python.clear();
  any.abi.clear();
  std::string newest_that_fits;
  std::map<std::string, std::set<std::string>> pythons;  // by date
  for (auto const& link : links) {
    auto const package = parse_package(link.name);
    if (!package || link.is_yanked || !is_wanted(*package, any)) continue;
    pythons[package->date].insert(package->python);
    if (is_wanted(*package, filter)) newest_that_fits = std::max(newest_that_fits, package->date);
  }
  if (pythons.empty() || pythons.rbegin()->first <= newest_that_fits) return {};
  return boost::join(pythons.rbegin()->second, ", ");
}

}  // namespace torchwatch::fetch
