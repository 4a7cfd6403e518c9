#include "daemon/feed/wheel_choice.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <tuple>

namespace torchwatch::feed {
namespace {

using Version = std::span<fetch::Offer const>;

constexpr std::size_t newest_versions = 7;

std::string release_of(fetch::Offer const& offer) {
  return offer.package.version.substr(0, offer.package.version.find('+'));
}

/// Returns the offers of each version, oldest first.
std::vector<Version> versions_in(std::vector<fetch::Offer> const& offers) {
  std::vector<Version> versions;
  for (auto begin = offers.begin(); begin != offers.end();) {
    auto const end = std::find_if(begin, offers.end(), [&](fetch::Offer const& other) {
      return release_of(other) != release_of(*begin);
    });
    versions.emplace_back(begin, end);
    begin = end;
  }
  return versions;
}

std::span<Version const> newest_week(std::vector<Version> const& versions) {
  return std::span{versions}.last(std::min(versions.size(), newest_versions));
}

bool is_for(fetch::Offer const& offer, Interpreter const& interpreter) {
  return offer.package.python == interpreter.python && offer.package.abi == interpreter.abi;
}

}  // namespace

Interpreter interpreter_to_follow(std::vector<fetch::Offer> const& offers) {
  auto versions = versions_in(offers);
  if (versions.size() > 1) versions.pop_back();
  auto const recent = newest_week(versions);
  std::map<std::tuple<std::tuple<bool, int>, std::string, std::string>, std::size_t> counts;
  for (auto const& version : recent)
    for (auto const& [package, url, sha256] : version)
      ++counts[{fetch::worth_of(package), package.python, package.abi}];
  auto chosen = std::find_if(counts.rbegin(), counts.rend(), [&](auto const& count) {
    return count.second * 2 > recent.size();
  });
  if (chosen == counts.rend()) chosen = counts.rbegin();
  auto const& [worth, python, abi] = chosen->first;
  return {python, abi};
}

bool is_offered(Interpreter const& interpreter, std::vector<fetch::Offer> const& offers) {
  auto const versions = versions_in(offers);
  return std::ranges::any_of(newest_week(versions), [&](Version const& version) {
    return std::ranges::any_of(
        version, [&](fetch::Offer const& offer) { return is_for(offer, interpreter); });
  });
}

WheelChoice choose_wheels(std::vector<fetch::Offer> const& offers, Interpreter const& followed) {
  WheelChoice choice;
  for (auto const& version : versions_in(offers)) {
    auto const wheel = std::ranges::find_if(
        version, [&](fetch::Offer const& offer) { return is_for(offer, followed); });
    if (wheel != version.end())
      choice.followed.push_back(*wheel);
    else
      choice.others.push_back(version.back());
  }
  return choice;
}

}  // namespace torchwatch::feed
