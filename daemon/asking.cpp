#include "daemon/asking.h"

#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "bisect/git_history.h"

namespace torchwatch {
namespace {

bool is_same(BisectionRequest const& a, BisectionRequest const& b) {
  return a.start == b.start && a.end == b.end && a.series == b.series &&
         a.threshold == b.threshold && a.direction == b.direction && a.prior == b.prior;
}

bool has_ended(Bisection const& bisection) {
  using enum BisectionState;
  return bisection.state == done || bisection.state == failed || bisection.state == cancelled;
}

/// What was to become of a search.
std::string participle(BisectionState wanted) {
  return wanted == BisectionState::queued ? "resumed" : std::string{to_string(wanted)};
}

}  // namespace

Result<Bisection> ask_for_search(storage::Store& store,
                                 config::SourceOptions const& source,
                                 BisectionRequest const& request,
                                 Timestamp now) {
  if (source.repository.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "source.repository is not configured: commits cannot be built here"};
  }
  auto const history = bisect::GitHistory::open(source.repository);
  if (!history) return history.error();
  auto const span = history->commits_between(request.start, request.end);
  if (!span) return span.error();
  if (span->empty()) return Error{ErrorCode::invalid_argument, "start and end are the same commit"};
  for (auto& known : store.bisections().all())
    if (!has_ended(known) && !known.incident && is_same(known.request, request))
      return std::move(known);
  return store.bisections().ask(request, std::nullopt, now);
}

Result<Bisection> steer_search(storage::Store& store, BisectionId id, BisectionState state) {
  auto known = store.bisections().find(id);
  auto const name = "search " + std::to_string(id.value);
  if (!known) return Error{ErrorCode::not_found, name + " is not known"};
  if (has_ended(*known)) {
    return Error{ErrorCode::refused,
                 name + " is " + std::string{to_string(known->state)} +
                     ": only one that has not ended can be " + participle(state)};
  }
  bool const goes_on = known->state == BisectionState::running && state == BisectionState::queued;
  if (goes_on || known->state == state) return std::move(*known);
  store.bisections().set_state(id, state);
  known->state = state;
  spdlog::info("bisection_steered id={} state={}", id.value, to_string(state));
  return std::move(*known);
}

}  // namespace torchwatch
