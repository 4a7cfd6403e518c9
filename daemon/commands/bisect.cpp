#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "bisect/git_history.h"
#include "daemon/api/json.h"
#include "daemon/asking.h"
#include "daemon/async/run.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/open_store.h"
#include "daemon/commands/server.h"
#include "daemon/project.h"
#include "daemon/service.h"

namespace torchwatch::commands {
namespace {

using nlohmann::ordered_json;

int complain(std::string const& message) {
  std::cerr << "torchwatch bisect: " << message << '\n';
  return could_not_run;
}

std::string text(ordered_json const& json, char const* key) {
  return json.at(key).get<std::string>();
}

std::string short_sha(ordered_json const& sha) {
  return short_of(CommitSha{sha.get<std::string>()});
}

/// "latency 73% in 3bb8db4bf099..e275c308a59b".
std::string line_of_belief(ordered_json const& belief) {
  auto const metric = text(belief.at("series"), "metric");
  double const no_change = belief.at("no_change");
  double const probability = belief.at("probability");
  if (no_change > probability) return fmt::format("{} {:.0f}% unchanged", metric, 100 * no_change);
  auto const first = short_sha(belief.at("suspects").at(0));
  auto const last = short_sha(belief.at("suspects").at(1));
  auto const place = first == last ? first : first + ".." + last;
  return fmt::format("{} {:.0f}% in {}", metric, 100 * probability, place);
}

/// What is believed of the series of the step's benchmark that changed most surely.
std::string belief_after(ordered_json const& step) {
  ordered_json surest;
  for (auto const& belief : step.at("beliefs")) {
    auto const& series = belief.at("series");
    if (series.at("fleet") != step.at("fleet")) continue;
    if (series.at("benchmark") != step.at("benchmark")) continue;
    if (surest.is_null() || belief.at("no_change") < surest.at("no_change")) surest = belief;
  }
  return surest.is_null() ? "nothing new" : line_of_belief(surest);
}

std::string line_of_step(ordered_json const& step) {
  std::string commits;
  for (auto const& commit : step.at("commits"))
    commits += " " + short_sha(commit);
  auto const note = text(step, "note");
  return fmt::format("turn {}  {} {}  {} -> {}",
                     step.at("turn").get<int>(),
                     text(step, "benchmark"),
                     commits,
                     text(step, "reason"),
                     note.empty() ? belief_after(step) : note);
}

/// Tells the steps that are done and not in `told`, and remembers them there: steps of a turn are
/// planned together and end in any order.
void tell_steps(ordered_json const& steps, std::set<std::size_t>& told) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].at("done") == true && told.insert(i).second)
      std::cerr << "  " << line_of_step(steps[i]) << '\n';
}

bool went_down(ordered_json const& effect) {
  return effect.at("after") < effect.at("before");
}

void print_finding(ordered_json const& finding) {
  auto const& effects = finding.at("effects");
  bool const is_culprit = !finding.at("culprit").is_null();
  if (std::all_of(effects.begin(), effects.end(), went_down))
    std::cout << "  improved:\n";
  else
    std::cout << (is_culprit ? "  culprit:\n" : "  range, of which one is the culprit:\n");
  for (auto const& commit : finding.at("suspects"))
    std::cout << "    " << text(commit, "sha") << "  " << text(commit, "subject") << '\n';
}

void print_search(ordered_json const& search) {
  std::cout << "search " << search.at("id") << ": " << text(search, "state");
  if (search.at("outcome").is_string()) std::cout << ", " << text(search, "outcome");
  std::cout << '\n';
  for (auto const& finding : search.at("findings"))
    print_finding(finding);
}

/// Prints a search as the API shows it, and says by the exit status whether it found a change.
int conclude(ordered_json const& search, bool as_json) {
  if (as_json)
    std::cout << search.dump(2) << '\n';
  else
    print_search(search);
  auto const state = text(search, "state");
  if (state == "failed") return complain(text(search, "failure"));
  if (state != "done") return complain("the search is " + state);
  if (search.at("outcome") == "not_reproduced") return nothing_found;
  if (search.at("findings").empty()) return complain("the budget ended before it was sure");
  return incident_found;
}

Result<BisectionRequest> to_request(config::Options const& options, BisectRequest const& asked) {
  auto const history = bisect::GitHistory::open(options.source.repository);
  if (!history) return history.error();
  auto const start = history->resolve(asked.start);
  if (!start) return start.error();
  auto const end = history->resolve(asked.end);
  if (!end) return end.error();
  auto const fleet = asked.fleet.empty() ? options.fleets.front().name : asked.fleet;
  BisectionRequest request{*start, *end, {}, asked.threshold, asked.direction};
  for (auto const& benchmark : asked.benchmarks)
    request.series.push_back({fleet, benchmark, asked.metric});
  return request;
}

ordered_json to_body(BisectRequest const& asked) {
  ordered_json body{{"start", asked.start},
                    {"end", asked.end},
                    {"metric", to_string(asked.metric)},
                    {"threshold", asked.threshold},
                    {"direction", to_string(asked.direction)}};
  if (!asked.fleet.empty()) body["fleet"] = asked.fleet;
  for (auto const& benchmark : asked.benchmarks)
    body["benchmarks"].push_back(name_of(benchmark));
  return body;
}

}  // namespace

int bisect_here(config::Options const& options, Place const& place, BisectRequest const& asked) {
  auto const request = to_request(options, asked);
  if (!request) return complain(request.error().message);
  auto store = open_store(options);
  if (!store) return complain(store.error().message + " (ask the running service: --server)");
  SystemClock const clock;
  auto bisection = ask_for_search(*store, options.source, *request, clock.now());
  if (!bisection) return complain(bisection.error().message);
  boost::asio::io_context loop{1};
  Service service{loop.get_executor(), options, place.executable, *store, clock};
  auto const done = run_until_signal(loop, service.bisecting.run(std::move(*bisection)));
  if (!done) return complain(done.error().message);
  return conclude(api::json_of(*done, project_url), asked.as_json);
}

int bisect_there(std::string const& url,
                 std::string const& token_file,
                 BisectRequest const& asked) {
  auto const server = Server::at(url, token_file);
  if (!server) return complain(server.error().message);
  auto const accepted = server->post("/api/v1/bisections", to_body(asked));
  if (!accepted) return complain(accepted.error().message);
  auto const place = accepted->at("url").get<std::string>();
  std::cerr << "search " << accepted->at("id") << " at " << url << place << '\n';
  std::set<std::size_t> told;
  while (true) {
    auto const search = server->get(place);
    if (!search) return complain(search.error().message);
    tell_steps(search->at("steps"), told);
    auto const state = text(*search, "state");
    if (state == "done" || state == "failed" || state == "cancelled")
      return conclude(*search, asked.as_json);
    std::this_thread::sleep_for(std::chrono::seconds{2});
  }
}

}  // namespace torchwatch::commands
