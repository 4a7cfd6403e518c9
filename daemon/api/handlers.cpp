#include "daemon/api/handlers.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/api/json.h"
#include "daemon/api/pages.h"
#include "daemon/api/time.h"
#include "daemon/web/assets.h"
#include "storage/base/number.h"

namespace torchwatch::api {
namespace {

using http::HttpResponse;

/// Returns the record with the id in the path; nothing if the id is not a number or no record has
/// it.
template <class Id, class Table>
auto find_called(Table table, Call const& call) -> decltype(table.find(Id{})) {
  auto const number = parse_number<std::int64_t>(call.id);
  if (!number) return std::nullopt;
  return table.find(Id{*number});
}

Json in_brief(Nightly const& nightly) {
  Json json;
  json["id"] = nightly.id.value;
  json["date"] = nightly.date;
  json["state"] = to_string(nightly.state);
  json["announced_at"] = iso8601(nightly.announced_at);
  return json;
}

}  // namespace

namespace {

/// {heartbeat_s, last_pass_at, failed_passes, free_mib}.
Json watching_of(HealthState const& health, HealthState::Instant now) {
  using Seconds = std::chrono::duration<double>;
  Json json;
  json["heartbeat_s"] =
      health.heartbeat ? Json(Seconds{now - *health.heartbeat}.count()) : Json(nullptr);
  json["last_pass_at"] = health.last_pass ? Json(iso8601(*health.last_pass)) : Json(nullptr);
  json["failed_passes"] = health.failed_passes;
  json["free_mib"] = health.free_bytes >> 20;
  return json;
}

/// {all, taken, quarantined} by fleet.
Json slots_of(HealthState const& health) {
  auto json = Json::object();
  for (auto const& [fleet, slots] : health.slots)
    json[fleet] = {{"all", slots.all}, {"taken", slots.taken}, {"quarantined", slots.quarantined}};
  return json;
}

}  // namespace

HttpResponse health(View const& view, Call const&) {
  try {
    auto const newest = view.store.nightlies().newest();
    auto const health = view.health.get();
    auto const now = HealthState::Instant::clock::now();
    auto const troubles = troubles_of(health, now);
    Json json;
    json["status"] = troubles.empty() ? "ok" : "failing";
    if (!troubles.empty()) json["troubles"] = troubles;
    json["version"] = view.version;
    json["started_at"] = iso8601(view.started_at);
    json["last_nightly"] = newest ? in_brief(*newest) : Json(nullptr);
    json["watching"] = watching_of(health, now);
    json["isolation"] = health.isolation;
    json["slots"] = slots_of(health);
    auto answer = ok(json);
    if (!troubles.empty()) answer.status = 503;
    return answer;
  } catch (std::exception const& problem) {
    Json json;
    json["status"] = "failing";
    json["troubles"] = {std::string{"the store cannot be read: "} + problem.what()};
    json["version"] = view.version;
    auto answer = ok(json);
    answer.status = 503;
    return answer;
  }
}

HttpResponse readiness(View const& view, Call const&) {
  Json json;
  try {
    view.store.nightlies().newest();
    json["status"] = "ready";
    return ok(json);
  } catch (std::exception const& problem) {
    json["status"] = "not ready";
    json["troubles"] = {std::string{"the store cannot be read: "} + problem.what()};
    auto answer = ok(json);
    answer.status = 503;
    return answer;
  }
}

HttpResponse show_description(View const&, Call const&) {
  return text("application/json", std::string{web::find_asset("openapi.json")->contents});
}

HttpResponse list_nightlies(View const& view, Call const& call) {
  auto nightlies = view.store.nightlies().all();
  std::ranges::reverse(nightlies);
  return paged(call, nightlies, [](Nightly const& nightly) { return json_of(nightly); });
}

HttpResponse show_nightly(View const& view, Call const& call) {
  auto const nightly = find_called<NightlyId>(view.store.nightlies(), call);
  if (!nightly) return unknown_id(call.id);
  auto json = json_of(*nightly);
  json["verdicts"] = Json::array();
  for (auto const& change : view.store.incidents().verdicts(nightly->id))
    json["verdicts"].push_back(json_of(change));
  json["anchored"] = Json::array();
  for (auto const& change : view.store.anchors().verdicts(nightly->id)) {
    auto const anchor =
        view.store.anchors().chosen({change.series.fleet, change.series.benchmark}, nightly->id);
    auto entry = json_of(change);
    entry["anchor"] = anchor ? Json(anchor->value) : Json(nullptr);
    json["anchored"].push_back(std::move(entry));
  }
  json["incidents"] = Json::array();
  for (auto const& incident : view.store.incidents().all_of_nightly(nightly->id))
    json["incidents"].push_back({{"id", incident.id.value}, {"url", url_of(incident.id)}});
  return ok(json);
}

HttpResponse list_bisections(View const& view, Call const& call) {
  auto const show = [&view](Bisection const& bisection) {
    return json_of(bisection, view.store.bisections().count_steps(bisection.id), view.project);
  };
  return paged(call, view.store.bisections().all_in_brief(), show);
}

HttpResponse show_bisection(View const& view, Call const& call) {
  auto const bisection = find_called<BisectionId>(view.store.bisections(), call);
  if (!bisection) return unknown_id(call.id);
  auto json = json_of(*bisection, view.project);
  json["commits"] = Json::array();
  for (auto const& commit : view.store.bisections().commits_of(bisection->id))
    json["commits"].push_back(json_of(commit, view.project));
  return ok(json);
}

HttpResponse list_slots(View const& view, Call const& call) {
  return paged(call, view.store.slots().all(), [](SlotState const& slot) { return json_of(slot); });
}

HttpResponse list_alarms(View const& view, Call const& call) {
  return paged(call, view.store.alarms().all(), [](Alarm const& alarm) { return json_of(alarm); });
}

HttpResponse show_alarm(View const& view, Call const& call) {
  auto const alarm = find_called<AlarmId>(view.store.alarms(), call);
  if (!alarm) return unknown_id(call.id);
  return ok(json_of(*alarm));
}

HttpResponse list_builds(View const& view, Call const& call) {
  auto const listed = builds::builds_with_users(view.store, view.retention, view.clock.now());
  return paged(call, listed, [](builds::BuildWithUsers const& one) { return json_of(one); });
}

HttpResponse show_build(View const& view, Call const& call) {
  for (auto const& listed : builds::builds_with_users(view.store, view.retention, view.clock.now()))
    if (listed.build.name == call.id) return ok(json_of(listed));
  return unknown_id(call.id);
}

HttpResponse list_rulings(View const& view, Call const& call) {
  return paged(
      call, view.store.rulings().all(), [](Ruling const& ruling) { return json_of(ruling); });
}

HttpResponse show_ruling(View const& view, Call const& call) {
  auto const ruling = find_called<RulingId>(view.store.rulings(), call);
  if (!ruling) return unknown_id(call.id);
  return ok(json_of(*ruling));
}

}  // namespace torchwatch::api
