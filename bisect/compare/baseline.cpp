#include "bisect/compare/baseline.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

namespace torchwatch::bisect {
namespace {

bool is_judged(Nightly const& nightly) {
  return nightly.state == NightlyState::bisected || nightly.state == NightlyState::done;
}

auto place_of(Nightly const& nightly) {
  return std::tie(nightly.date, nightly.id);
}

/// Whether both are editions of one nightly, or builds of one commit.
bool is_published_again(Nightly const& earlier, Nightly const& nightly) {
  return nightly.file && earlier.date == nightly.date &&
         (earlier.commit == nightly.commit || (earlier.file && earlier.version == nightly.version));
}

/// Those that come before `nightly`.
std::span<Nightly const> before(Nightly const& nightly, std::vector<Nightly> const& nightlies) {
  auto const end = std::ranges::find_if(
      nightlies, [&](Nightly const& other) { return place_of(other) >= place_of(nightly); });
  return {nightlies.begin(), end};
}

/// Nothing when it was compared with none, or with another build of its commit.
std::optional<ComparedNight> compared_night(Nightly const& nightly,
                                            std::vector<Nightly> const& nightlies) {
  auto const baseline = std::ranges::find_if(
      nightlies, [&](Nightly const& other) { return other.id == nightly.baseline; });
  if (baseline == nightlies.end() || baseline->commit == nightly.commit) return std::nullopt;
  return ComparedNight{nightly, *baseline};
}

bool has_verdict(std::vector<NightlyVerdict> const& verdicts, NightlyId nightly, Verdict verdict) {
  return std::ranges::any_of(verdicts, [&](NightlyVerdict const& one) {
    return one.nightly == nightly && one.change.comparison.verdict == verdict;
  });
}

/// Whether somebody accepted the level that the benchmark had by then.
bool is_accepted(Nightly const& nightly, BenchmarkHistory const& history) {
  auto const& [fleet, benchmark] = history.which;
  return is_judged(nightly) && std::ranges::any_of(history.rulings, [&](Ruling const& ruling) {
           auto const& about = ruling.series;
           return ruling.kind == RulingKind::accept && !ruling.incident &&
                  nightly.announced_at <= ruling.given_at &&
                  (about.fleet.empty() || about.fleet == fleet) &&
                  (!about.benchmark || *about.benchmark == benchmark);
         });
}

bool has_a_new_level(Nightly const& nightly, BenchmarkHistory const& history) {
  return has_verdict(history.verdicts, nightly.id, Verdict::regression) ||
         has_verdict(history.anchored, nightly.id, Verdict::improvement) ||
         is_accepted(nightly, history);
}

}  // namespace

bool is_before(Nightly const& nightly, Nightly const& other) {
  return place_of(nightly) < place_of(other);
}

std::optional<Nightly> baseline_of(Nightly const& nightly, std::vector<Nightly> const& nightlies) {
  auto earlier = before(nightly, nightlies);
  while (!earlier.empty() &&
         (!is_judged(earlier.back()) || is_published_again(earlier.back(), nightly)))
    earlier = earlier.first(earlier.size() - 1);
  return earlier.empty() ? std::nullopt : std::optional{earlier.back()};
}

bool is_late(Nightly const& nightly, std::vector<Nightly> const& nightlies) {
  return std::ranges::any_of(nightlies, [&](Nightly const& other) {
    return is_judged(other) && place_of(other) > place_of(nightly);
  });
}

std::vector<ComparedNight> compared_before(Nightly const& nightly,
                                           std::vector<Nightly> const& nightlies,
                                           std::size_t most) {
  std::vector<ComparedNight> swept;
  auto const earlier = before(nightly, nightlies);
  for (auto one = earlier.rbegin(); one != earlier.rend() && swept.size() < most; ++one) {
    if (!is_judged(*one) || nightly.id < one->id) continue;
    if (auto night = compared_night(*one, nightlies)) swept.push_back(std::move(*night));
  }
  return swept;
}

std::vector<Nightly> anchor_candidates(Nightly const& nightly,
                                       std::vector<Nightly> const& nightlies,
                                       BenchmarkHistory const& history) {
  auto const earlier = before(nightly, nightlies);
  auto first = earlier.size();
  while (first > 0 && (first == earlier.size() || !has_a_new_level(earlier[first], history)))
    --first;
  std::vector<Nightly> candidates;
  auto const can_be_one = [&](Nightly const& one) {
    return is_judged(one) && std::ranges::count(history.measured, one.id) > 0;
  };
  std::ranges::copy_if(earlier.subspan(first), std::back_inserter(candidates), can_be_one);
  return candidates;
}

}  // namespace torchwatch::bisect
