#include "daemon/asking.h"

#include "bisect/git_history.h"

namespace torchwatch {
namespace {

bool is_same(BisectionRequest const& a, BisectionRequest const& b) {
  return a.start == b.start && a.end == b.end && a.series == b.series &&
         a.threshold == b.threshold && a.direction == b.direction;
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
    if (known.state != BisectionState::done && known.state != BisectionState::failed &&
        !known.incident && is_same(known.request, request))
      return std::move(known);
  return store.bisections().ask(request, std::nullopt, now);
}

}  // namespace torchwatch
