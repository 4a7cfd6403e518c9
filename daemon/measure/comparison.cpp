#include "daemon/measure/comparison.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include "daemon/measure/job.h"

namespace torchwatch::measure {
namespace asio = boost::asio;

namespace {

/// The number of failed rounds after which no result is expected. A single one may be an outlier.
constexpr int most_failures = 3;

/// One series while it is being decided.
struct Undecided {
  Undecided(Series one, bisect::Exactness past, config::DecideOptions const& options)
      : series{std::move(one)},
        compare{series.metric, options, past} {}

  Series series;
  std::size_t before = 0;  ///< place of its baseline in a round; the last place is that after
  bisect::Compare compare;
  std::optional<Comparison> decided;
  int failures = 0;  ///< rounds without levels of both

  void add(std::vector<JobOutcome> const& round) {
    if (decided) return;
    std::array const pair{round.at(before), round.back()};
    auto const levels = levels_in(pair, series.metric);
    if (!levels) {
      if (++failures < most_failures) return;
      decided.emplace();  // inconclusive: one side cannot be measured
      decided->pairs = static_cast<int>(compare.pairs().size());
      return;
    }
    compare.add({levels->at(0), levels->at(1)});
    decided = compare.answer();
  }
};

std::string text_of(std::optional<RatioInterval> const& ratio) {
  if (!ratio) return "ratio=none";
  return fmt::format(
      "ratio={:.3f} interval=[{:.3f},{:.3f}]", ratio->ratio, ratio->low, ratio->high);
}

void log_answer(Campaign const& campaign, Undecided const& one) {
  spdlog::info("compared campaign={} series={} verdict={} {} pairs={}",
               campaign.name,
               name_of(one.series),
               to_string(one.decided->verdict),
               text_of(one.decided->ratio),
               one.decided->pairs);
}

std::string first_failure(std::vector<JobOutcome> const& outcomes) {
  auto const failed = std::ranges::find_if_not(outcomes, &JobOutcome::ok);
  return failed == outcomes.end() ? std::string{} : failure_of(*failed);
}

Build const& before_of(Series const& series, BuildPair const& builds) {
  auto const own = builds.own.find(series);
  return own == builds.own.end() ? builds.before : own->second;
}

/// Returns the index of the build that a series is compared with.
std::size_t place_of(Series const& series,
                     BuildPair const& builds,
                     std::vector<Build> const& measured) {
  auto const& commit = before_of(series, builds).manifest.commit;
  auto const found = std::ranges::find_if(
      measured, [&](Build const& build) { return build.manifest.commit == commit; });
  return static_cast<std::size_t>(std::distance(measured.begin(), found));
}

bisect::Exactness known_of(Series const& series, Past const& past) {
  auto const found = past.find(series);
  return found == past.end() ? bisect::Exactness{} : found->second;
}

}  // namespace

std::vector<Build> builds_for(std::span<Series const> series, BuildPair const& builds) {
  if (builds.own.empty()) return {builds.before, builds.after};
  std::vector<Build> measured;
  std::set<CommitSha> commits{builds.after.manifest.commit};
  for (auto const& one : series) {
    auto const& before = before_of(one, builds);
    if (commits.insert(before.manifest.commit).second) measured.push_back(before);
  }
  measured.push_back(builds.after);
  return measured;
}

asio::awaitable<Result<ComparisonResult>> compare_builds(Rounds& rounds,
                                                         BuildPair const& builds,
                                                         std::span<Series const> series,
                                                         Past const& past,
                                                         config::DecideOptions const& decide) {
  auto const measured = builds_for(series, builds);
  std::vector<Undecided> all;
  for (auto const& one : series) {
    all.emplace_back(one, known_of(one, past), decide);
    all.back().before = place_of(one, builds, measured);
  }
  auto const is_open = [](Undecided const& one) {
    return !one.decided;
  };
  ComparisonResult result;
  for (int round = 0; std::ranges::any_of(all, is_open); ++round) {
    RoundKey key{builds.campaign, series.front().fleet, series.front().benchmark, round};
    auto of_round = measured;
    auto const outcomes = co_await rounds.measure(std::move(key), std::move(of_round));
    if (!outcomes) co_return outcomes.error();
    result.failure = first_failure(*outcomes);
    for (auto& one : all)
      one.add(*outcomes);
  }
  for (auto const& one : all) {
    log_answer(builds.campaign, one);
    result.changes.push_back({one.series, *one.decided});
    result.pairs.push_back(one.compare.pairs());
  }
  co_return result;
}

std::vector<SeriesGroup> by_benchmark(std::span<Series const> series) {
  std::vector<SeriesGroup> groups;
  for (auto const& one : series) {
    bool const is_same = !groups.empty() && groups.back().front().fleet == one.fleet &&
                         groups.back().front().benchmark == one.benchmark;
    if (!is_same) groups.emplace_back();
    groups.back().push_back(one);
  }
  return groups;
}

}  // namespace torchwatch::measure
