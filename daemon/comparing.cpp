#include "daemon/comparing.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

namespace torchwatch {
namespace asio = boost::asio;

namespace {

/// Both outcomes of one round, in the order that balances drift: A B, then B A.
asio::awaitable<std::pair<JobOutcome, JobOutcome>> measure_pair(
    Measuring& measuring, Lease& lease, Duel const& duel, Series const& series, int round) {
  JobKey const before{
      duel.campaign, series.fleet, series.benchmark, duel.before.manifest.commit, round};
  JobKey const after{
      duel.campaign, series.fleet, series.benchmark, duel.after.manifest.commit, round};
  if (round % 2 == 0) {
    auto first = co_await measuring.outcome(lease, before, duel.before);
    auto second = co_await measuring.outcome(lease, after, duel.after);
    co_return std::pair{std::move(first), std::move(second)};
  }
  auto second = co_await measuring.outcome(lease, after, duel.after);
  auto first = co_await measuring.outcome(lease, before, duel.before);
  co_return std::pair{std::move(first), std::move(second)};
}

/// One series of the duel while it is being decided.
struct Contest {
  Series series;
  std::vector<bisect::Pair> pairs;
  std::optional<Comparison> decided;

  void add(JobOutcome const& before, JobOutcome const& after, config::DecideOptions const& decide) {
    if (decided) return;
    auto const a = before.values.find(series.metric);
    auto const b = after.values.find(series.metric);
    if (a == before.values.end() || b == after.values.end()) {
      decided.emplace();  // inconclusive: one side cannot be measured
      decided->pairs = static_cast<int>(pairs.size());
      return;
    }
    pairs.push_back({a->second.value, b->second.value});
    decided = bisect::compare(pairs, series.metric, decide);
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
    contests.push_back({one, {}, std::nullopt});
  auto lease = co_await fleet.lease();
  auto const is_open = [](Contest const& contest) {
    return !contest.decided;
  };
  for (int round = 0; std::any_of(contests.begin(), contests.end(), is_open); ++round) {
    auto const [before, after] =
        co_await measure_pair(measuring, lease, duel, series.front(), round);
    for (auto& contest : contests)
      contest.add(before, after, decide);
  }
  DuelResult result;
  for (auto& contest : contests) {
    tell(duel.campaign, contest);
    result.changes.push_back({contest.series, *contest.decided});
    result.pairs.push_back(std::move(contest.pairs));
  }
  co_return result;
}

}  // namespace torchwatch
