#include "daemon/pipeline.h"

#include <algorithm>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "bisect/compare.h"
#include "daemon/async/all.h"
#include "daemon/build_manifest.h"
#include "daemon/comparing.h"
#include "daemon/feed.h"
#include "daemon/telling.h"

namespace torchwatch {
namespace asio = boost::asio;

namespace {

constexpr int most_culprits = 5;  // an incident with more is a range for people

std::string sweep_of(Nightly const& nightly) {
  return "sweep/" + std::to_string(nightly.id.value);
}

/// The lowest of the sweep's processes: disturbance only ever adds. Nothing when none gave this
/// metric.
std::optional<double> swept_level(std::vector<JobOutcome> const& sweep, Series const& series) {
  std::optional<double> level;
  for (auto const& job : sweep) {
    if (job.key.benchmark != series.benchmark || job.key.fleet != series.fleet) continue;
    auto const value = job.values.find(series.metric);
    if (value != job.values.end() && (!level || value->second.value < *level))
      level = value->second.value;
  }
  return level;
}

/// Empty when any job of a sweep gave a result: a night without a single number is not a good one.
std::string why_nothing_was_measured(std::vector<JobOutcome> const& sweep) {
  std::string why;
  for (auto const& job : sweep) {
    if (job.ok()) return {};
    if (why.empty())
      why = "none of " + std::to_string(sweep.size()) +
            " jobs gave a result; the first: " + job.error_code + ", " + job.error;
  }
  return why;
}

bool is_unjudged(NightlyState state) {
  return state != NightlyState::bisected && state != NightlyState::done &&
         state != NightlyState::failed;
}

}  // namespace

asio::awaitable<Result<>> Pipeline::pass() {
  auto const looked = look();
  if (!looked) co_return looked.error();
  while (auto nightly = store_.nightlies().next_unfinished()) {
    while (is_unjudged(nightly->state)) {
      auto const advanced = co_await advance(*nightly);
      if (!advanced) co_return advanced.error();
    }
  }
  auto const told = co_await tell_all();
  auto const searched = co_await run_asked_searches();
  co_return told ? searched : told;
}

Result<> Pipeline::look() {
  auto const known = store_.nightlies().all();
  auto const newest = known.empty() ? std::string{} : known.back().date;
  auto const found = look_for_nightlies(options_.feed, newest, clock_.now());
  if (!found) return found.error();
  for (auto const& nightly : *found) {
    if (!store_.nightlies().announce(nightly)) continue;
    spdlog::info("nightly_announced date={} commit={} version={}",
                 nightly.date,
                 short_of(nightly.commit),
                 nightly.version);
  }
  return {};
}

void Pipeline::move_to(Nightly& nightly, NightlyState state) {
  nightly.state = state;
  store_.nightlies().update(nightly);
  spdlog::info("nightly_state date={} state={}{}",
               nightly.date,
               to_string(state),
               nightly.failure.empty() ? "" : " reason=\"" + nightly.failure + "\"");
}

asio::awaitable<Result<>> Pipeline::advance(Nightly& nightly) {
  switch (nightly.state) {
    case NightlyState::announced:
      co_return co_await prepare(nightly);
    case NightlyState::prepared: {
      auto const swept = co_await sweep(nightly);
      if (!swept) co_return swept;
      nightly.failure = why_nothing_was_measured(store_.jobs().of_campaign(sweep_of(nightly)));
      move_to(nightly, nightly.failure.empty() ? NightlyState::swept : NightlyState::failed);
      co_return swept;
    }
    case NightlyState::swept:
      co_return choose_baseline(nightly);
    case NightlyState::screened:
      co_return co_await confirm(nightly);
    case NightlyState::confirmed: {
      auto const bisected = co_await bisect(nightly);
      if (bisected) move_to(nightly, NightlyState::bisected);
      co_return bisected;
    }
    case NightlyState::bisected:
    case NightlyState::done:
    case NightlyState::failed:
      break;
  }
  co_return Result<>{};
}

asio::awaitable<Result<>> Pipeline::prepare(Nightly& nightly) {
  BuildAttempt attempt;
  if (nightly.prefix.empty()) {
    auto const built = co_await builder_.build(nightly.commit);
    if (!built) co_return built.error();
    attempt = *built;
  } else if (auto present = read_build(nightly.prefix)) {
    attempt.build = std::move(*present);
  } else {
    attempt.note = present.error().message;
  }
  if (!attempt.build) {
    nightly.failure = attempt.note;
    move_to(nightly, NightlyState::failed);
    co_return Result<>{};
  }
  nightly.prefix = attempt.build->prefix;
  nightly.version = attempt.build->manifest.version;
  move_to(nightly, NightlyState::prepared);
  co_return Result<>{};
}

std::vector<Benchmark> Pipeline::benchmarks_of(Fleet const& fleet) const {
  std::vector<Benchmark> benchmarks;
  for (auto const& model : options_.suite.models)
    for (auto const test : options_.suite.tests)
      benchmarks.push_back({model, test, fleet.device(), options_.suite.backend});
  return benchmarks;
}

asio::awaitable<Result<>> Pipeline::sweep(Nightly const& nightly) {
  auto const build = read_build(nightly.prefix);
  if (!build) co_return build.error();
  std::list<std::vector<JobKey>> queues;
  std::vector<asio::awaitable<void>> slots;
  for (auto& fleet : fleets_.all()) {
    auto& queue = queues.emplace_back();
    for (int round = options_.decide.sweep_processes; round > 0; --round)
      for (auto const& benchmark : benchmarks_of(fleet))
        queue.push_back({sweep_of(nightly), fleet.name(), benchmark, nightly.commit, round - 1});
    std::reverse(queue.begin(), queue.end());
    spdlog::info(
        "sweep_started date={} fleet={} jobs={}", nightly.date, fleet.name(), queue.size());
    for (int slot = 0; slot < fleet.slots(); ++slot)
      slots.push_back(sweep_slot(fleet, nightly, *build, queue));
  }
  co_await run_all(std::move(slots));
  co_return Result<>{};
}

asio::awaitable<void> Pipeline::sweep_slot(Fleet& fleet,
                                           Nightly const& nightly,
                                           Build const& build,
                                           std::vector<JobKey>& queue) {
  auto lease = co_await fleet.lease();
  while (!queue.empty()) {
    auto key = std::move(queue.back());
    queue.pop_back();
    co_await measuring_.outcome(lease, std::move(key), build);
    spdlog::info(
        "sweep_progress date={} fleet={} left={}", nightly.date, fleet.name(), queue.size());
  }
}

Result<> Pipeline::choose_baseline(Nightly& nightly) {
  auto const baseline = store_.nightlies().baseline_of(nightly);
  if (!baseline || baseline->commit == nightly.commit) {
    // The first of all, or the same commit built twice: nothing to compare with.
    if (baseline) nightly.baseline = baseline->id;
    move_to(nightly, NightlyState::done);
    return {};
  }
  nightly.baseline = baseline->id;
  move_to(nightly, NightlyState::screened);
  return {};
}

std::vector<std::vector<Series>> Pipeline::suspicious_series(Nightly const& baseline,
                                                             Nightly const& nightly) {
  auto const before = store_.jobs().of_campaign(sweep_of(baseline));
  auto const after = store_.jobs().of_campaign(sweep_of(nightly));
  std::vector<std::vector<Series>> groups;
  for (auto const& fleet : fleets_.all()) {
    for (auto const& benchmark : benchmarks_of(fleet)) {
      std::vector<Series> group;
      for (auto const metric : all_metrics) {
        Series const series{fleet.name(), benchmark, metric};
        auto const a = swept_level(before, series);
        auto const b = swept_level(after, series);
        if (a && b && bisect::screen(*a, *b, metric, options_.decide)) group.push_back(series);
      }
      if (!group.empty()) groups.push_back(std::move(group));
    }
  }
  return groups;
}

asio::awaitable<Result<>> Pipeline::confirm(Nightly& nightly) {
  auto const baseline = store_.nightlies().find(nightly.baseline.value()).value();
  auto const before = read_build(baseline.prefix);
  if (!before) co_return before.error();
  auto const after = read_build(nightly.prefix);
  if (!after) co_return after.error();
  auto const groups = suspicious_series(baseline, nightly);
  spdlog::info("screened date={} baseline={} suspicious_benchmarks={}",
               nightly.date,
               baseline.date,
               groups.size());
  Duel const duel{"confirm/" + std::to_string(nightly.id.value), *before, *after};
  bool any = false;
  for (auto const& group : groups) {
    auto& fleet = *fleets_.find(group.front().fleet);
    auto const result = co_await compare_builds(measuring_, fleet, duel, group, options_.decide);
    for (auto const& change : result.changes) {
      store_.incidents().record(nightly.id, change);
      any = any || change.comparison.verdict == Verdict::regression;
    }
  }
  if (any) {
    auto const incident = store_.incidents().open(baseline.id, nightly.id, clock_.now());
    spdlog::warn("incident_opened id={} date={} series={}",
                 incident.id.value,
                 nightly.date,
                 incident.changes.size());
  }
  move_to(nightly, any ? NightlyState::confirmed : NightlyState::done);
  co_return Result<>{};
}

asio::awaitable<Result<>> Pipeline::bisect(Nightly const& nightly) {
  if (options_.source.repository.empty()) co_return Result<>{};
  auto const incident = store_.incidents().of_nightly(nightly.id).value();
  auto const baseline = store_.nightlies().find(incident.baseline).value();
  BisectionRequest request{baseline.commit, nightly.commit, {}, options_.decide.threshold, {}};
  for (auto const& change : incident.changes)
    request.series.push_back(change.series);
  auto searches = store_.bisections().of_incident(incident.id);
  for (std::size_t n = 0; n < most_culprits && !request.series.empty(); ++n) {
    if (n == searches.size())
      searches.push_back(store_.bisections().ask(request, incident.id, clock_.now()));
    if (searches[n].state == BisectionState::queued ||
        searches[n].state == BisectionState::running) {
      auto const done = co_await bisecting_.run(searches[n]);
      if (!done) co_return done.error();
      searches[n] = *done;
    }
    // Series that this culprit does not explain have another one.
    auto const& explained = searches[n].explained;
    auto const is_explained = [&](Series const& series) {
      return std::find(explained.begin(), explained.end(), series) != explained.end();
    };
    if (searches[n].outcome != BisectionOutcome::culprit) break;
    std::erase_if(request.series, is_explained);
  }
  co_return Result<>{};
}

asio::awaitable<Result<>> Pipeline::tell_all() {
  Result<> all_told;
  for (auto& nightly : store_.nightlies().untold()) {
    auto incident = store_.incidents().of_nightly(nightly.id).value();
    auto const told =
        co_await tell(store_, std::move(incident), options_.github, options_.state_dir);
    if (told)
      move_to(nightly, NightlyState::done);
    else
      all_told = within("tell incident of " + nightly.date, told.error());
  }
  co_return all_told;
}

asio::awaitable<Result<>> Pipeline::run_asked_searches() {
  while (auto asked = store_.bisections().next_asked()) {
    auto const done = co_await bisecting_.run(std::move(*asked));
    if (!done) co_return done.error();
  }
  co_return Result<>{};
}

}  // namespace torchwatch
