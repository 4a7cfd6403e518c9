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

asio::awaitable<std::vector<BuildComparisonResult>> Proving::prove(Bisection const& bisection,
                                                                   Build before,
                                                                   Build after,
                                                                   Finding& finding) {
  auto const culprit = short_of(finding.suspects.front().sha);
  BuildComparison comparison{campaign_of(bisection.id, bisection.recipe) + "/proof/" + culprit,
                             std::move(before),
                             std::move(after)};
  co_return co_await compare(bisection, std::move(comparison), finding, &Effect::proof);
}

asio::awaitable<Result<>> Proving::check_revert(Bisection const& bisection, Finding& finding) {
  auto const culprit = finding.suspects.front().sha;
  auto const end = bisection.request.end;
  if (culprit == end) {
    finding.no_revert_check = "it is the newest commit: its parent shows what a revert gives";
    co_return Result<>{};
  }
  auto const reverted = co_await builder_.build_without(culprit, end, bisection.recipe);
  if (!reverted) co_return reverted.error();
  if (!reverted->build) {
    finding.no_revert_check = reverted->note;
    co_return Result<>{};
  }
  auto const unreverted = co_await builder_.build(end, bisection.recipe, Builder::From::source);
  if (!unreverted) co_return unreverted.error();
  if (!unreverted->build) {
    finding.no_revert_check = unreverted->note;
    co_return Result<>{};
  }
  BuildComparison comparison{
      campaign_of(bisection.id, bisection.recipe) + "/revert-check/" + short_of(culprit),
      *unreverted->build,
      *reverted->build};
  co_await compare(bisection, std::move(comparison), finding, &Effect::revert_check);
  co_return Result<>{};
}

asio::awaitable<std::vector<SeriesChange>> Proving::compare_packages(Bisection const& bisection,
                                                                     Build before,
                                                                     Build after) {
  BuildComparison const comparison{campaign_of(bisection.id, bisection.recipe) + "/packages",
                                   std::move(before),
                                   std::move(after)};
  std::vector<Question> questions;
  for (auto const& series : bisection.request.series)
    questions.push_back({series, bisection.request.threshold});
  auto const results = co_await answer(comparison, questions);
  std::vector<SeriesChange> changes;
  for (auto const& result : results)
    changes.insert(changes.end(), result.changes.begin(), result.changes.end());
  co_return changes;
}

/// Compares two builds on all series of a finding. What half of an effect is, is a change.
asio::awaitable<std::vector<BuildComparisonResult>> Proving::compare(
    Bisection const& bisection,
    BuildComparison comparison,
    Finding& finding,
    std::optional<Comparison> Effect::*result) {
  std::vector<Question> questions;
  for (auto const& effect : finding.effects)
    questions.push_back({effect.series, std::min(bisection.request.threshold, half_of(effect))});
  auto results = co_await answer(comparison, questions);
  std::map<Series, Comparison> answers;
  for (auto const& compared : results)
    for (auto const& change : compared.changes)
      answers[change.series] = change.comparison;
  for (auto& effect : finding.effects)
    effect.*result = answers.at(effect.series);
  co_return results;
}

/// Compares two builds, the benchmarks side by side.
asio::awaitable<std::vector<BuildComparisonResult>> Proving::answer(
    BuildComparison const& comparison, std::vector<Question> const& questions) {
  auto const groups = by_benchmark(questions);
  std::vector<BuildComparisonResult> results(groups.size());
  std::vector<asio::awaitable<void>> tasks;
  for (std::size_t i = 0; i < groups.size(); ++i)
    tasks.push_back(decide(comparison, groups[i], results[i]));
  co_await run_all(std::move(tasks));
  co_return results;
}

asio::awaitable<void> Proving::decide(BuildComparison const& comparison,
                                      Group const& group,
                                      BuildComparisonResult& result) {
  auto& fleet = *fleets_.find(group.series.front().fleet);
  auto options = options_.decide;
  options.threshold = group.threshold;
  result = co_await compare_builds(measuring_, fleet, comparison, group.series, options);
}

}  // namespace torchwatch
