#include "daemon/proving.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "daemon/async/all.h"

namespace torchwatch {
namespace asio = boost::asio;

namespace {

/// What half of an effect is, as a threshold: a proof that only shows more than that is one.
double half_of(Effect const& effect) {
  double const ratio = effect.before > 0 && effect.after > 0
                           ? std::max(effect.after / effect.before, effect.before / effect.after)
                           : 2.0;
  return std::sqrt(ratio) - 1;
}

/// Series of one benchmark of one fleet: the same processes measure them.
struct Group {
  std::vector<Series> series;
  double threshold = 0;  ///< what counts as a change of any of them
};

std::vector<Group> by_benchmark(std::vector<Effect> const& effects, double threshold) {
  std::map<std::pair<std::string, Benchmark>, Group> groups;
  for (auto const& effect : effects) {
    auto const& [fleet, benchmark, metric] = effect.series;
    auto& group = groups.try_emplace({fleet, benchmark}, Group{{}, threshold}).first->second;
    group.series.push_back(effect.series);
    group.threshold = std::min(group.threshold, half_of(effect));
  }
  std::vector<Group> result;
  for (auto& [key, group] : groups)
    result.push_back(std::move(group));
  return result;
}

}  // namespace

asio::awaitable<std::vector<DuelResult>> Proving::prove(Bisection const& bisection,
                                                        Build before,
                                                        Build after,
                                                        Finding& finding) {
  auto const culprit = short_of(finding.suspects.front().sha);
  Duel duel{campaign_of(bisection.id) + "/proof/" + culprit, std::move(before), std::move(after)};
  co_return co_await compare(bisection, std::move(duel), finding, &Effect::proof);
}

asio::awaitable<Result<>> Proving::try_cure(Bisection const& bisection, Finding& finding) {
  auto const culprit = finding.suspects.front().sha;
  auto const end = bisection.request.end;
  if (culprit == end) {
    finding.no_cure = "it is the newest commit: its parent shows what a revert gives";
    co_return Result<>{};
  }
  auto const cured = co_await builder_.build_without(culprit, end);
  if (!cured) co_return cured.error();
  if (!cured->build) {
    finding.no_cure = cured->note;
    co_return Result<>{};
  }
  auto const sick = co_await builder_.build(end);
  if (!sick) co_return sick.error();
  Duel duel{campaign_of(bisection.id) + "/cure/" + short_of(culprit), *sick->build, *cured->build};
  co_await compare(bisection, std::move(duel), finding, &Effect::cure);
  co_return Result<>{};
}

/// Compares two builds on all series of a finding, the benchmarks side by side. What half of an
/// effect is, is a change.
asio::awaitable<std::vector<DuelResult>> Proving::compare(
    Bisection const& bisection,
    Duel duel,
    Finding& finding,
    std::optional<Comparison> Effect::*answer) {
  auto const groups = by_benchmark(finding.effects, bisection.request.threshold);
  std::vector<DuelResult> results(groups.size());
  std::vector<asio::awaitable<void>> tasks;
  for (std::size_t i = 0; i < groups.size(); ++i)
    tasks.push_back(decide(duel, groups[i].series, groups[i].threshold, results[i]));
  co_await run_all(std::move(tasks));
  std::map<Series, Comparison> answers;
  for (auto const& result : results)
    for (auto const& change : result.changes)
      answers[change.series] = change.comparison;
  for (auto& effect : finding.effects)
    effect.*answer = answers.at(effect.series);
  co_return results;
}

asio::awaitable<void> Proving::decide(Duel const& duel,
                                      std::vector<Series> const& series,
                                      double threshold,
                                      DuelResult& result) {
  auto& fleet = *fleets_.find(series.front().fleet);
  auto options = options_.decide;
  options.threshold = threshold;
  result = co_await compare_builds(measuring_, fleet, duel, series, options);
}

}  // namespace torchwatch
