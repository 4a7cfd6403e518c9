#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "daemon/api/handlers.h"
#include "daemon/api/json.h"
#include "daemon/api/pages.h"
#include "daemon/api/time.h"
#include "github/filed.h"
#include "github/life_story.h"
#include "storage/base/number.h"

namespace torchwatch::api {
namespace {

constexpr std::array all_states{IncidentState::open,
                                IncidentState::explained,
                                IncidentState::fix_expected,
                                IncidentState::fixed,
                                IncidentState::partly_fixed,
                                IncidentState::returned,
                                IncidentState::accepted,
                                IncidentState::false_alarm,
                                IncidentState::stale};

std::string names_of_states() {
  std::vector<std::string_view> names;
  for (auto const state : all_states)
    names.push_back(to_string(state));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Returns the states that a query requests, "open,explained"; all without the parameter. Another
/// word is added to `errors`.
std::vector<IncidentState> states_of(Query const& query, std::vector<http::FieldError>& errors) {
  auto const given = query.find("state");
  if (given == query.end()) return {all_states.begin(), all_states.end()};
  std::vector<IncidentState> states;
  std::string_view left = given->second;
  while (true) {
    auto const word = left.substr(0, left.find(','));
    auto const state = parse_incident_state(word);
    if (!state) {
      errors.push_back({"state",
                        fmt::format("found \"{}\", allowed are states separated by commas: {}",
                                    word.substr(0, 60),
                                    names_of_states())});
      return {};
    }
    states.push_back(*state);
    if (word.size() == left.size()) return states;
    left.remove_prefix(word.size() + 1);
  }
}

Json listed_incident(View const& view, Incident const& incident) {
  auto nightlies = view.store.nightlies();
  auto json = json_of(incident,
                      nightlies.find(incident.baseline).value(),
                      nightlies.find(incident.nightly).value());
  json["culprit"] =
      culprit_of(view.store.bisections().of_incident_in_brief(incident.id), view.project);
  return json;
}

/// "sent", "given_up" or "waiting".
std::string_view progress_word(OutboxEntry const& entry) {
  if (!entry.done_at) return "waiting";
  return entry.failure.empty() ? "sent" : "given_up";
}

Json time_or_null(std::optional<Timestamp> const& time) {
  return time ? Json(iso8601(*time)) : Json(nullptr);
}

Json text_or_null(std::string const& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json message_json(OutboxEntry const& entry) {
  Json json;
  json["id"] = entry.message.id;
  json["destination"] = entry.message.destination;
  json["action"] = to_string(entry.message.action);
  json["progress"] = progress_word(entry);
  json["done_at"] = time_or_null(entry.done_at);
  json["place"] = text_or_null(entry.place);
  json["attempts"] = entry.attempts;
  json["next_at"] = time_or_null(entry.done_at ? std::nullopt : entry.next_at);
  json["failure"] = text_or_null(entry.failure);
  return json;
}

/// {id, url, date}.
Json nightly_in_brief(IncidentStory const& story, NightlyId nightly) {
  return {{"id", nightly.value},
          {"url", url_of(nightly)},
          {"date", text_or_null(github::date_in(story, nightly))}};
}

/// {sha, url}. The URL is null without a project.
Json named_commit(CommitSha const& commit, std::string const& project) {
  if (commit.hex.empty()) return nullptr;
  Json json{{"sha", commit.hex}};
  json["url"] = project.empty() ? Json(nullptr) : Json(project + "/commit/" + commit.hex);
  return json;
}

Json event_json(IncidentStory const& story,
                IncidentEvent const& event,
                std::string const& project) {
  Json json;
  json["id"] = event.id;
  json["kind"] = to_string(event.kind);
  json["state"] = to_string(event.state);
  json["at"] = iso8601(event.at);
  json["headline"] = github::headline_of(story, event);
  json["nightly"] = event.nightly ? nightly_in_brief(story, *event.nightly) : Json(nullptr);
  json["commit"] = named_commit(event.commit, project);
  json["detail"] = text_or_null(event.detail);
  json["bisections"] = Json::array();
  for (auto const bisection : event.bisections)
    json["bisections"].push_back(bisection.value);
  return json;
}

/// Returns the events of an incident, oldest first, each with its messages.
Json timeline_of(View const& view, IncidentStory const& story) {
  auto const messages = view.store.outbox().of(story.incident.id);
  auto timeline = Json::array();
  for (auto const& event : story.events) {
    auto json = event_json(story, event, view.project);
    json["messages"] = Json::array();
    for (auto const& entry : messages)
      if (entry.message.event == event.id) json["messages"].push_back(message_json(entry));
    timeline.push_back(std::move(json));
  }
  return timeline;
}

/// Returns the comparisons of the series that are back, each with its nightly.
Json recoveries_of(IncidentStory const& story) {
  auto recoveries = Json::array();
  for (auto const& [series, nightly, comparison] : story.recoveries) {
    auto json = json_of(series);
    json.update(json_of(comparison, series.metric));
    json["nightly"] = nightly_in_brief(story, nightly);
    recoveries.push_back(std::move(json));
  }
  return recoveries;
}

http::HttpResponse as_filed(View const& view, Incident const& incident) {
  auto report = github::filed_report(view.store.outbox().of(incident.id));
  if (report.empty())
    return http::problem(404,
                         fmt::format("incident {}: found no report that was sent; its timeline at "
                                     "{} lists what waits, and why",
                                     incident.id.value,
                                     url_of(incident.id)));
  return text("text/markdown; charset=utf-8", std::move(report));
}

}  // namespace

http::HttpResponse list_incidents(View const& view, Call const& call) {
  std::vector<http::FieldError> errors;
  auto const states = states_of(call.query, errors);
  if (!errors.empty()) return bad_query(errors);
  auto incidents = view.store.incidents().all();
  std::erase_if(incidents, [&](Incident const& incident) {
    return std::ranges::find(states, incident.state) == states.end();
  });
  return paged(call, incidents, [&](Incident const& one) { return listed_incident(view, one); });
}

http::HttpResponse show_incident(View const& view, Call const& call) {
  auto const number = parse_number<std::int64_t>(call.id);
  if (!number) return unknown_id(call.id);
  auto const incident = view.store.incidents().find(IncidentId{*number});
  if (!incident) return unknown_id(call.id);
  std::vector<http::FieldError> errors;
  auto const format = format_of(call.query, {"json", "markdown"}, errors);
  if (!errors.empty()) return bad_query(errors);
  if (format == "markdown") return as_filed(view, *incident);
  auto const story = storage::story_of(view.store, *incident);
  auto json = json_of(story, view.project);
  json["recoveries"] = recoveries_of(story);
  json["timeline"] = timeline_of(view, story);
  return ok(json);
}

}  // namespace torchwatch::api
