#include "daemon/nightly/pipeline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

namespace torchwatch::nightly {
namespace asio = boost::asio;

namespace {

std::optional<Nightly> last_judged(storage::Store& store) {
  auto nightlies = store.nightlies().all();
  auto const last =
      std::ranges::find_if(nightlies.rbegin(), nightlies.rend(), has_ended, &Nightly::state);
  if (last == nightlies.rend()) return std::nullopt;
  return std::move(*last);
}

/// Whether a search of it goes on: somebody asked for another one meanwhile. What it finds belongs
/// into the report. One that is paused may be so for good; what it finds is told later.
bool is_searched(storage::Store& store, Incident const& incident) {
  return std::ranges::any_of(store.bisections().of_incident_in_brief(incident.id),
                             [](Bisection const& search) { return is_active(search.state); });
}

}  // namespace

asio::awaitable<Result<>> Pipeline::pass() {
  auto const looked = co_await announcer_.look();
  alarms_.look_at_feed(announcer_.odd());
  // A kill may have come between the state and its alarm.
  if (auto const last = last_judged(store_)) alarms_.look_at_end(*last);
  // What is found is told, whatever becomes of the nights after it.
  auto published = co_await publish_all();
  co_await tell_all();
  while (auto nightly = store_.nightlies().next_unfinished()) {
    auto const judged = co_await stages_.judge(*nightly);
    if (!judged) co_return judged.error();
    alarms_.look_at_end(*nightly);
    published = co_await publish_all();
  }
  co_return looked ? published : looked;
}

asio::awaitable<Result<>> Pipeline::publish_all() {
  Result<> all_published;
  for (auto& nightly : store_.nightlies().unpublished()) {
    auto incident = store_.incidents().of_nightly(nightly.id).value();
    if (is_searched(store_, incident)) continue;
    auto const published = co_await publisher_.publish(std::move(incident));
    if (published)
      move_to(store_, nightly, NightlyState::done);
    else
      all_published = within("publish the incident of " + nightly.date, published.error());
  }
  co_return all_published;
}

/// Nobody misses an incident where this fails, so it fails no pass.
asio::awaitable<void> Pipeline::tell_all() {
  for (auto& bisection : store_.bisections().untold()) {
    auto const id = bisection.id;
    auto const told = co_await publisher_.tell(std::move(bisection));
    if (!told)
      spdlog::warn("tell_failed bisection={} reason=\"{}\"", id.value, told.error().message);
  }
}

}  // namespace torchwatch::nightly
