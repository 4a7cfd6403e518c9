#include "daemon/pipeline.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "daemon/async/all.h"
#include "daemon/baseline.h"
#include "daemon/build_manifest.h"
#include "daemon/feed.h"
#include "daemon/profiling.h"
#include "daemon/telling.h"

namespace torchwatch {
namespace asio = boost::asio;

namespace {

/// Empty when any job of a sweep gave a result on the nightly itself: a night without a single
/// number is not a good one.
std::string why_nothing_was_measured(std::vector<JobOutcome> const& sweep,
                                     CommitSha const& commit) {
  JobOutcome const* first = nullptr;
  int failed = 0;
  for (auto const& job : sweep) {
    if (job.key.commit != commit) continue;
    if (job.ok()) return {};
    if (first == nullptr) first = &job;
    ++failed;
  }
  if (first == nullptr) return {};
  return "none of " + std::to_string(failed) +
         " jobs gave a result; the first: " + first->error_code + ", " + first->error;
}

/// Whether the feed reads the repository that new commits are fetched into.
bool is_feed_fetched(config::Options const& options) {
  std::error_code ignored;
  return options.feed.kind == config::FeedKind::git && !options.source.remote.empty() &&
         std::filesystem::equivalent(options.feed.path, options.source.repository, ignored);
}

bool is_unjudged(NightlyState state) {
  return state != NightlyState::bisected && state != NightlyState::done &&
         state != NightlyState::failed;
}

}  // namespace

asio::awaitable<Result<>> Pipeline::pass() {
  searching_.start();
  auto const looked = co_await look();
  if (!looked) co_return looked.error();
  alarming_.look_at_feed();
  while (auto nightly = store_.nightlies().next_unfinished()) {
    while (is_unjudged(nightly->state)) {
      auto const advanced = co_await advance(*nightly);
      if (!advanced) co_return advanced.error();
    }
    alarming_.look_at_end(*nightly);
  }
  auto const told = co_await tell_all();
  // What people say can wait for the next pass.
  auto const heard = co_await hear(store_, clock_, options_.github);
  if (!heard) spdlog::warn("hearing_failed reason=\"{}\"", heard.error().message);
  co_return told;
}

asio::awaitable<Result<>> Pipeline::look() {
  // What cannot be fetched now may come with the next pass; the log tells why.
  if (is_feed_fetched(options_)) co_await fetching_.refresh();
  auto const known = store_.nightlies().all();
  auto const newest = known.empty() ? std::string{} : known.back().date;
  auto const found = look_for_nightlies(options_.feed, newest, clock_.now());
  if (!found) co_return found.error();
  for (auto const& nightly : *found) {
    if (!store_.nightlies().announce(nightly)) continue;
    spdlog::info("nightly_announced date={} commit={} version={}",
                 nightly.date,
                 short_of(nightly.commit),
                 nightly.version);
  }
  co_return Result<>{};
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
      nightly.failure = why_nothing_was_measured(store_.jobs().of_campaign(campaign_of(nightly.id)),
                                                 nightly.commit);
      move_to(nightly, nightly.failure.empty() ? NightlyState::swept : NightlyState::failed);
      co_return swept;
    }
    case NightlyState::swept:
      screen(nightly);
      break;
    case NightlyState::screened:
      co_return co_await confirm(nightly);
    case NightlyState::confirmed: {
      auto const bisected = co_await bisect(nightly);
      if (!bisected) co_return bisected;
      auto incident = store_.incidents().of_nightly(nightly.id).value();
      co_await profile_incident(store_, fleets_, measuring_, std::move(incident));
      move_to(nightly, NightlyState::bisected);
      co_return bisected;
    }
    case NightlyState::bisected:
    case NightlyState::done:
    case NightlyState::failed:
      break;
  }
  co_return Result<>{};
}

/// The build of an earlier nightly of the same commit: nothing is to be seen between the two.
std::optional<Build> Pipeline::build_of_earlier(Nightly const& nightly) {
  std::optional<Build> newest;
  for (auto const& earlier : store_.nightlies().all()) {
    if (earlier.commit != nightly.commit || earlier.prefix.empty()) continue;
    if (auto build = read_build(earlier.prefix)) newest = std::move(*build);
  }
  return newest;
}

asio::awaitable<Result<>> Pipeline::prepare(Nightly& nightly) {
  BuildAttempt attempt;
  if (nightly.prefix.empty()) attempt.build = build_of_earlier(nightly);
  if (attempt.build) {
    spdlog::info("nightly_repeats date={} commit={}", nightly.date, short_of(nightly.commit));
  } else if (nightly.prefix.empty()) {
    std::vector<CommitSha> commits{nightly.commit};
    auto const fetched = co_await fetching_.ensure(std::move(commits));
    if (!fetched) co_return fetched.error();
    auto const recipe = co_await builder_.recipe();
    if (!recipe) co_return recipe.error();
    auto const built = co_await builder_.build(nightly.commit, recipe->id);
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
  return torchwatch::benchmarks_of(options_.suite, fleet.device());
}

std::optional<Build> Pipeline::choose_baseline(Nightly& nightly) {
  nightly.baseline.reset();
  auto const baseline = baseline_of(nightly, store_.nightlies().all());
  if (!baseline) return std::nullopt;
  auto build = read_build(baseline->prefix);
  if (!build) {
    spdlog::warn("baseline_unusable date={} baseline={} reason=\"{}\"",
                 nightly.date,
                 baseline->date,
                 build.error().message);
    return std::nullopt;
  }
  nightly.baseline = baseline->id;
  // The same commit built twice: there is nothing to compare.
  if (baseline->commit == nightly.commit) return std::nullopt;
  return std::move(*build);
}

asio::awaitable<Result<>> Pipeline::sweep(Nightly& nightly) {
  auto const build = read_build(nightly.prefix);
  if (!build) co_return build.error();
  std::vector<Build> builds;
  if (auto baseline = choose_baseline(nightly)) builds.push_back(std::move(*baseline));
  builds.push_back(*build);
  std::list<std::deque<SweepTask>> queues;
  std::vector<asio::awaitable<void>> slots;
  for (auto& fleet : fleets_.all()) {
    auto& queue = queues.emplace_back();
    for (int round = 0; round < options_.decide.sweep_pairs; ++round)
      for (auto const& benchmark : benchmarks_of(fleet))
        queue.push_back({benchmark, round});
    spdlog::info("sweep_started date={} baseline={} fleet={} left={}",
                 nightly.date,
                 builds.size() > 1 ? short_of(builds.front().manifest.commit) : "none",
                 fleet.name(),
                 queue.size());
    for (int slot = 0; slot < fleet.slots(); ++slot)
      slots.push_back(sweep_slot(fleet, nightly, builds, queue));
  }
  co_await run_all(std::move(slots));
  co_return Result<>{};
}

asio::awaitable<void> Pipeline::sweep_slot(Fleet& fleet,
                                           Nightly const& nightly,
                                           std::vector<Build> const& builds,
                                           std::deque<SweepTask>& queue) {
  auto const campaign = campaign_of(nightly.id);
  while (!queue.empty()) {
    auto const task = queue.front();
    queue.pop_front();
    auto lease = co_await fleet.lease();  // for one round: others wait for it too
    RoundKey key{campaign, task.benchmark, task.round};
    auto of_round = builds;
    co_await measuring_.round(lease, std::move(key), std::move(of_round));
    spdlog::info(
        "sweep_progress date={} fleet={} left={}", nightly.date, fleet.name(), queue.size());
  }
}

void Pipeline::screen(Nightly& nightly) {
  auto const baseline =
      nightly.baseline ? store_.nightlies().find(*nightly.baseline) : std::nullopt;
  if (!baseline || baseline->commit == nightly.commit) {
    move_to(nightly, NightlyState::done);
    return;
  }
  alarming_.look_at_sweep(nightly, *baseline);
  judging_.screen(nightly, *baseline);
  move_to(nightly, NightlyState::screened);
}

asio::awaitable<Result<>> Pipeline::confirm(Nightly& nightly) {
  auto const baseline = store_.nightlies().find(nightly.baseline.value()).value();
  auto const judged = co_await judging_.confirm(nightly, baseline);
  if (!judged) co_return judged.error();
  alarming_.look_at_anchors(nightly);
  move_to(nightly, *judged ? NightlyState::confirmed : NightlyState::done);
  co_return Result<>{};
}

asio::awaitable<Result<>> Pipeline::bisect(Nightly const& nightly) {
  if (options_.source.repository.empty()) co_return Result<>{};
  auto const incident = store_.incidents().of_nightly(nightly.id).value();
  auto const baseline = store_.nightlies().find(incident.baseline).value();
  BisectionRequest request{
      baseline.commit, nightly.commit, {}, options_.decide.threshold, {}, options_.bisect.prior};
  for (auto const& change : incident.changes)
    request.series.push_back(change.series);
  auto searches = store_.bisections().of_incident(incident.id);
  if (searches.empty())
    searches.push_back(store_.bisections().ask(request, incident.id, clock_.now()));
  auto const& search = searches.front();
  if (search.state != BisectionState::queued && search.state != BisectionState::running)
    co_return Result<>{};
  auto const done = co_await searching_.run(search);
  if (!done) co_return done.error();
  co_return Result<>{};
}

asio::awaitable<Result<>> Pipeline::tell_all() {
  Result<> all_told;
  for (auto& nightly : store_.nightlies().unpublished()) {
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

}  // namespace torchwatch
