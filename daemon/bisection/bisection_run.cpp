#include "daemon/bisection/bisection_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include "daemon/async/when_all.h"
#include "daemon/measure/job.h"

namespace torchwatch::bisection {
namespace asio = boost::asio;

using builds::BuildAttempt;
using builds::Known;

namespace {

std::string text_of(BisectionStep const& step) {
  std::string text =
      fmt::format("wave={} benchmark={} commits=", step.wave, name_of(step.benchmark));
  for (auto const& commit : step.commits)
    text += (text.ends_with('=') ? "" : ",") + short_of(commit);
  if (step.skipped) text += " skipped=" + short_of(*step.skipped);
  for (auto const& belief : step.beliefs)
    if (belief.series.benchmark == step.benchmark)
      text += fmt::format(" {}:no_change={:.3f},{}..{}={:.3f}",
                          to_string(belief.series.metric),
                          belief.no_change,
                          short_of(belief.first),
                          short_of(belief.last),
                          belief.probability);
  return text + " reason=\"" + step.reason + "\"";
}

}  // namespace

BisectionRun::BisectionRun(Parts parts,
                           Bisection& bisection,
                           bisect::Search search,
                           CostEstimates costs,
                           std::size_t slots)
    : parts_{parts},
      bisection_{bisection},
      search_{std::move(search)},
      costs_{std::move(costs)},
      slots_{slots} {}

void BisectionRun::pass_over(BisectionStage stage) {
  auto const& steps = bisection_.steps;
  while (done_ < steps.size() && steps[done_].stage == stage)
    search_.begin_at(steps[done_++].wave + 1);
}

void BisectionRun::note_known_builds() {
  auto const last = search_.position_of(bisection_.request.end);
  for (std::size_t position = 0; position <= last; ++position) {
    auto const known = parts_.source.known(search_.commit_at(position));
    if (known == Known::built) costs_.built(position);
    if (known == Known::unbuildable) costs_.failed(position);
  }
}

asio::awaitable<Result<std::vector<BuildAttempt>>> BisectionRun::builds_of(
    std::vector<CommitSha> commits) {
  auto attempts = co_await parts_.source.builds_of(commits);
  if (!attempts) co_return attempts.error();
  for (std::size_t i = 0; i < attempts->size(); ++i) {
    auto const position = search_.position_of(commits[i]);
    auto const& attempt = (*attempts)[i];
    if (attempt.build)
      costs_.built(position, attempt.cost.seconds, attempt.cost.is_incremental);
    else
      costs_.failed(position);
  }
  co_return attempts;
}

asio::awaitable<Result<>> BisectionRun::do_waves() {
  while (!search_.is_over()) {
    auto const& steps = bisection_.steps;
    if (done_ == steps.size()) plan_wave();
    if (done_ == steps.size() || steps[done_].stage != parts_.source.stage()) break;
    auto const taken = co_await do_wave();
    if (!taken) co_return taken.error();
  }
  co_return Result<>{};
}

void BisectionRun::plan_wave() {
  auto steps = search_.next(costs_.costs(parts_.source.is_warm()), slots_);
  for (auto& step : steps)
    step.stage = parts_.source.stage();
  parts_.store.bisections().plan(bisection_.id, steps);
  bisection_.steps.insert(bisection_.steps.end(), steps.begin(), steps.end());
}

/// Does the remaining steps of a planned wave, then learns from all of it.
asio::awaitable<Result<>> BisectionRun::do_wave() {
  auto const& steps = bisection_.steps;
  auto const wave = steps[done_].wave;
  auto end = done_;
  while (end < steps.size() && steps[end].wave == wave)
    ++end;
  std::vector<asio::awaitable<Result<>>> tasks;
  for (auto i = done_; i < end; ++i)
    if (!steps[i].is_done) tasks.push_back(do_step(i));
  auto const results = co_await async::when_all(std::move(tasks));
  for (auto const& result : results)
    if (!result) co_return result.error();
  learn(end);
  co_return Result<>{};
}

void BisectionRun::learn(std::size_t end) {
  auto& steps = bisection_.steps;
  for (auto i = done_; i < end; ++i)
    search_.learn(steps[i]);
  for (auto i = done_; i < end; ++i) {
    if (!steps[i].beliefs.empty()) continue;  // logged before an interruption
    steps[i].beliefs = search_.beliefs();
    keep(i);
    spdlog::info("bisection_step id={} {}", bisection_.id.value, text_of(steps[i]));
  }
  done_ = end;
}

void BisectionRun::keep(std::size_t ordinal) {
  parts_.store.bisections().finish(bisection_.id, ordinal, bisection_.steps[ordinal]);
}

asio::awaitable<Result<>> BisectionRun::do_step(std::size_t ordinal) {
  auto builds = co_await builds_for(ordinal);
  if (!builds) co_return builds.error();
  if (!bisection_.steps[ordinal].skipped) {
    auto const measured = co_await measure(ordinal, std::move(*builds));
    if (!measured) co_return measured.error();
  }
  bisection_.steps[ordinal].is_done = true;
  keep(ordinal);
  co_return Result<>{};
}

/// Returns the builds of a step's commits. If one is unavailable, the step stores the reason.
asio::awaitable<Result<std::vector<Build>>> BisectionRun::builds_for(std::size_t ordinal) {
  auto const commits = bisection_.steps[ordinal].commits;
  auto attempts = co_await builds_of(commits);
  if (!attempts) co_return attempts.error();
  std::vector<Build> builds;
  for (auto& attempt : *attempts) {
    if (attempt.build) {
      builds.push_back(std::move(*attempt.build));
      continue;
    }
    auto& step = bisection_.steps[ordinal];
    step.skipped = commits[builds.size()];
    step.is_unbuilt = true;
    step.note = attempt.note;
  }
  co_return builds;
}

asio::awaitable<Result<>> BisectionRun::measure(std::size_t ordinal, std::vector<Build> builds) {
  auto const& planned = bisection_.steps[ordinal];
  measure::RoundKey key{
      parts_.source.campaign(), planned.fleet, planned.benchmark, static_cast<int>(ordinal)};
  auto const outcomes = co_await parts_.rounds.measure(std::move(key), std::move(builds));
  if (!outcomes) co_return outcomes.error();
  auto& step = bisection_.steps[ordinal];
  for (auto const& outcome : *outcomes) {
    costs_.measured(outcome.seconds);
    // An end that cannot be measured ends the bisection.
    if (outcome.ok() || (step.skipped && search_.is_end(outcome.key.commit))) continue;
    step.skipped = outcome.key.commit;
    step.note = "could not be measured: " + measure::failure_of(outcome);
  }
  if (step.skipped) co_return Result<>{};
  for (auto const metric : search_.metrics_of(step))
    if (auto levels = measure::levels_in(*outcomes, metric))
      step.readings.push_back({metric, std::move(*levels)});
  co_return Result<>{};
}

}  // namespace torchwatch::bisection
