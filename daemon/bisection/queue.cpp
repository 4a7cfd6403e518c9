#include "daemon/bisection/queue.h"

#include <algorithm>
#include <string>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>

#include "bisect/git/history.h"
#include "daemon/bisection/nightly_range.h"

namespace torchwatch::bisection {
namespace asio = boost::asio;

namespace {

void log_failure(std::string const& name, std::exception_ptr const& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (std::exception const& problem) {
    spdlog::error("bisection_failed {} reason=\"{}\"", name, problem.what());
  }
}

bool is_same(BisectionRequest const& a, BisectionRequest const& b) {
  return a.start == b.start && a.end == b.end && a.series == b.series &&
         a.threshold == b.threshold && a.direction == b.direction && a.prior == b.prior;
}

/// True when it named a merge that another bisection searches.
bool names_searched_merge(Bisection const& bisection) {
  return std::ranges::any_of(
      bisection.findings, [](Finding const& finding) { return finding.searched_by.has_value(); });
}

/// Returns the requested change in words.
std::string participle(BisectionState wanted) {
  return wanted == BisectionState::queued ? "resumed" : std::string{to_string(wanted)};
}

}  // namespace

/// Registers a running bisection, with a way to stop it, until it ends or throws.
class Queue::Running {
 public:
  Running(Queue& queue, BisectionId id)
      : all_{queue.running_},
        id_{id.value},
        task_{all_.try_emplace(id_, queue.executor_).first->second} {}

  Running(Running const&) = delete;
  Running& operator=(Running const&) = delete;

  ~Running() { all_.erase(id_); }

  async::Stoppable& task() const { return task_.stoppable; }

 private:
  std::map<std::int64_t, Task>& all_;
  std::int64_t id_;
  Task& task_;
};

Queue::Queue(asio::any_io_executor executor,
             config::SourceOptions const& source,
             storage::Store& store,
             Clock const& clock,
             builds::GitFetch& git_fetch,
             Bisector& bisector)
    : source_{source},
      store_{store},
      clock_{clock},
      git_fetch_{git_fetch},
      bisector_{bisector},
      executor_{executor},
      group_{std::move(executor), log_failure} {}

asio::awaitable<Result<Bisection>> Queue::ask(BisectionOrder order) {
  auto const& [request, asked_for] = order;
  auto const span = co_await span_of(request);
  if (!span) co_return span.error();
  if (span->empty())
    co_return Error{ErrorCode::invalid_argument, "start and end are the same commit"};
  auto const incident = adopted_by(asked_for);
  for (auto& known : store_.bisections().not_ended())
    if (known.incident == incident && is_same(known.request, request)) co_return std::move(known);
  co_return store_.bisections().ask(request, incident, clock_.now());
}

/// Returns the commits between the ends of a request.
asio::awaitable<Result<std::vector<Commit>>> Queue::span_of(BisectionRequest request) {
  if (source_.repository.empty())
    co_return nightlies_between(store_.nightlies().all(), request.start, request.end);
  std::vector<CommitSha> ends{request.start, request.end};
  auto const fetched = co_await git_fetch_.ensure(std::move(ends));
  if (!fetched) co_return fetched.error();
  auto const history = bisect::GitHistory::open(source_.repository);
  if (!history) co_return history.error();
  auto const lineage = history->lineage(request.start, request.end);
  if (!lineage) co_return lineage.error();
  auto way = bisect::way_along(*lineage);
  co_return std::move(way.suspects);
}

Result<Bisection> Queue::steer(BisectionId id, BisectionState state) {
  auto known = store_.bisections().find(id);
  auto const name = "bisection " + std::to_string(id.value);
  if (!known) return Error{ErrorCode::not_found, name + " is not known"};
  if (has_ended(known->state)) {
    return Error{ErrorCode::refused,
                 name + " is " + std::string{to_string(known->state)} +
                     ": only one that has not ended can be " + participle(state)};
  }
  bool const goes_on = known->state == BisectionState::running && state == BisectionState::queued;
  if (!goes_on && known->state != state) {
    store_.bisections().set_state(id, state);
    known->state = state;
    spdlog::info("bisection_steered id={} state={}", id.value, to_string(state));
  }
  obey(*known);
  return std::move(*known);
}

void Queue::obey(Bisection const& bisection) {
  if (is_active(bisection.state)) {
    start();
    return;
  }
  auto const running = running_.find(bisection.id.value);
  if (running != running_.end()) running->second.stoppable.stop();
}

asio::awaitable<Result<Bisection>> Queue::run(BisectionId id) {
  co_await end_of(id);
  auto bisection = store_.bisections().find(id).value();
  if (!is_active(bisection.state)) co_return bisection;
  Running const running{*this, id};
  co_return co_await carry(running, std::move(bisection));
}

/// Returns when the bisection does not run. The wait of a caller that is cancelled throws.
asio::awaitable<void> Queue::end_of(BisectionId id) {
  for (auto task = running_.find(id.value); task != running_.end(); task = running_.find(id.value))
    co_await task->second.ended.async_wait(asio::as_tuple(asio::use_awaitable));
}

void Queue::start() {
  for (auto& bisection : store_.bisections().unfinished()) {
    auto const id = bisection.id.value;
    if (running_.contains(id) || is_for_the_pipeline(bisection)) continue;
    auto running = std::make_shared<Running const>(*this, bisection.id);
    group_.spawn("id=" + std::to_string(id), run_alone(std::move(bisection), std::move(running)));
  }
}

asio::awaitable<void> Queue::end() {
  group_.cancel();
  co_await group_.join();
}

asio::awaitable<void> Queue::run_alone(Bisection bisection,
                                       std::shared_ptr<Running const> running) {
  auto const id = bisection.id.value;
  auto const done = co_await carry(*running, std::move(bisection));
  if (!done) spdlog::error("bisection_failed id={} reason=\"{}\"", id, done.error().message);
  if (done && names_searched_merge(*done)) start();
}

/// Runs a bisection. One that is resumed before it has stopped runs again, from what is stored.
asio::awaitable<Result<Bisection>> Queue::carry(Running const& running, Bisection bisection) {
  auto const id = bisection.id;
  while (true) {
    auto task = bisector_.run(std::move(bisection));
    auto const ended = co_await running.task().run(std::move(task));
    bisection = store_.bisections().find(id).value();
    if (!is_active(bisection.state)) co_return bisection;
    if (ended && !*ended) co_return ended->error();
  }
}

/// True when the nightly of the incident is not bisected yet.
bool Queue::is_in_the_pipeline(IncidentId id) const {
  auto const incident = store_.incidents().find(id);
  auto const nightly = incident ? store_.nightlies().find(incident->nightly) : std::nullopt;
  return nightly &&
         (nightly->state == NightlyState::screened || nightly->state == NightlyState::confirmed);
}

/// Returns the incident of a new bisection. The first of an incident is the pipeline's own: an
/// earlier request belongs to none.
std::optional<IncidentId> Queue::adopted_by(std::optional<IncidentId> incident) const {
  if (!incident || !is_in_the_pipeline(*incident)) return incident;
  bool const is_first = store_.bisections().of_incident_in_brief(*incident).empty();
  return is_first ? std::nullopt : incident;
}

/// True when its incident's nightly waits for it: the first bisection and those into merges, but
/// not further requests of users.
bool Queue::is_for_the_pipeline(Bisection const& bisection) const {
  if (!bisection.incident || !is_in_the_pipeline(*bisection.incident)) return false;
  if (bisection.inside) return true;
  auto const of_incident = store_.bisections().of_incident_in_brief(*bisection.incident);
  return of_incident.front().id == bisection.id;
}

}  // namespace torchwatch::bisection
