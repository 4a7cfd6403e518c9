#include "daemon/bisection/proof.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace torchwatch::bisection {
namespace asio = boost::asio;

using measure::BuildPair;
using measure::ComparisonResult;

namespace {

/// Returns half of an effect as a threshold: a proof must show more than that.
double half_of(Effect const& effect) {
  double const ratio = effect.before > 0 && effect.after > 0
                           ? std::max(effect.after / effect.before, effect.before / effect.after)
                           : 2.0;
  return std::sqrt(ratio) - 1;
}

std::vector<SeriesThreshold> thresholds_of(std::vector<Effect> const& effects, double threshold) {
  std::vector<SeriesThreshold> series;
  for (auto const& effect : effects)
    series.push_back({effect.series, std::min(threshold, half_of(effect))});
  return series;
}

/// Returns the series that another layout may change.
std::vector<SeriesThreshold> without_memory(std::vector<SeriesThreshold> series) {
  std::erase_if(series,
                [](SeriesThreshold const& one) { return is_deterministic(one.series.metric); });
  return series;
}

}  // namespace

asio::awaitable<Result<std::vector<ComparisonResult>>> Proof::compare_with_parent(
    Bisection const& bisection, Pair pair, Finding& finding) {
  BisectionCampaigns const campaigns{bisection.id, bisection.recipe};
  bool const is_usual = pair.layout == 0;
  auto const suspect = finding.suspects.front().sha;
  BuildPair builds{is_usual ? campaigns.proof(suspect) : campaigns.rebuilt_proof(suspect),
                   std::move(pair.before),
                   std::move(pair.after)};
  auto const result = is_usual ? &Effect::proof : &Effect::rebuilt;
  auto series = thresholds_of(finding.effects, bisection.request.threshold);
  if (!is_usual) series = without_memory(std::move(series));
  co_return co_await compare(std::move(builds), std::move(series), finding, result);
}

asio::awaitable<Result<>> Proof::check_revert(Bisection const& bisection, Finding& finding) {
  auto const culprit = finding.suspects.front().sha;
  auto const end = bisection.request.end;
  if (finding.missing > 0) {
    finding.no_revert_check = "the bad build does not have this commit";
    co_return Result<>{};
  }
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
  auto const newest = co_await builder_.build(end, bisection.recipe, builds::From::source);
  if (!newest) co_return newest.error();
  if (!newest->build) {
    finding.no_revert_check = newest->note;
    co_return Result<>{};
  }
  BisectionCampaigns const campaigns{bisection.id, bisection.recipe};
  BuildPair builds{campaigns.revert_check(culprit), *newest->build, *reverted->build};
  auto series = thresholds_of(finding.effects, bisection.request.threshold);
  auto const compared =
      co_await compare(std::move(builds), std::move(series), finding, &Effect::revert_check);
  if (!compared) co_return compared.error();
  co_return Result<>{};
}

/// Compares two builds on series of a finding, and stores the results there.
asio::awaitable<Result<std::vector<ComparisonResult>>> Proof::compare(
    BuildPair builds,
    std::vector<SeriesThreshold> series,
    Finding& finding,
    std::optional<Comparison> Effect::*result) {
  auto results = co_await compare_series(rounds_, builds, std::move(series), options_);
  if (!results) co_return results.error();
  std::map<Series, Comparison> answers;
  for (auto const& of_benchmark : *results)
    for (auto const& change : of_benchmark.changes)
      answers[change.series] = change.comparison;
  for (auto& effect : finding.effects)
    if (auto const answer = answers.find(effect.series); answer != answers.end())
      effect.*result = answer->second;
  co_return results;
}

}  // namespace torchwatch::bisection
