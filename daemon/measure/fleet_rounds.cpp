#include "daemon/measure/fleet_rounds.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include "daemon/measure/alarm.h"
#include "daemon/measure/job.h"
#include "runner/turn_order.h"

namespace torchwatch::measure {
namespace asio = boost::asio;

namespace {

/// The number of runners, at least, that a round may lose while they measure before it is
/// considered the cause.
constexpr int most_lost_in_a_round = 5;

/// The time that a device alarm stays after the last problem. A device that fails at times has a
/// problem in between, too, and operators look in the morning.
constexpr std::chrono::hours trouble_of_device_lasts{12};

using Instant = std::chrono::steady_clock::time_point;

double seconds(Instant::duration duration) {
  return std::chrono::duration<double>{duration}.count();
}

/// True when another attempt may succeed. A crash may be an accident. A reached limit or a missing
/// model stays.
bool may_pass(JobOutcome const& outcome) {
  if (outcome.ok()) return false;
  switch (*outcome.error_code) {
    case JobError::crashed:
    case JobError::protocol:
    case JobError::launch:
    case JobError::cache:
    case JobError::device:
    case JobError::device_memory:
      return true;
    case JobError::failed:
    case JobError::unsupported:
    case JobError::timeout:
    case JobError::memory:
    case JobError::lost:
      return false;
  }
  return false;
}

bool wants_device_memory(JobOutcome const& outcome) {
  return outcome.error_code == JobError::device_memory;
}

/// Returns " latency_ms=9.876", or another metric of a suite without latency: " ttft=12.000".
std::string first_value_in(JobOutcome const& outcome) {
  if (outcome.values.empty()) return {};
  auto const& [metric, value] = *outcome.values.begin();
  bool const is_latency = metric == Metric::latency;
  return fmt::format(
      " {}={:.3f}", is_latency ? "latency_ms" : std::string{to_string(metric)}, value.value);
}

void log_outcome(JobOutcome const& outcome) {
  if (!outcome.ok()) return;
  spdlog::info("measured campaign={} benchmark={} commit={} round={}{} seconds={:.1f}",
               outcome.key.campaign.name,
               name_of(outcome.key.benchmark),
               short_of(outcome.key.commit),
               outcome.key.round,
               first_value_in(outcome),
               outcome.seconds);
}

void log_failure(JobOutcome const& outcome, int attempt, int attempts) {
  spdlog::warn("job_failed campaign={} benchmark={} commit={} attempt={}/{} code={} reason=\"{}\"",
               outcome.key.campaign.name,
               name_of(outcome.key.benchmark),
               short_of(outcome.key.commit),
               attempt,
               attempts,
               to_string(*outcome.error_code),
               outcome.error);
}

std::vector<JobKey> keys_of(RoundKey const& key, std::vector<Build> const& builds) {
  std::vector<JobKey> keys;
  for (auto const& build : builds) {
    auto const& commit = build.manifest.commit;
    bool const is_second = std::ranges::find(keys, commit, &JobKey::commit) != keys.end();
    keys.push_back({is_second ? key.campaign.second() : key.campaign,
                    key.fleet,
                    key.benchmark,
                    commit,
                    key.round});
  }
  return keys;
}

/// Returns the jobs by place: the job of place 0 first.
std::vector<std::size_t> places_by(std::uint32_t seed, std::size_t count) {
  return runner::TurnOrder{seed, runner::Drawn::places, count}.next();
}

/// Returns an ID for the worker that has the same length for every build.
std::string id_of(JobKey const& first, int attempt, std::size_t place, CommitSha const& commit) {
  return first.campaign.name + "/" + std::to_string(first.round) + "." + std::to_string(attempt) +
         "/" + std::to_string(place) + "/" + short_of(commit);
}

/// Returns the round with the jobs in their places.
protocol::Round round_of(std::vector<protocol::Job> jobs,
                         std::vector<JobKey> const& keys,
                         std::vector<std::size_t> const& who,
                         int attempt) {
  protocol::Round round;
  for (std::size_t place = 0; place < who.size(); ++place) {
    auto& job = round.jobs.emplace_back(std::move(jobs[who[place]]));
    job.id = id_of(keys.front(), attempt, place, keys[who[place]].commit);
  }
  return round;
}

/// Returns the failures of the jobs of a round that ends its runners.
std::vector<protocol::Message> failures_of(protocol::Round const& round, Lost const& lost) {
  std::vector<protocol::Message> failures;
  for (auto const& job : round.jobs)
    failures.emplace_back(
        protocol::Failure{job.id, std::string{to_string(JobError::lost)}, lost.reason});
  return failures;
}

std::string subject_of(Slot const& slot) {
  return slot_subject(slot.fleet(), slot.number());
}

/// Returns the subjects of alarms about these fleets and their slots.
std::set<std::string> subjects_of(Fleets const& fleets) {
  std::set<std::string> subjects;
  for (auto const& fleet : fleets.all()) {
    subjects.insert(fleet.name());
    for (std::size_t place = 0; place < static_cast<std::size_t>(fleet.slots()); ++place)
      subjects.insert(slot_subject(fleet.name(), place));
  }
  return subjects;
}

}  // namespace

std::optional<std::vector<JobOutcome>> FleetRounds::stored(std::vector<JobKey> const& keys) const {
  std::vector<JobOutcome> outcomes;
  for (auto const& key : keys) {
    auto known = store_.jobs().find(key);
    if (!known) return std::nullopt;
    outcomes.push_back(std::move(*known));
  }
  return outcomes;
}

asio::awaitable<Result<std::vector<JobOutcome>>> FleetRounds::measure(RoundKey key,
                                                                      std::vector<Build> builds) {
  auto const keys = keys_of(key, builds);
  if (auto known = stored(keys)) co_return std::move(*known);
  auto* const fleet = fleets_.find(key.fleet);
  if (fleet == nullptr)
    co_return Error{ErrorCode::invalid_argument, "no fleet is named " + key.fleet};
  auto const& suite = suite_of(options_, key.benchmark);
  std::vector<protocol::Job> jobs;
  for (auto const& build : builds) {
    auto& job = jobs.emplace_back(job_for(options_.measure, suite, key.benchmark, build));
    job.measure.profile = key.profile;
    job.caches.fill = key.round % 2 == 0 ? "a" : "b";
  }
  std::vector<JobOutcome> outcomes;
  bool one_by_one = false;
  Placement placement{key.slot, std::nullopt};
  for (int attempt = 1; attempt <= options_.measure.attempts; ++attempt) {
    auto tried = co_await this->attempt(*fleet, placement, keys, jobs, attempt, one_by_one);
    if (!tried) co_return tried.error();
    outcomes = std::move(*tried);
    if (std::ranges::none_of(outcomes, may_pass)) break;
    one_by_one = one_by_one || std::ranges::any_of(outcomes, wants_device_memory);
  }
  store_.jobs().record(outcomes);
  for (auto const& outcome : outcomes)
    log_outcome(outcome);
  co_return outcomes;
}

asio::awaitable<Result<std::vector<JobOutcome>>> FleetRounds::attempt(
    Fleet& fleet,
    Placement& placement,
    std::vector<JobKey> const& keys,
    std::vector<protocol::Job> jobs,
    int attempt,
    bool one_by_one) {
  auto const seed = seeds_.draw();
  auto const who = places_by(seed, jobs.size());
  auto round = round_of(std::move(jobs), keys, who, attempt);
  round.seed = seed;
  round.one_by_one = one_by_one;
  auto const answers = co_await run(fleet, placement, std::move(round));
  if (!answers) co_return answers.error();
  std::vector<JobOutcome> outcomes(keys.size());
  for (std::size_t place = 0; place < who.size(); ++place) {
    auto& outcome = outcomes[who[place]];
    outcome = outcome_from(keys[who[place]], answers->messages[place], clock_.now());
    outcome.seed = seed;
    outcome.place = static_cast<int>(place);
    outcome.slot = static_cast<int>(answers->slot);
  }
  fail_if_models_moved(outcomes);
  for (auto const& outcome : outcomes) {
    if (!outcome.ok()) log_failure(outcome, attempt, options_.measure.attempts);
    count(outcome);
  }
  co_return outcomes;
}

void FleetRounds::count(JobOutcome const& outcome) {
  auto const how = outcome.error_code ? to_string(*outcome.error_code) : "ok";
  counters_.job(outcome.key.fleet, std::string{how}, outcome.seconds);
}

/// Tries one slot after the other, until the runner of one survives. If the round has to be on a
/// certain slot, it tries only that one, once.
asio::awaitable<Result<FleetRounds::Answers>> FleetRounds::run(Fleet& fleet,
                                                               Placement& placement,
                                                               protocol::Round round) {
  for (int lost_in_round = 0;;) {
    auto const asked = Instant::clock::now();
    fleet.quarantine(store_.slots().quarantined(fleet.name()));
    auto waiting = placement.slot ? fleet.slot(*placement.slot) : fleet.slot();
    auto slot = co_await std::move(waiting);
    if (!slot) co_return slot.error();
    if (!placement.step) {
      auto entered = co_await steps_.enter();
      placement.step.emplace(std::move(entered));
    }
    auto const got = Instant::clock::now();
    Slot::OnProgress on_progress = [](protocol::Progress const& progress) {
      spdlog::debug("job_progress job={} phase={}", progress.id, progress.phase);
    };
    auto answers = co_await slot->run(round, std::move(on_progress));
    counters_.slot(fleet.name(), seconds(got - asked), seconds(Instant::clock::now() - got));
    if (answers) {
      update_alarm(AlarmKind::runner_lost, *slot, "");
      note_device(*slot, trouble_of_device(*answers));
      co_return Answers{std::move(*answers), slot->number()};
    }
    auto const lost = answers.error();
    spdlog::warn("runner_lost slot=\"{}: slot {}\" end={} reason=\"{}\"",
                 fleet.name(),
                 slot->number(),
                 to_string(lost.end),
                 lost.reason);
    update_alarm(AlarmKind::runner_lost, *slot, lost.reason);
    if (placement.slot) co_return Error{ErrorCode::unavailable, lost.reason};
    if (lost.may_be_by_round &&
        ++lost_in_round >= std::max(most_lost_in_a_round, options_.measure.attempts))
      co_return failures_of(round, lost);
  }
}

void FleetRounds::remove_slots_that_are_gone() {
  auto const here = subjects_of(fleets_);
  for (auto const& state : store_.slots().all())
    if (!here.contains(slot_subject(state.fleet, state.slot)))
      store_.slots().remove(state.fleet, state.slot);
  for (auto alarm : store_.alarms().open()) {
    bool const is_of_slots = alarm.kind == AlarmKind::runner_lost ||
                             alarm.kind == AlarmKind::environment ||
                             alarm.kind == AlarmKind::slot_unfit;
    if (!is_of_slots || here.contains(alarm.subject)) continue;
    alarm.raised_at = clock_.now();
    set_alarm(store_, false, alarm);
  }
}

/// `trouble`: empty without a problem.
void FleetRounds::note_device(Slot const& slot, std::string const& trouble) {
  auto const lately = clock_.now() - trouble_of_device_lasts;
  bool const stands = std::ranges::any_of(store_.alarms().open(), [&](Alarm const& alarm) {
    return alarm.kind == AlarmKind::environment && alarm.subject == subject_of(slot) &&
           alarm.raised_at > lately;
  });
  if (!stands) update_alarm(AlarmKind::environment, slot, trouble);
}

/// `reason`: empty without a problem.
void FleetRounds::update_alarm(AlarmKind kind, Slot const& slot, std::string reason) {
  Alarm alarm;
  alarm.kind = kind;
  alarm.subject = subject_of(slot);
  alarm.raised_at = clock_.now();
  alarm.detail = std::move(reason);
  set_alarm(store_, !alarm.detail.empty(), alarm);
}

}  // namespace torchwatch::measure
