#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "daemon/api/json.h"
#include "daemon/cli/api_client.h"
#include "daemon/cli/bisection_text.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/incident_text.h"
#include "daemon/cli/terminal.h"
#include "http/url.h"
#include "storage/domain/words.h"

// Tables of records, read from the configured database or from a running service.
namespace torchwatch::cli {
namespace {

using nlohmann::ordered_json;

/// The options of the commands that read.
struct RecordsFlags {
  std::string id;     ///< ID of one record; empty: all
  std::string state;  ///< states of incidents, separated by commas; empty: all
  std::string fleet;
  std::size_t most = 20;
  std::string server;
  std::string token_file;
  bool as_markdown = false;  ///< print the report on an incident as it was filed
  bool as_json = false;
};

/// Returns the text at `key`; "-" for null.
std::string word(ordered_json const& json, char const* key) {
  return json.at(key).is_string() ? text(json, key) : "-";
}

std::string minute(ordered_json const& json, char const* key) {
  auto const time = word(json, key);
  return time == "-" ? time : time.substr(0, 10) + " " + time.substr(11, 5);
}

/// Returns a level with its unit; "-" for null. The API names the unit, because a server may have
/// metrics that are not declared here.
std::string level(std::string const& unit, ordered_json const& value) {
  return value.is_null() ? "-" : words::level(unit, value.get<double>());
}

/// Prints a table of at most `most` items, and the number of those left out.
void print_table(Row head,
                 ordered_json const& items,
                 std::size_t most,
                 std::function<Row(ordered_json const&)> const& row) {
  std::vector<Row> rows{std::move(head)};
  auto const shown = std::min(most, items.size());
  for (std::size_t at = 0; at < shown; ++at)
    rows.push_back(row(items.at(at)));
  print_rows(rows);
  if (shown < items.size())
    std::cout << "and " << items.size() - shown << " more (--most " << items.size() << ")\n";
}

Row row_of_nightly(ordered_json const& nightly) {
  return {nightly.at("id").dump(),
          text(nightly, "date"),
          text(nightly, "state"),
          short_sha(nightly.at("commit")),
          word(nightly, "version"),
          word(nightly, "failure")};
}

Row row_of_verdict(ordered_json const& verdict) {
  auto const unit = text(verdict, "unit");
  return {text(verdict, "name"),
          text(verdict, "fleet"),
          text(verdict, "verdict"),
          text(verdict, "headline"),
          level(unit, verdict.at("before")),
          level(unit, verdict.at("after")),
          verdict.at("pairs").dump()};
}

Row row_of_alarm(ordered_json const& alarm) {
  return {alarm.at("id").dump(),
          alarm.at("cleared_at").is_null() ? "open" : "cleared",
          text(alarm, "kind"),
          word(alarm, "subject"),
          minute(alarm, "raised_at"),
          minute(alarm, "cleared_at"),
          text(alarm, "detail")};
}

/// Returns a ratio as a percentage of the middle slot; "-" for null.
std::string of_fleet(ordered_json const& ratio) {
  return ratio.is_null() ? "-" : fmt::format("{:.1f}%", 100 * ratio.get<double>());
}

Row row_of_slot(ordered_json const& slot) {
  return {text(slot, "fleet"),
          slot.at("slot").dump(),
          text(slot, "use"),
          of_fleet(slot.at("level")),
          of_fleet(slot.at("noise")),
          slot.at("benchmarks").dump(),
          minute(slot, "since"),
          word(slot, "reason")};
}

Row row_of_series(ordered_json const& series) {
  auto const& newest = series.at("newest");
  auto const& last = series.at("change");
  auto const unit = text(series, "unit");
  return {text(series, "name"),
          text(series, "fleet"),
          newest.is_null() ? "-" : level(unit, newest.at("level")),
          last.is_null() ? "-" : text(last, "headline"),
          last.is_null() ? "-" : text(last, "date")};
}

void print_nightly(ordered_json const& nightly, std::size_t most) {
  print_table({"id", "nightly", "state", "commit", "version", "failure"},
              ordered_json::array({nightly}),
              1,
              row_of_nightly);
  if (nightly.at("verdicts").empty()) return;
  std::cout << '\n';
  print_table({"series", "fleet", "verdict", "change", "before", "after", "pairs"},
              nightly.at("verdicts"),
              most,
              row_of_verdict);
}

/// Prints the nightlies of one series, newest first.
void print_history(ordered_json const& history, std::size_t most) {
  auto const& nights = history.at("nights");
  auto const unit = text(history, "unit");
  std::vector<Row> rows{
      {"nightly", "level", "lowest", "highest", "processes", "verdict", "commit"}};
  auto const size = nights.at("date").size();
  for (std::size_t i = 0; i < std::min(most, size); ++i) {
    auto const at = size - 1 - i;
    auto const level_at = [&](char const* column) {
      return level(unit, nights.at(column).at(at));
    };
    auto const& verdict = nights.at("verdict").at(at);
    rows.push_back({nights.at("date").at(at).get<std::string>(),
                    level_at("level"),
                    level_at("low"),
                    level_at("high"),
                    nights.at("processes").at(at).dump(),
                    verdict.is_string() ? verdict.get<std::string>() : "-",
                    short_sha(nights.at("commit").at(at))});
  }
  std::cout << text(history, "name") << " on " << text(history, "fleet") << '\n';
  print_rows(rows);
}

/// Returns the query for a series, named like "test_eval[dlrm-cpu-eager]_latency", on a fleet.
Result<std::string> query_of(std::string const& name, std::string const& fleet) {
  auto const end = name.rfind("]_");
  auto const benchmark = name.substr(0, end == std::string::npos ? 0 : end + 1);
  auto const metric = end == std::string::npos ? "" : name.substr(end + 2);
  if (!parse_benchmark(benchmark) || metric.empty())
    return Error{
        ErrorCode::invalid_argument,
        "found \"" + name + "\", allowed is a series like \"test_eval[dlrm-cpu-eager]_latency\""};
  return "fleet=" + http::percent_encode(fleet) + "&benchmark=" + http::percent_encode(benchmark) +
         "&metric=" + http::percent_encode(metric);
}

/// Returns the fleet of a series. Fails when several fleets measure it, or none.
Result<std::string> fleet_of(ApiClient const& answers, std::string const& name) {
  auto const all = answers.get_all("/api/v1/series");
  if (!all) return all.error();
  std::vector<std::string> fleets;
  for (auto const& series : *all)
    if (series.at("name") == name) fleets.push_back(text(series, "fleet"));
  if (fleets.size() == 1) return fleets.front();
  if (fleets.empty())
    return Error{
        ErrorCode::not_found,
        "series \"" + name + "\" has no measurements; `torchwatch series` lists those that have"};
  return Error{
      ErrorCode::invalid_argument,
      fmt::format(
          "\"{}\" is measured on {}: choose one with --fleet", name, fmt::join(fleets, ", "))};
}

Result<ordered_json> history_of(ApiClient const& answers, RecordsFlags const& flags) {
  auto const asked = query_of(flags.id, flags.fleet);
  if (!asked) return asked.error();
  if (!flags.fleet.empty()) return answers.get("/api/v1/history?" + *asked);
  auto const fleet = fleet_of(answers, flags.id);
  if (!fleet) return fleet.error();
  return answers.get("/api/v1/history?" + query_of(flags.id, *fleet).value());
}

using Answered = Result<ordered_json>;

/// A command that reads records: its request, and the function that prints the reply as a table.
struct Records {
  char const* name;
  char const* help;
  char const* example;
  char const* id_help;
  std::function<Answered(ApiClient const&, RecordsFlags const&)> ask;
  std::function<void(ordered_json const&, RecordsFlags const&)> print;
};

/// Returns a request for all items of a list, or for the one with the given ID.
auto listed_at(std::string const& path) {
  return [path](ApiClient const& answers, RecordsFlags const& flags) -> Answered {
    return flags.id.empty() ? answers.get_all(path)
                            : answers.get(path + "/" + http::percent_encode(flags.id));
  };
}

Answered ask_for_incidents(ApiClient const& answers, RecordsFlags const& flags) {
  if (flags.state.empty()) return listed_at("/api/v1/incidents")(answers, flags);
  return answers.get_all("/api/v1/incidents?state=" + http::percent_encode(flags.state));
}

void print_incidents(ordered_json const& answer, RecordsFlags const& flags) {
  auto const now = SystemClock{}.now();
  if (!flags.id.empty()) return print_incident(answer, now, flags.most);
  if (answer.empty()) {
    std::cout << (flags.state.empty() ? "No incident yet: no nightly has regressed.\n"
                                      : "No incident is in such a state.\n");
    return;
  }
  print_table(head_of_incidents(), answer, flags.most, [now](ordered_json const& incident) {
    return row_of_incident(incident, now);
  });
}

void print_nightlies(ordered_json const& answer, RecordsFlags const& flags) {
  if (!flags.id.empty()) return print_nightly(answer, flags.most);
  print_table({"id", "nightly", "state", "commit", "version", "failure"},
              answer,
              flags.most,
              row_of_nightly);
}

void print_alarms(ordered_json const& answer, RecordsFlags const& flags) {
  print_table({"id", "state", "kind", "subject", "raised (UTC)", "cleared", "detail"},
              flags.id.empty() ? answer : ordered_json::array({answer}),
              flags.most,
              row_of_alarm);
}

void print_slots(ordered_json const& answer, RecordsFlags const& flags) {
  print_table({"fleet", "slot", "use", "level", "noise", "benchmarks", "since (UTC)", "reason"},
              answer,
              flags.most,
              row_of_slot);
}

/// Reads the slots, of one fleet if the flags name one.
Answered slots_of(ApiClient const& answers, RecordsFlags const& flags) {
  auto all = answers.get_all("/api/v1/slots");
  if (!all || flags.id.empty()) return all;
  auto some = ordered_json::array();
  for (auto const& slot : *all)
    if (text(slot, "fleet") == flags.id) some.push_back(slot);
  *all = std::move(some);
  return all;
}

void print_series(ordered_json const& answer, RecordsFlags const& flags) {
  if (!flags.id.empty()) return print_history(answer, flags.most);
  print_table(
      {"series", "fleet", "newest", "last change", "on"}, answer, flags.most, row_of_series);
}

constexpr auto incidents_example = R"($ torchwatch incidents --state open,explained
id  nightly     state      age  worst   of                                  culprit         ...
1   2025-09-03  explained  ...  +20.4%  test_eval[dcgan-cpu-eager]_latency  340bc50b898b...)";

constexpr auto nightlies_example = R"($ torchwatch nightlies
id  nightly     state  commit        version             failure
2   2025-09-03  done   340bc50b898b  2.9.0a0+git340bc50  -
1   2025-09-02  done   f91d3b482f77  2.9.0a0+gitf91d3b4  -)";

constexpr auto alarms_example = R"($ torchwatch alarms
id  state  kind  subject  raised (UTC)  cleared  detail)";

constexpr auto slots_example = R"($ torchwatch slots
fleet  slot  use  level  noise  benchmarks  since (UTC)  reason)";

constexpr auto series_example = R"($ torchwatch series 'test_eval[dcgan-cpu-eager]_latency'
test_eval[dcgan-cpu-eager]_latency on local
nightly     level     lowest    highest   processes  verdict     commit
2025-09-03  2.379 ms  2.287 ms  2.504 ms  9          regression  340bc50b898b
2025-09-02  2.028 ms  2.028 ms  2.028 ms  2          -           f91d3b482f77)";

std::vector<Records> all_records() {
  return {{"incidents",
           "Lists incidents, newest first, or shows one with its timeline.",
           incidents_example,
           "ID of one incident, to show its series and its timeline",
           ask_for_incidents,
           print_incidents},
          {"nightlies",
           "Lists nightlies, newest first, or the verdicts on one.",
           nightlies_example,
           "ID of one nightly, to list its verdicts",
           listed_at("/api/v1/nightlies"),
           print_nightlies},
          {"alarms",
           "Lists the problems of torchwatch itself, newest first.",
           alarms_example,
           "ID of one alarm",
           listed_at("/api/v1/alarms"),
           print_alarms},
          {"slots",
           "Lists the slots that were compared with the others of their fleet.",
           slots_example,
           "Name of a fleet, to list only its slots",
           slots_of,
           print_slots},
          {"series",
           "Lists the measured series, or the nightlies of one.",
           series_example,
           "Name of one series, like test_eval[dlrm-cpu-eager]_latency, to list its nightlies",
           [](ApiClient const& answers, RecordsFlags const& flags) {
             return flags.id.empty() ? answers.get_all("/api/v1/series?recent=1")
                                     : history_of(answers, flags);
           },
           print_series}};
}

/// Prints the report on an incident as it was filed, with nothing added.
int print_report(ApiClient const& answers, RecordsFlags const& flags) {
  auto const report =
      answers.get_text("/api/v1/incidents/" + http::percent_encode(flags.id) + "?format=markdown");
  if (!report) return complain("incidents", report.error().message);
  std::cout << *report;
  return nothing_found;
}

int run_records(Records const& records, RecordsFlags const& flags, Invocation const& invocation) {
  auto const answers = ApiClient::of(flags.server, flags.token_file, invocation);
  if (!answers) return complain(records.name, answers.error().message);
  if (flags.as_markdown) return print_report(*answers, flags);
  auto const answer = records.ask(*answers, flags);
  if (!answer) return complain(records.name, answer.error().message);
  if (flags.as_json)
    std::cout << answer->dump(2) << '\n';
  else
    records.print(*answer, flags);
  return nothing_found;
}

void add_incident_options(CLI::App& command,
                          CLI::Option& id,
                          CLI::Option& json,
                          RecordsFlags& flags) {
  command
      .add_option("--state",
                  flags.state,
                  "Only incidents in these states: open, explained, fix_expected, fixed, "
                  "partly_fixed, returned, accepted, false_alarm, stale; separated by commas")
      ->excludes(&id);
  command
      .add_flag("--markdown",
                flags.as_markdown,
                "Print the report of the incident as it was filed: its last description and its "
                "comments")
      ->needs(&id)
      ->excludes(&json);
}

}  // namespace

void add_records(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  for (auto const& records : all_records()) {
    auto const flags = std::make_shared<RecordsFlags>();
    auto* const command = app.add_subcommand(records.name, records.help);
    auto* const id = command->add_option("id", flags->id, records.id_help);
    auto* const json = command->add_flag("--json", flags->as_json, "Print all of it as JSON");
    if (std::string_view{records.name} == "incidents")
      add_incident_options(*command, *id, *json, *flags);
    if (std::string_view{records.name} == "series")
      command->add_option("--fleet", flags->fleet, "Fleet, if several measure the series");
    command->add_option("--most", flags->most, "Most rows of the table")->capture_default_str();
    command->add_option(
        "--server", flags->server, "Read from the service at http(s)://HOST:PORT or unix:/PATH");
    command->add_option(
        "--token-file", flags->token_file, "File with the token, if reading needs one");
    add_example(*command, records.example);
    command->callback([records, flags, &invocation, &chosen] {
      chosen = [records, flags, &invocation] {
        return run_records(records, *flags, invocation);
      };
    });
  }
}

}  // namespace torchwatch::cli
