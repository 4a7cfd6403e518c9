#include "daemon/measure/fleet_rounds.h"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "daemon/measure/alarm.h"
#include "daemon/measure/job.h"

namespace torchwatch::measure {
namespace asio = boost::asio;

namespace {

/// Runners that a round may lose in its midst before it is taken for the cause, at least.
constexpr int most_lost_in_a_round = 5;

/// Death may be an accident; a limit that was reached, or a model that is not there, will be so
/// again.
bool may_pass(JobOutcome const& outcome) {
  if (outcome.ok()) return false;
  switch (*outcome.error_code) {
    case JobError::crashed:
    case JobError::protocol:
    case JobError::launch:
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

void log_outcome(JobOutcome const& outcome) {
  if (!outcome.ok()) return;
  auto const latency = outcome.values.find(Metric::latency);
  spdlog::info(
      "measured campaign={} benchmark={} commit={} round={} latency_ms={:.3f} seconds={:.1f}",
      outcome.key.campaign.name,
      name_of(outcome.key.benchmark),
      short_of(outcome.key.commit),
      outcome.key.round,
      latency == outcome.values.end() ? 0.0 : latency->second.value,
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

/// What becomes of the jobs of a round that takes its runners with it.
std::vector<protocol::Message> failures_of(protocol::Round const& round, Lost const& lost) {
  std::vector<protocol::Message> failures;
  for (auto const& job : round.jobs)
    failures.emplace_back(
        protocol::Failure{job.id, std::string{to_string(JobError::lost)}, lost.reason});
  return failures;
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
  std::vector<protocol::Job> jobs;
  for (auto const& build : builds) {
    auto& job = jobs.emplace_back(job_for(options_, suite_, key.benchmark, build));
    job.measure.profile = key.profile;
  }
  std::vector<JobOutcome> outcomes;
  for (int attempt = 1; attempt <= options_.attempts; ++attempt) {
    auto tried = co_await this->attempt(*fleet, keys, jobs, attempt);
    if (!tried) co_return tried.error();
    outcomes = std::move(*tried);
    if (std::ranges::none_of(outcomes, may_pass)) break;
  }
  store_.jobs().record(outcomes);
  for (auto const& outcome : outcomes)
    log_outcome(outcome);
  co_return outcomes;
}

asio::awaitable<Result<std::vector<JobOutcome>>> FleetRounds::attempt(
    Fleet& fleet, std::vector<JobKey> const& keys, std::vector<protocol::Job> jobs, int attempt) {
  protocol::Round round{std::move(jobs)};
  for (std::size_t i = 0; i < keys.size(); ++i)
    round.jobs[i].id = keys[i].campaign.name + "/" + std::to_string(keys[i].round) + "." +
                       std::to_string(attempt) + "/" + short_of(keys[i].commit);
  // Whoever is first in every round may have an advantage.
  bool const backwards = keys.front().round % 2 == 1;
  if (backwards) std::ranges::reverse(round.jobs);
  auto answers = co_await run(fleet, std::move(round));
  if (!answers) co_return answers.error();
  if (backwards) std::ranges::reverse(*answers);
  std::vector<JobOutcome> outcomes;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const& outcome = outcomes.emplace_back(outcome_from(keys[i], (*answers)[i], clock_.now()));
    if (!outcome.ok()) log_failure(outcome, attempt, options_.attempts);
  }
  co_return outcomes;
}

/// On one slot after the other, until one keeps its runner.
asio::awaitable<Result<std::vector<protocol::Message>>> FleetRounds::run(Fleet& fleet,
                                                                         protocol::Round round) {
  for (int lost_in_round = 0;;) {
    auto slot = co_await fleet.slot();
    if (!slot) co_return slot.error();
    Slot::OnProgress on_progress = [](protocol::Progress const& progress) {
      spdlog::debug("job_progress job={} phase={}", progress.id, progress.phase);
    };
    auto answers = co_await slot->run(round, std::move(on_progress));
    if (answers) {
      update_alarm(*slot, nullptr);
      co_return std::move(*answers);
    }
    auto const lost = answers.error();
    update_alarm(*slot, &lost);
    if (lost.in_round && ++lost_in_round >= std::max(most_lost_in_a_round, options_.attempts))
      co_return failures_of(round, lost);
  }
}

void FleetRounds::update_alarm(Slot const& slot, Lost const* lost) {
  Alarm alarm;
  alarm.kind = AlarmKind::runner_lost;
  alarm.subject = slot.fleet() + ": slot " + std::to_string(slot.place());
  alarm.raised_at = clock_.now();
  if (lost != nullptr) {
    alarm.detail = lost->reason;
    spdlog::warn("runner_lost slot=\"{}\" reason=\"{}\"", alarm.subject, lost->reason);
  }
  set_alarm(store_, lost != nullptr, alarm);
}

}  // namespace torchwatch::measure
