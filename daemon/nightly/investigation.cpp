#include "daemon/nightly/investigation.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "daemon/bisection/earlier_answers.h"
#include "daemon/bisection/nightly_range.h"
#include "daemon/nightly/operator_profile.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

asio::awaitable<Result<>> Investigation::run(Nightly const& nightly) {
  auto const incidents = store_.incidents().all_of_nightly(nightly.id);
  for (auto const& incident : incidents) {
    auto const bisected = co_await bisect(incident, nightly);
    if (!bisected) co_return bisected.error();
  }
  // Others were profiled on their own nightlies.
  for (auto const& incident : incidents)
    if (incident.nightly == nightly.id)
      co_return co_await profile_incident(store_, rounds_, incident);
  co_return Result<>{};
}

/// True when a regression of the nightly belongs to the incident: as one of its later series, or
/// because the incident is that of the nightly and no other one has the regression.
bool Investigation::has_regression(Incident const& incident,
                                   Nightly const& nightly,
                                   Series const& series) const {
  auto const added = store_.incidents().added_series(nightly.id);
  if (auto const found = added.find(series); found != added.end())
    return found->second == incident.id;
  bool const has_others_alone =
      std::ranges::any_of(added, [&](auto const& one) { return one.second == incident.id; });
  return incident.nightly == nightly.id || !has_others_alone;
}

/// True when the range can be narrowed. Without a repository, that takes a nightly in between.
bool Investigation::can_be_narrowed(CommitSha const& start, CommitSha const& end) const {
  if (!options_.source.repository.empty()) return true;
  auto const nights = bisection::nightlies_between(store_.nightlies().all(), start, end);
  return nights && nights->size() > 1;
}

/// Runs one bisection after the other: first the one from the incident's baseline, last those into
/// merges.
asio::awaitable<Result<>> Investigation::bisect(Incident const& incident, Nightly const& nightly) {
  auto const requests = requests_for(incident, nightly);
  for (auto const& request : requests) {
    if (!can_be_narrowed(request.start, request.end)) continue;
    auto const bisected = co_await bisect(incident.id, request);
    if (!bisected) co_return bisected.error();
  }
  co_return co_await bisect_merges(incident.id);
}

/// Runs the bisections into merges. Each merge that a bisection named has one in the queue. It may
/// name another merge, whose bisection follows.
asio::awaitable<Result<>> Investigation::bisect_merges(IncidentId incident) {
  auto next = next_into_merge(incident, {});
  while (next) {
    auto const id = next->id;
    auto const carried = co_await carry(id);
    if (!carried) co_return carried.error();
    next = next_into_merge(incident, id);
  }
  co_return Result<>{};
}

std::optional<Bisection> Investigation::next_into_merge(IncidentId incident,
                                                        BisectionId last) const {
  for (auto& bisection : store_.bisections().of_incident(incident))
    if (bisection.inside && bisection.id > last && is_active(bisection.state))
      return std::move(bisection);
  return std::nullopt;
}

/// Returns one request per baseline commit. A longer range for all would find changes that earlier
/// nightlies reported.
std::vector<BisectionRequest> Investigation::requests_for(Incident const& incident,
                                                          Nightly const& nightly) const {
  auto const older = store_.baselines().of(nightly.id);
  std::vector<BisectionRequest> requests;
  for (auto const& [series, comparison, muted] : store_.incidents().verdicts(nightly.id)) {
    if (comparison.verdict != Verdict::regression || muted) continue;
    if (!has_regression(incident, nightly, series)) continue;
    auto const own = older.find(series);
    auto const baseline = own == older.end() ? nightly.baseline.value() : own->second;
    auto const start = store_.nightlies().find(baseline).value().commit;
    auto request = std::ranges::find(requests, start, &BisectionRequest::start);
    if (request == requests.end()) {
      auto const place = baseline == incident.baseline ? requests.begin() : requests.end();
      BisectionRequest const one{
          start, nightly.commit, {}, options_.decide.threshold, {}, options_.bisect.prior};
      request = requests.insert(place, one);
    }
    request->series.push_back(series);
  }
  return requests;
}

asio::awaitable<Result<>> Investigation::bisect(IncidentId incident, BisectionRequest request) {
  auto bisections = store_.bisections().of_incident(incident);
  auto known = std::ranges::find_if(bisections, [&](Bisection const& one) {
    return !one.inside && one.request.start == request.start && one.request.end == request.end;
  });
  if (known == bisections.end()) {
    request.series = bisection::series_without_answer(request, bisections, options_.source);
    if (request.series.empty()) co_return Result<>{};
    known = bisections.insert(known, store_.bisections().ask(request, incident, clock_.now()));
  }
  if (!is_active(known->state)) co_return Result<>{};
  co_return co_await carry(known->id);
}

/// Runs a bisection until it ends, is paused or cancelled by a user, or is given up.
asio::awaitable<Result<>> Investigation::carry(BisectionId id) {
  auto const done = co_await queue_.run(id);
  co_return done ? Result<>{} : patient(id, done.error());
}

/// Waits at most a day for a bisection that cannot continue, since its report and later nightlies
/// wait for it. After a day, gives up a bisection without any step. One with steps that lacks
/// builds or its fleet continues alone, and its findings are added to the report. The record stays,
/// so that a kill before the nightly's state is stored does not start another day. A host that
/// cannot start any program is not counted.
Result<> Investigation::patient(BisectionId id, Error const& problem) {
  if (problem.code != ErrorCode::unavailable || problem.is_of_host) return problem;
  auto const subject = "bisection " + std::to_string(id.value);
  if (!is_over(store_.retries().note(subject, clock_.now(), problem.message))) return problem;
  auto bisection = store_.bisections().find(id).value();
  if (bisection.steps.empty()) give_up(std::move(bisection), problem);
  return {};
}

/// The reason goes only to the log, since reports show no paths of the host.
void Investigation::give_up(Bisection bisection, Error const& problem) {
  spdlog::warn("bisection_given_up id={} reason=\"{}\"", bisection.id.value, problem.message);
  bisection.state = BisectionState::failed;
  bisection.failure =
      "it could not begin for a day; the service's log shows why (bisection_given_up)";
  store_.bisections().update(bisection);
}

}  // namespace torchwatch::nightly
