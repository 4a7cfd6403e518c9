#include "daemon/comparing.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

namespace torchwatch {
namespace asio = boost::asio;

namespace {

/// One series of the duel while it is being decided.
struct Contest {
  Contest(Series one, config::DecideOptions const& options)
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

void tell(std::string const& campaign, Contest const& contest) {
  auto const& comparison = *contest.decided;
  auto const ratio = comparison.ratio.value_or(RatioInterval{0, 0, 0});
  spdlog::info(
      "compared campaign={} series={} verdict={} ratio={:.3f} interval=[{:.3f},{:.3f}] pairs={}",
      campaign,
      name_of(contest.series),
      to_string(comparison.verdict),
      ratio.ratio,
      ratio.low,
      ratio.high,
      comparison.pairs);
}

}  // namespace

asio::awaitable<DuelResult> compare_builds(Measuring& measuring,
                                           Fleet& fleet,
                                           Duel const& duel,
                                           std::span<Series const> series,
                                           config::DecideOptions const& decide) {
  std::vector<Contest> contests;
  for (auto const& one : series)
    contests.emplace_back(one, decide);
  auto const is_open = [](Contest const& contest) {
    return !contest.decided;
  };
  for (int round = 0; std::any_of(contests.begin(), contests.end(), is_open); ++round) {
    auto lease = co_await fleet.lease();  // for one round: others wait for it too
    RoundKey key{duel.campaign, series.front().benchmark, round};
    std::vector<Build> builds{duel.before, duel.after};
    auto const pair = co_await measuring.round(lease, std::move(key), std::move(builds));
    for (auto& contest : contests)
      contest.add(pair);
  }
  DuelResult result;
  for (auto& contest : contests) {
    tell(duel.campaign, contest);
    result.changes.push_back({contest.series, *contest.decided});
    result.pairs.push_back(contest.compare.pairs());
  }
  co_return result;
}

}  // namespace torchwatch
