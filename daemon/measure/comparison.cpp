#include "daemon/measure/comparison.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include "daemon/measure/job.h"

namespace torchwatch::measure {
namespace asio = boost::asio;

namespace {

/// Rounds without an answer after which none is expected. One may be a stray.
constexpr int most_failures = 3;

/// One series while it is being decided.
struct Undecided {
  Undecided(Series one, bisect::Exactness past, config::DecideOptions const& options)
      : series{std::move(one)},
        compare{series.metric, options, past} {}

  Series series;
  bisect::Compare compare;
  std::optional<Comparison> decided;
  int failures = 0;  ///< rounds without levels of both

  void add(std::vector<JobOutcome> const& pair) {
    if (decided) return;
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

bisect::Exactness known_of(Series const& series, Past const& past) {
  auto const found = past.find(series);
  return found == past.end() ? bisect::Exactness{} : found->second;
}

}  // namespace

asio::awaitable<Result<ComparisonResult>> compare_builds(Rounds& rounds,
                                                         BuildPair const& builds,
                                                         std::span<Series const> series,
                                                         Past const& past,
                                                         config::DecideOptions const& decide) {
  std::vector<Undecided> all;
  for (auto const& one : series)
    all.emplace_back(one, known_of(one, past), decide);
  auto const is_open = [](Undecided const& one) {
    return !one.decided;
  };
  ComparisonResult result;
  for (int round = 0; std::ranges::any_of(all, is_open); ++round) {
    RoundKey key{builds.campaign, series.front().fleet, series.front().benchmark, round};
    std::vector<Build> both{builds.before, builds.after};
    auto const pair = co_await rounds.measure(std::move(key), std::move(both));
    if (!pair) co_return pair.error();
    result.failure = first_failure(*pair);
    for (auto& one : all)
      one.add(*pair);
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
