#include "daemon/cli/incident_text.h"

#include <algorithm>
#include <iostream>
#include <vector>

#include <fmt/format.h>

#include "daemon/api/time.h"
#include "daemon/cli/bisection_text.h"
#include "storage/domain/words.h"

namespace torchwatch::cli {
namespace {

using nlohmann::ordered_json;

/// Returns a word of the API for people: "fix expected".
std::string spaced(std::string word) {
  std::ranges::replace(word, '_', ' ');
  return word;
}

/// Returns the text at `key`; "-" for null.
std::string text_or_dash(ordered_json const& json, char const* key) {
  return json.at(key).is_null() ? "-" : text(json, key);
}

/// "340bc50b898b (#123)"; "-" for null.
std::string culprit_text(ordered_json const& culprit) {
  if (culprit.is_null()) return "-";
  auto const sha = short_sha(culprit.at("sha"));
  auto const& pull_request = culprit.at("pull_request");
  return pull_request.is_null() ? sha : sha + " (#" + pull_request.dump() + ")";
}

/// The name of the worst series, and the number of the others.
std::string worst_series(ordered_json const& changes) {
  auto const name = text(changes.front(), "name");
  return changes.size() == 1 ? name : fmt::format("{} and {} more", name, changes.size() - 1);
}

std::chrono::seconds age_of(ordered_json const& incident, Timestamp now) {
  auto const opened = api::parse_time(text(incident, "opened_at"));
  return now - opened.value_or(now);
}

std::string level_text(ordered_json const& json, char const* key) {
  return json.at(key).is_null() ? "-"
                                : words::level(text(json, "unit"), json.at(key).get<double>());
}

/// Returns the level on the nightly that showed that the series is back; "-" without one.
std::string level_now(ordered_json const& recoveries, ordered_json const& change) {
  for (auto const& recovery : recoveries)
    if (recovery.at("name") == change.at("name") && recovery.at("fleet") == change.at("fleet"))
      return level_text(recovery, "after");
  return "-";
}

void print_changed_series(ordered_json const& incident, std::size_t most) {
  auto const& changes = incident.at("changes");
  std::vector<Row> rows{{"series", "fleet", "change", "before", "after", "now back at"}};
  auto const shown = std::min(most, changes.size());
  for (std::size_t at = 0; at < shown; ++at) {
    auto const& change = changes.at(at);
    rows.push_back({text(change, "name"),
                    text(change, "fleet"),
                    text(change, "headline"),
                    level_text(change, "before"),
                    level_text(change, "after"),
                    level_now(incident.at("recoveries"), change)});
  }
  print_rows(rows);
  if (shown < changes.size())
    std::cout << "and " << changes.size() - shown << " more (--most " << changes.size() << ")\n";
}

/// Returns what a message publishes: "comment".
std::string part_of_report(std::string const& action) {
  if (action == "open_issue") return "report";
  if (action == "edit_body") return "description";
  if (action == "close_completed") return "closing as completed";
  if (action == "close_not_planned") return "closing as not planned";
  if (action == "reopen") return "reopening";
  return spaced(action);
}

/// "github: report", "github: comment (waiting: no route to host)".
std::string message_text(ordered_json const& message) {
  auto words = text(message, "destination") + ": " + part_of_report(text(message, "action"));
  auto const progress = text(message, "progress");
  if (progress == "sent") return words;
  words += " (" + spaced(progress);
  if (!message.at("failure").is_null()) words += ": " + text(message, "failure");
  return words + ")";
}

std::string messages_text(ordered_json const& messages) {
  std::string all;
  for (auto const& message : messages)
    all += (all.empty() ? "" : ", ") + message_text(message);
  return all.empty() ? "-" : all;
}

/// "2026-11-28 07:27".
std::string event_minute(std::string const& time) {
  return time.substr(0, 10) + " " + time.substr(11, 5);
}

void print_timeline(ordered_json const& timeline) {
  if (timeline.empty()) {
    std::cout << "No event yet: it is not known yet whether it belongs to an earlier incident.\n";
    return;
  }
  std::vector<Row> rows{{"time (UTC)", "event", "commit", "published", "detail"}};
  for (auto const& event : timeline) {
    auto const& commit = event.at("commit");
    rows.push_back({event_minute(text(event, "at")),
                    text(event, "headline"),
                    commit.is_null() ? "-" : short_sha(commit.at("sha")),
                    messages_text(event.at("messages")),
                    text_or_dash(event, "detail")});
  }
  print_rows(rows);
}

void print_culprit(ordered_json const& culprit) {
  if (culprit.is_null())
    std::cout << "culprit:   not known\n";
  else
    std::cout << "culprit:   " << culprit_text(culprit) << " " << text(culprit, "subject") << '\n';
}

}  // namespace

Row head_of_incidents() {
  return {"id", "nightly", "state", "age", "worst", "of", "culprit", "report"};
}

Row row_of_incident(ordered_json const& incident, Timestamp now) {
  auto const& changes = incident.at("changes");
  return {incident.at("id").dump(),
          text(incident.at("nightly"), "date"),
          spaced(text(incident, "state")),
          age_text(age_of(incident, now)),
          changes.empty() ? "-" : text(changes.front(), "headline"),
          changes.empty() ? "-" : worst_series(changes),
          culprit_text(incident.at("culprit")),
          text_or_dash(incident, "report")};
}

std::string age_text(std::chrono::seconds age) {
  using namespace std::chrono;
  if (age < minutes{1}) return "0 min";
  if (age < hours{1}) return fmt::format("{} min", duration_cast<minutes>(age).count());
  if (age < days{2}) return fmt::format("{} h", duration_cast<hours>(age).count());
  return fmt::format("{} days", duration_cast<days>(age).count());
}

void print_incident(ordered_json const& incident, Timestamp now, std::size_t most) {
  std::cout << "incident " << incident.at("id").dump() << ": " << text(incident, "headline") << '\n'
            << "state:     " << spaced(text(incident, "state")) << ", opened "
            << event_minute(text(incident, "opened_at")) << " UTC ("
            << age_text(age_of(incident, now)) << " ago)\n"
            << "nightlies: " << text(incident.at("baseline"), "date") << " (baseline), "
            << text(incident.at("nightly"), "date") << '\n';
  print_culprit(incident.at("culprit"));
  std::cout << "report:    " << text_or_dash(incident, "report") << "\n\n";
  print_changed_series(incident, most);
  std::cout << '\n';
  print_timeline(incident.at("timeline"));
}

}  // namespace torchwatch::cli
