#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "daemon/api/json.h"
#include "daemon/cli/bisection_text.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/remote.h"
#include "daemon/cli/terminal.h"
#include "storage/domain/words.h"

namespace torchwatch::cli {
namespace {

struct BisectionsRequest {
  std::optional<std::int64_t> id;       ///< ID of one bisection; none: all of them
  std::optional<BisectionState> state;  ///< its new state: paused, queued (resumed) or cancelled
  bool as_json = false;
};

using nlohmann::ordered_json;

/// "3bb8db4bf099..e275c308a59b".
std::string range_of(ordered_json const& request) {
  return short_sha(request.at("start")) + ".." + short_sha(request.at("end"));
}

/// "test_eval[dcgan-cpu-eager]_latency and 2 more".
std::string series_of(ordered_json const& request) {
  auto const& series = request.at("series");
  auto const first = text(series.at(0), "name");
  return series.size() == 1 ? first : fmt::format("{} and {} more", first, series.size() - 1);
}

Row row_of_bisection(ordered_json const& bisection) {
  auto const& request = bisection.at("request");
  auto const& outcome = bisection.at("outcome");
  return {bisection.at("id").dump(),
          text(bisection, "state"),
          outcome.is_string() ? outcome.get<std::string>() : "-",
          range_of(request),
          bisection.at("steps_done").dump(),
          series_of(request)};
}

void print_bisections(ordered_json const& page) {
  std::vector<Row> rows{{"id", "state", "outcome", "range", "steps", "series"}};
  for (auto const& bisection : page.at("items"))
    rows.push_back(row_of_bisection(bisection));
  print_rows(rows);
  auto const total = page.at("total").get<std::size_t>();
  auto const shown = rows.size() - 1;
  if (shown < total) std::cout << "and " << total - shown << " older ones\n";
}

/// "latency 3.388 ms, 4.043 ms; cmem 11.40 MiB, 12.90 MiB".
std::string levels_of(ordered_json const& step) {
  std::string levels;
  for (auto const& [name, values] : step.at("readings").items()) {
    auto const unit = text(step.at("units"), name.c_str());
    std::string of_metric;
    for (double const value : values)
      of_metric += (of_metric.empty() ? " " : ", ") + words::level(unit, value);
    levels += (levels.empty() ? "" : "; ") + name + of_metric;
  }
  return levels;
}

std::string result_of(ordered_json const& step) {
  auto const note = text(step, "note");
  if (step.at("done") == false) return "not measured yet";
  if (step.at("skipped").is_string()) return short_sha(step.at("skipped")) + " " + note;
  return step.at("readings").empty() ? note : levels_of(step);
}

Row row_of_step(ordered_json const& step) {
  std::string commits;
  for (auto const& commit : step.at("commits"))
    commits += (commits.empty() ? "" : " ") + short_sha(commit);
  return {step.at("wave").dump(),
          text(step, "benchmark"),
          commits,
          text(step, "reason"),
          result_of(step),
          step.at("done") == true ? belief_after(step) : "-"};
}

void print_with_transcript(ordered_json const& bisection) {
  auto const& request = bisection.at("request");
  print_bisection(bisection);
  std::cout << "  " << range_of(request) << "  " << series_of(request);
  if (request.at("prior") != to_string(Prior::uniform))
    std::cout << "  prior " << text(request, "prior");
  std::cout << '\n';
  if (bisection.at("steps").empty()) return;
  std::vector<Row> rows{{"wave", "benchmark", "commits", "why", "measured", "belief after"}};
  for (auto const& step : bisection.at("steps"))
    rows.push_back(row_of_step(step));
  std::cout << '\n';
  print_rows(rows);
}

/// Sends the request, and returns the reply of the service.
Result<ordered_json> ask(Server const& server, BisectionsRequest const& asked) {
  if (!asked.id) return server.get("/api/v1/bisections");
  auto const path = api::url_of(BisectionId{*asked.id});
  if (!asked.state) return server.get(path);
  return server.post(path, {{"state", to_string(*asked.state)}});
}

int run_bisections(std::string const& url,
                   std::string const& token_file,
                   BisectionsRequest const& asked) {
  auto const server = Server::at(url, token_file);
  if (!server) return complain("bisections", server.error().message);
  auto const answer = ask(*server, asked);
  if (!answer) return complain("bisections", answer.error().message);
  if (asked.as_json)
    std::cout << answer->dump(2) << '\n';
  else if (!asked.id)
    print_bisections(*answer);
  else if (asked.state)
    std::cout << "bisection " << *asked.id << ": " << text(*answer, "state") << '\n';
  else
    print_with_transcript(*answer);
  return 0;
}

/// The options of `bisections`.
struct BisectionsFlags {
  BisectionsRequest request;
  std::string server;
  std::string token_file;
};

constexpr auto bisections_example =
    R"($ torchwatch bisections --server http://localhost:8917
id  state  outcome  range                       steps  series
1   done   culprit  f91d3b482f77..340bc50b898b  ...  test_eval[dcgan-cpu-eager]_latency)";

}  // namespace

void add_bisections(CLI::App& app, Chosen& chosen) {
  auto const flags = std::make_shared<BisectionsFlags>();
  auto* const bisections = app.add_subcommand(
      "bisections",
      "Lists the bisections of a running service, or shows, pauses, resumes or cancels one.");
  auto* const id = bisections->add_option(
      "id", flags->request.id, "ID of one bisection, to show it with its steps");
  bisections->add_option("--server", flags->server, "Service, at http(s)://HOST:PORT or unix:/PATH")
      ->required();
  auto* const token = bisections->add_option(
      "--token-file", flags->token_file, "File with the token, to change something");
  auto const add = [&](char const* name, BisectionState state, char const* help) {
    auto const set = [flags, state] {
      flags->request.state = state;
    };
    return bisections->add_flag_callback(name, set, help)->needs(id)->needs(token);
  };
  auto* const pause = add("--pause", BisectionState::paused, "Stop at once, until --resume");
  auto* const resume = add("--resume", BisectionState::queued, "Continue a paused bisection");
  auto* const cancel = add("--cancel", BisectionState::cancelled, "End without a result");
  pause->excludes(resume)->excludes(cancel);
  resume->excludes(cancel);
  bisections->add_flag("--json", flags->request.as_json, "Print the reply of the service");
  add_example(*bisections, bisections_example);
  bisections->callback([flags, &chosen] {
    chosen = [flags] {
      return run_bisections(flags->server, flags->token_file, flags->request);
    };
  });
}

}  // namespace torchwatch::cli
