#include "daemon/comparing.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

namespace torchwatch {
namespace asio = boost::asio;

namespace {

/// One series of the comparison while it is being decided.
struct SeriesComparison {
  SeriesComparison(Series one, config::DecideOptions const& options)
      : series{std::move(one)},
        compare{series.metric, options} {}

  Series series;
  bisect::Compare compare;
  std::optional<Comparison> decided;

  void add(std::vector<JobOutcome> const& pair) {
    if (decided) return;
    auto const levels = levels_in(pair, series.metric);
    if (!levels) {
      decided.emplace();  // inconclusive: one side cannot be measured
      decided->pairs = static_cast<int>(compare.pairs().size());
      return;
    }
    compare.add({levels->at(0), levels->at(1)});
    decided = compare.answer();
  }
};

void tell(std::string const& campaign, SeriesComparison const& series_comparison) {
  auto const& comparison = *series_comparison.decided;
  auto const ratio = comparison.ratio.value_or(RatioInterval{0, 0, 0});
  spdlog::info(
      "compared campaign={} series={} verdict={} ratio={:.3f} interval=[{:.3f},{:.3f}] pairs={}",
      campaign,
      name_of(series_comparison.series),
      to_string(comparison.verdict),
      ratio.ratio,
      ratio.low,
      ratio.high,
      comparison.pairs);
}

}  // namespace

asio::awaitable<BuildComparisonResult> compare_builds(Measuring& measuring,
                                                      Fleet& fleet,
                                                      BuildComparison const& comparison,
                                                      std::span<Series const> series,
                                                      config::DecideOptions const& decide) {
  std::vector<SeriesComparison> series_comparisons;
  for (auto const& one : series)
    series_comparisons.emplace_back(one, decide);
  auto const is_open = [](SeriesComparison const& series_comparison) {
    return !series_comparison.decided;
  };
  for (int round = 0; std::any_of(series_comparisons.begin(), series_comparisons.end(), is_open);
       ++round) {
    auto lease = co_await fleet.lease();  // for one round: others wait for it too
    RoundKey key{comparison.campaign, series.front().benchmark, round};
    std::vector<Build> builds{comparison.before, comparison.after};
    auto const pair = co_await measuring.round(lease, std::move(key), std::move(builds));
    for (auto& series_comparison : series_comparisons)
      series_comparison.add(pair);
  }
  BuildComparisonResult result;
  for (auto& series_comparison : series_comparisons) {
    tell(comparison.campaign, series_comparison);
    result.changes.push_back({series_comparison.series, *series_comparison.decided});
    result.pairs.push_back(series_comparison.compare.pairs());
  }
  co_return result;
}

}  // namespace torchwatch
