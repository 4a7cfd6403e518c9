#include "daemon/nightly/pipeline.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "bisect/compare/baseline.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

namespace {

constexpr std::chrono::hours longest_wait{24};

/// True when the report waits for a bisection. A user may have requested another one meanwhile,
/// whose result belongs in the report. A paused one may stay so, and a long one may never end:
/// their results are added to the report later.
bool is_searched(storage::Store& store, Incident const& incident, Timestamp now) {
  return now - incident.opened_at < longest_wait &&
         std::ranges::any_of(store.bisections().of_incident_in_brief(incident.id),
                             [](Bisection const& search) { return is_active(search.state); });
}

/// True when a nightly that cannot be judged now does not delay later ones: a missing edition of a
/// nightly that has ended.
bool waits_alone(storage::Store& store, Nightly const& nightly) {
  return nightly.state == NightlyState::announced &&
         bisect::is_edition(nightly, store.nightlies().all());
}

}  // namespace

asio::awaitable<Result<>> Pipeline::pass() {
  auto const looked = co_await announcer_.look();
  alarms_.check_feed(announcer_.odd(), announcer_.newer());
  // A kill may have come between the state and its alarm.
  check_end();
  // Findings are published even if later nightlies fail.
  auto published = co_await publish_all();
  co_await publish_updates();
  Result<> all_came;
  std::set<NightlyId> waiting;
  while (auto nightly = store_.nightlies().next_unfinished(waiting)) {
    auto const judged = co_await stages_.judge(*nightly);
    alarms_.check_wait(*nightly);
    if (!judged && !waits_alone(store_, *nightly)) co_return judged.error();
    if (!judged) {
      all_came = judged;
      waiting.insert(nightly->id);
      continue;
    }
    check_end();
    published = co_await publish_all();
  }
  if (!store_.incidents().pending_corrections().empty()) co_await publish_updates();
  if (!looked) co_return looked.error();
  co_return all_came ? published : all_came;
}

/// Checks only the newest nightly: a late one has no news.
void Pipeline::check_end() {
  if (auto const last = store_.nightlies().last_ended()) alarms_.check_end(*last);
}

asio::awaitable<Result<>> Pipeline::publish_all() {
  Result<> all_published;
  for (auto& nightly : store_.nightlies().unpublished()) {
    auto incident = store_.incidents().of_nightly(nightly.id);
    if (!incident) move_to(store_, nightly, NightlyState::done);  // a later edition took its place
    if (!incident || is_searched(store_, *incident, clock_.now())) continue;
    auto const published = co_await publisher_.publish(std::move(*incident));
    if (published)
      move_to(store_, nightly, NightlyState::done);
    else
      all_published = within("publish the incident of " + nightly.date, published.error());
  }
  co_return all_published;
}

/// Publishes later results of bisections and editions. A failure here hides no incident, so it
/// fails no pass and raises an alarm.
asio::awaitable<void> Pipeline::publish_updates() {
  std::vector<std::string> failures;
  for (auto& bisection : store_.bisections().pending_updates()) {
    auto const id = bisection.id;
    auto const published = co_await publisher_.publish_update(std::move(bisection));
    if (published) continue;
    spdlog::warn(
        "report_update_failed bisection={} reason=\"{}\"", id.value, published.error().message);
    failures.push_back(fmt::format("bisection {}: {}", id.value, published.error().message));
  }
  for (auto& incident : store_.incidents().pending_corrections()) {
    auto const id = incident.id;
    auto const published = co_await publisher_.publish_correction(std::move(incident));
    if (published) continue;
    auto const failure = fmt::format("incident {}: {}", id.value, published.error().message);
    spdlog::warn("report_correction_failed reason=\"{}\"", failure);
    failures.push_back(failure);
  }
  alarms_.check_report_updates(failures);
}

}  // namespace torchwatch::nightly
