#include <algorithm>
#include <chrono>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/handlers.h"
#include "daemon/api/json.h"
#include "daemon/api/pages.h"
#include "daemon/api/time.h"
#include "storage/domain/words.h"

namespace torchwatch::api {
namespace {

/// Number of nightlies in the response.
constexpr std::size_t shown_nightlies = 7;
/// Number of nightlies among which the last judged one is searched.
constexpr int searched_nightlies = 60;
/// Number of unfinished incidents in the response.
constexpr std::size_t shown_incidents = 20;
/// Bisections of this time before the newest nightly are searched for those that have not ended.
constexpr auto news = std::chrono::days{30};

/// Returns the progress of measuring a nightly, compared with the last judged one, `before`:
/// {processes, expected, expected_end}. The last two are null without a judged nightly.
Json progress_of(storage::Store& store, Nightly const& nightly, Nightly const* before) {
  auto const so_far = store.jobs().extent_of(Campaign::of(nightly.id));
  Json json;
  json["processes"] = so_far ? so_far->processes : 0;
  json["expected"] = nullptr;
  json["expected_end"] = nullptr;
  auto const last_time =
      before == nullptr ? std::nullopt : store.jobs().extent_of(Campaign::of(before->id));
  if (!last_time) return json;
  json["expected"] = last_time->processes;
  if (so_far)
    json["expected_end"] = iso8601(so_far->first_at + (last_time->last_at - last_time->first_at));
  return json;
}

/// `nightlies` has the newest first.
Json nightlies_of(storage::Store& store, std::vector<Nightly> const& nightlies) {
  auto json = Json::array();
  auto const shown = std::min(shown_nightlies, nightlies.size());
  for (auto at = nightlies.begin(); at != nightlies.begin() + static_cast<std::ptrdiff_t>(shown);
       ++at) {
    auto entry = json_of(*at);
    auto const before = std::find_if(at + 1, nightlies.end(), is_judged);
    bool const goes_on = !is_judged(*at) && at->state != NightlyState::failed;
    entry["progress"] =
        goes_on ? progress_of(store, *at, before == nightlies.end() ? nullptr : &*before)
                : Json(nullptr);
    entry["incidents"] = Json::array();
    for (auto const& incident : store.incidents().all_of_nightly(at->id))
      entry["incidents"].push_back(incident.id.value);
    json.push_back(std::move(entry));
  }
  return json;
}

/// Returns the first finding of the newest bisection that has one; null if none has.
Json first_finding_of(std::vector<Bisection> const& bisections, std::string const& project) {
  for (auto const& bisection : std::ranges::reverse_view(bisections))
    if (!bisection.findings.empty()) return json_of(bisection.findings.front(), bisection, project);
  return nullptr;
}

/// Returns {id, headline, state, outcome} of the newest bisection; null without one.
Json newest_of(std::vector<Bisection> const& bisections) {
  if (bisections.empty()) return nullptr;
  auto const& last = bisections.back();
  return {{"id", last.id.value},
          {"headline", words::summary(last).headline},
          {"state", to_string(last.state)},
          {"outcome", last.outcome ? Json(to_string(*last.outcome)) : Json(nullptr)}};
}

Json in_brief(View const& view, Incident const& incident) {
  auto const bisections = view.store.bisections().of_incident_in_brief(incident.id);
  auto const worst = worst_first(incident.changes);
  Json json;
  json["id"] = incident.id.value;
  json["state"] = to_string(incident.state);
  json["date"] = view.store.nightlies().find(incident.nightly).value().date;
  json["opened_at"] = iso8601(incident.opened_at);
  json["series"] = incident.changes.size();
  json["worst"] = worst.empty() ? Json(nullptr) : json_of(worst.front());
  json["bisection"] = newest_of(bisections);
  json["finding"] = first_finding_of(bisections, view.project);
  return json;
}

Json incidents_of(View const& view, std::vector<Incident> const& unfinished) {
  auto json = Json::array();
  auto const shown = std::min(shown_incidents, unfinished.size());
  for (std::size_t at = 0; at < shown; ++at)
    json.push_back(in_brief(view, unfinished[at]));
  return json;
}

Json open_bisections(storage::Store& store, Timestamp since) {
  auto json = Json::array();
  for (auto const id : store.bisections().unfinished_or_since(since)) {
    auto const bisection = store.bisections().find(id);
    if (!bisection || has_ended(bisection->state)) continue;
    Json entry;
    entry["id"] = id.value;
    entry["state"] = to_string(bisection->state);
    entry["incident"] = bisection->incident ? Json(bisection->incident->value) : Json(nullptr);
    entry["steps"] = bisection->steps.size();
    entry["reason"] =
        bisection->steps.empty() ? Json(nullptr) : Json(bisection->steps.back().reason);
    entry["asked_at"] = iso8601(bisection->asked_at);
    json.push_back(std::move(entry));
  }
  return json;
}

/// Returns the open alarms, newest first.
Json open_alarms(storage::Store& store) {
  auto json = Json::array();
  auto alarms = store.alarms().open();
  std::ranges::reverse(alarms);
  for (auto const& alarm : alarms)
    json.push_back(json_of(alarm));
  return json;
}

}  // namespace

http::HttpResponse show_tonight(View const& view, Call const&) {
  auto const nightlies = view.store.nightlies().newest(searched_nightlies);
  auto const unfinished = view.store.incidents().unfinished();
  auto const since = nightlies.empty() ? Timestamp{} : nightlies.front().announced_at - news;
  Json json;
  json["nightlies"] = nightlies_of(view.store, nightlies);
  json["incidents"] = incidents_of(view, unfinished);
  json["unfinished_incidents"] = unfinished.size();
  json["bisections"] = open_bisections(view.store, since);
  json["alarms"] = open_alarms(view.store);
  return ok(json);
}

}  // namespace torchwatch::api
