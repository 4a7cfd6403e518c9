#include "daemon/nightly/investigation.h"

#include <utility>

#include "daemon/nightly/operator_profile.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

asio::awaitable<Result<>> Investigation::run(Nightly const& nightly) {
  auto incident = store_.incidents().of_nightly(nightly.id).value();
  auto const bisected = co_await bisect(incident);
  if (!bisected) co_return bisected.error();
  co_return co_await profile_incident(store_, rounds_, std::move(incident));
}

asio::awaitable<Result<>> Investigation::bisect(Incident const& incident) {
  if (options_.source.repository.empty()) co_return Result<>{};
  auto const start = store_.nightlies().find(incident.baseline).value().commit;
  auto const end = store_.nightlies().find(incident.nightly).value().commit;
  BisectionRequest request{start, end, {}, options_.decide.threshold, {}, options_.bisect.prior};
  for (auto const& change : incident.changes)
    request.series.push_back(change.series);
  auto bisections = store_.bisections().of_incident(incident.id);
  if (bisections.empty())
    bisections.push_back(store_.bisections().ask(request, incident.id, clock_.now()));
  auto first = bisections.front();
  if (!is_active(first.state)) co_return Result<>{};
  auto const done = co_await queue_.run(std::move(first));
  if (!done) co_return done.error();
  co_return Result<>{};
}

}  // namespace torchwatch::nightly
