#include "bisect/compare/baseline.h"

#include <algorithm>
#include <iterator>
#include <set>
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

/// True for two editions of one nightly, and for two builds of one commit of which only `nightly`
/// is published as a file. Two versions of one commit are two nightlies, but not worth a
/// comparison.
bool is_published_again(Nightly const& earlier, Nightly const& nightly) {
  return nightly.file && earlier.date == nightly.date &&
         (earlier.file ? earlier.version == nightly.version : earlier.commit == nightly.commit);
}

/// The nightlies that come before `nightly`.
std::span<Nightly const> before(Nightly const& nightly, std::vector<Nightly> const& nightlies) {
  auto const end = std::ranges::find_if(
      nightlies, [&](Nightly const& other) { return place_of(other) >= place_of(nightly); });
  return {nightlies.begin(), end};
}

bool has_verdict(std::vector<NightlyVerdict> const& verdicts, NightlyId nightly, Verdict verdict) {
  return std::ranges::any_of(verdicts, [&](NightlyVerdict const& one) {
    return one.nightly == nightly && one.change.comparison.verdict == verdict;
  });
}

/// True when a user accepted the level that series had at `nightly`. `is_about` is true for a
/// filter that matches these series.
template <class IsAbout>
bool is_accepted(Nightly const& nightly, std::vector<Ruling> const& rulings, IsAbout is_about) {
  return is_judged(nightly) && std::ranges::any_of(rulings, [&](Ruling const& ruling) {
           return ruling.kind == RulingKind::accept && !ruling.incident &&
                  nightly.announced_at <= ruling.given_at && is_about(ruling.series);
         });
}

bool is_accepted(Nightly const& nightly, BenchmarkHistory const& history) {
  auto const& [fleet, benchmark] = history.which;
  return is_accepted(nightly, history.rulings, [&](SeriesFilter const& about) {
    return (about.fleet.empty() || about.fleet == fleet) &&
           (!about.benchmark || *about.benchmark == benchmark);
  });
}

bool has_a_new_level(Nightly const& nightly, BenchmarkHistory const& history) {
  return has_verdict(history.verdicts, nightly.id, Verdict::regression) ||
         has_verdict(history.anchored, nightly.id, Verdict::improvement) ||
         is_accepted(nightly, history);
}

/// The number of nightlies on which a benchmark ran without a comparison of the series, after which
/// the series is lost.
constexpr int most_in_vain = 3;

/// The nightlies on which each benchmark reported any value.
using RanOn = std::map<FleetBenchmark, std::set<NightlyId>>;

RanOn ran_on(std::vector<SeriesNights> const& all) {
  RanOn ran;
  for (auto const& [series, nights] : all)
    for (auto const& night : nights)
      ran[{series.fleet, series.benchmark}].insert(night.nightly);
  return ran;
}

NightOfSeries const* night_of(NightlyId nightly, std::vector<NightOfSeries> const& nights) {
  auto const found = std::ranges::find(nights, nightly, &NightOfSeries::nightly);
  return found == nights.end() ? nullptr : &*found;
}

/// The nightlies that a series of `nightly` may be compared with, newest first.
std::vector<Nightly> judged_before(Nightly const& nightly, std::vector<Nightly> const& nightlies) {
  std::vector<Nightly> judged;
  auto const earlier = before(nightly, nightlies);
  std::copy_if(
      earlier.rbegin(), earlier.rend(), std::back_inserter(judged), [&](Nightly const& one) {
        return can_be_baseline(one, nightly);
      });
  return judged;
}

/// Returns the first of `earlier`, which is newest first, that judged the series. Returns nothing
/// when the series is lost.
std::optional<Nightly> last_that_judged(SeriesNights const& series,
                                        std::vector<Nightly> const& earlier,
                                        std::set<NightlyId> const& ran,
                                        std::vector<Ruling> const& rulings) {
  auto const is_about = [&](SeriesFilter const& about) {
    return about.matches(series.series);
  };
  int in_vain = 0;
  for (auto const& one : earlier) {
    auto const* const night = night_of(one.id, series.nights);
    if (night != nullptr && night->is_judged) return one;
    if (is_accepted(one, rulings, is_about))
      return night != nullptr ? std::optional{one} : std::nullopt;
    bool const is_undecided = night != nullptr && night->verdict == Verdict::inconclusive;
    if (ran.contains(one.id) && !is_undecided && ++in_vain == most_in_vain) break;
  }
  return std::nullopt;
}

}  // namespace

bool is_before(Nightly const& nightly, Nightly const& other) {
  return place_of(nightly) < place_of(other);
}

bool can_be_baseline(Nightly const& earlier, Nightly const& nightly) {
  return is_judged(earlier) && !is_published_again(earlier, nightly);
}

std::optional<Nightly> baseline_of(Nightly const& nightly, std::vector<Nightly> const& nightlies) {
  auto earlier = before(nightly, nightlies);
  while (!earlier.empty() && !can_be_baseline(earlier.back(), nightly))
    earlier = earlier.first(earlier.size() - 1);
  return earlier.empty() ? std::nullopt : std::optional{earlier.back()};
}

SeriesBaselines series_baselines(Nightly const& nightly,
                                 Nightly const& usual,
                                 std::vector<Nightly> const& nightlies,
                                 JudgedSeries const& history) {
  auto const earlier = judged_before(nightly, nightlies);
  auto const ran = ran_on(history.nights);
  SeriesBaselines baselines;
  for (auto const& one : history.nights) {
    if (one.nights.empty()) continue;
    auto const& series = one.series;
    auto const& its_ran = ran.at({series.fleet, series.benchmark});
    auto const last = last_that_judged(one, earlier, its_ran, history.rulings);
    if (!last)
      baselines.lost.push_back(series);
    else if (is_before(*last, usual))
      baselines.older[series] = last->id;
  }
  return baselines;
}

bool is_late(Nightly const& nightly, std::vector<Nightly> const& nightlies) {
  return std::ranges::any_of(nightlies, [&](Nightly const& other) {
    return is_judged(other) && place_of(other) > place_of(nightly);
  });
}

bool is_edition(Nightly const& nightly, std::vector<Nightly> const& nightlies) {
  return std::ranges::any_of(nightlies, [&](Nightly const& other) {
    bool const has_ended = is_judged(other) || other.state == NightlyState::failed;
    return has_ended && nightly.file && other.file && other.id < nightly.id &&
           other.date == nightly.date && other.version == nightly.version;
  });
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
