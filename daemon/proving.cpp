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

}  // namespace

std::vector<Proving::Group> Proving::by_benchmark(std::vector<Question> const& questions) {
  std::map<std::pair<std::string, Benchmark>, Group> groups;
  for (auto const& [series, threshold] : questions) {
    auto& group =
        groups.try_emplace({series.fleet, series.benchmark}, Group{{}, threshold}).first->second;
    group.series.push_back(series);
    group.threshold = std::min(group.threshold, threshold);
  }
  std::vector<Group> result;
  for (auto& [key, group] : groups)
    result.push_back(std::move(group));
  return result;
}

asio::awaitable<std::vector<DuelResult>> Proving::prove(Bisection const& bisection,
                                                        Build before,
                                                        Build after,
                                                        Finding& finding) {
  auto const culprit = short_of(finding.suspects.front().sha);
  Duel duel{campaign_of(bisection.id, bisection.recipe) + "/proof/" + culprit,
            std::move(before),
            std::move(after)};
  co_return co_await compare(bisection, std::move(duel), finding, &Effect::proof);
}

asio::awaitable<Result<>> Proving::try_cure(Bisection const& bisection, Finding& finding) {
  auto const culprit = finding.suspects.front().sha;
  auto const end = bisection.request.end;
  if (culprit == end) {
    finding.no_cure = "it is the newest commit: its parent shows what a revert gives";
    co_return Result<>{};
  }
  auto const cured = co_await builder_.build_without(culprit, end, bisection.recipe);
  if (!cured) co_return cured.error();
  if (!cured->build) {
    finding.no_cure = cured->note;
    co_return Result<>{};
  }
  auto const sick = co_await builder_.build(end, bisection.recipe, Builder::From::source);
  if (!sick) co_return sick.error();
  if (!sick->build) {
    finding.no_cure = sick->note;
    co_return Result<>{};
  }
  Duel duel{campaign_of(bisection.id, bisection.recipe) + "/cure/" + short_of(culprit),
            *sick->build,
            *cured->build};
  co_await compare(bisection, std::move(duel), finding, &Effect::cure);
  co_return Result<>{};
}

asio::awaitable<std::vector<SeriesChange>> Proving::compare_packages(Bisection const& bisection,
                                                                     Build before,
                                                                     Build after) {
  Duel const duel{campaign_of(bisection.id, bisection.recipe) + "/packages",
                  std::move(before),
                  std::move(after)};
  std::vector<Question> questions;
  for (auto const& series : bisection.request.series)
    questions.push_back({series, bisection.request.threshold});
  auto const results = co_await answer(duel, questions);
  std::vector<SeriesChange> changes;
  for (auto const& result : results)
    changes.insert(changes.end(), result.changes.begin(), result.changes.end());
  co_return changes;
}

/// Compares two builds on all series of a finding. What half of an effect is, is a change.
asio::awaitable<std::vector<DuelResult>> Proving::compare(
    Bisection const& bisection,
    Duel duel,
    Finding& finding,
    std::optional<Comparison> Effect::*result) {
  std::vector<Question> questions;
  for (auto const& effect : finding.effects)
    questions.push_back({effect.series, std::min(bisection.request.threshold, half_of(effect))});
  auto results = co_await answer(duel, questions);
  std::map<Series, Comparison> answers;
  for (auto const& duel_result : results)
    for (auto const& change : duel_result.changes)
      answers[change.series] = change.comparison;
  for (auto& effect : finding.effects)
    effect.*result = answers.at(effect.series);
  co_return results;
}

/// Compares two builds, the benchmarks side by side.
asio::awaitable<std::vector<DuelResult>> Proving::answer(Duel const& duel,
                                                         std::vector<Question> const& questions) {
  auto const groups = by_benchmark(questions);
  std::vector<DuelResult> results(groups.size());
  std::vector<asio::awaitable<void>> tasks;
  for (std::size_t i = 0; i < groups.size(); ++i)
    tasks.push_back(decide(duel, groups[i], results[i]));
  co_await run_all(std::move(tasks));
  co_return results;
}

asio::awaitable<void> Proving::decide(Duel const& duel, Group const& group, DuelResult& result) {
  auto& fleet = *fleets_.find(group.series.front().fleet);
  auto options = options_.decide;
  options.threshold = group.threshold;
  result = co_await compare_builds(measuring_, fleet, duel, group.series, options);
}

}  // namespace torchwatch
