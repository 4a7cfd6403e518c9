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
  auto incident = store_.incidents().of_nightly(nightly.id).value();
  auto const bisected = co_await bisect(incident, nightly);
  if (!bisected) co_return bisected.error();
  if (incident.nightly != nightly.id) co_return Result<>{};  // the first edition's is profiled
  co_return co_await profile_incident(store_, rounds_, std::move(incident));
}

/// Without a repository there are only nightlies, and nothing to ask when none lies between.
bool Investigation::can_be_narrowed(CommitSha const& start, CommitSha const& end) const {
  if (!options_.source.repository.empty()) return true;
  auto const nights = bisection::nightlies_between(store_.nightlies().all(), start, end);
  return nights && nights->size() > 1;
}

/// One after the other, the one from the incident's baseline first, those into merges last.
asio::awaitable<Result<>> Investigation::bisect(Incident const& incident, Nightly const& nightly) {
  auto const requests = requests_for(incident, nightly);
  for (auto const& request : requests) {
    if (!can_be_narrowed(request.start, request.end)) continue;
    auto const bisected = co_await bisect(incident.id, request);
    if (!bisected) co_return bisected.error();
  }
  co_return co_await bisect_merges(incident.id);
}

/// Those that ended before left one in the queue for each merge that they named. It may name
/// another merge, whose bisection comes after it.
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

/// One for all series that were compared with builds of one commit: a longer range would find again
/// what was reported on the nights between.
std::vector<BisectionRequest> Investigation::requests_for(Incident const& incident,
                                                          Nightly const& nightly) const {
  auto const older = store_.baselines().of(nightly.id);
  std::vector<BisectionRequest> requests;
  for (auto const& [series, comparison, muted] : store_.incidents().verdicts(nightly.id)) {
    if (comparison.verdict != Verdict::regression || muted) continue;
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

/// To its end, to where a user paused or cancelled it, or to where it is given up.
asio::awaitable<Result<>> Investigation::carry(BisectionId id) {
  auto const done = co_await queue_.run(id);
  co_return done ? Result<>{} : patient(id, done.error());
}

/// Waits a day for a bisection that cannot go on, since its report and the nightlies after it wait
/// for it. One that took no step is given up then. One that did, and lacks builds or its fleet,
/// goes on by itself, and what it finds is added to the report. The record stays, so that a kill
/// before the nightly's state is stored does not begin another day. Of a host that can start no
/// program nothing is counted.
Result<> Investigation::patient(BisectionId id, Error const& problem) {
  if (problem.code != ErrorCode::unavailable || problem.is_of_host) return problem;
  auto const subject = "bisection " + std::to_string(id.value);
  if (!is_over(store_.retries().note(subject, clock_.now(), problem.message))) return problem;
  auto bisection = store_.bisections().find(id).value();
  if (bisection.steps.empty()) give_up(std::move(bisection), problem);
  return {};
}

/// The reason goes to the log alone, since reports show no path of the host.
void Investigation::give_up(Bisection bisection, Error const& problem) {
  spdlog::warn("bisection_given_up id={} reason=\"{}\"", bisection.id.value, problem.message);
  bisection.state = BisectionState::failed;
  bisection.failure =
      "it could not begin for a day; the service's log says why (bisection_given_up)";
  store_.bisections().update(bisection);
}

}  // namespace torchwatch::nightly
