#include <chrono>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "bisect/git_history.h"
#include "daemon/api/json.h"
#include "daemon/asking.h"
#include "daemon/async/run.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/open_store.h"
#include "daemon/commands/search_text.h"
#include "daemon/commands/server.h"
#include "daemon/project.h"
#include "daemon/service.h"

namespace torchwatch::commands {
namespace asio = boost::asio;

namespace {

using nlohmann::ordered_json;

int complain(std::string const& message) {
  std::cerr << "torchwatch bisect: " << message << '\n';
  return could_not_run;
}

/// Tells the steps that are done and not in `told`, and remembers them there: steps of a turn are
/// planned together and end in any order.
void tell_steps(ordered_json const& steps, std::set<std::size_t>& told) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].at("done") == true && told.insert(i).second)
      std::cerr << "  " << line_of_step(steps[i]) << '\n';
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
  if (search.at("outcome") == "environment") return incident_found;
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
  BisectionRequest request;
  request.start = *start;
  request.end = *end;
  for (auto const& benchmark : asked.benchmarks)
    request.series.push_back({fleet, benchmark, asked.metric.value_or(Metric::latency)});
  request.threshold = asked.threshold.value_or(request.threshold);
  request.direction = asked.direction.value_or(request.direction);
  request.prior = asked.prior.value_or(options.bisect.prior);
  return request;
}

/// Commits that are not here may be new ones that the remote has.
asio::awaitable<Result<BisectionRequest>> to_request(Fetching& fetching,
                                                     config::Options const& options,
                                                     BisectRequest const& asked) {
  auto request = to_request(options, asked);
  if (request || request.error().code != ErrorCode::not_found) co_return request;
  auto const fetched = co_await fetching.refresh();
  if (!fetched) co_return fetched.error();
  co_return to_request(options, asked);
}

/// Begins the search that was asked for, or goes on with it, and ends it.
asio::awaitable<Result<Bisection>> search(Service& service,
                                          config::Options const& options,
                                          storage::Store& store,
                                          Clock const& clock,
                                          BisectRequest const& asked) {
  auto const request = co_await to_request(service.fetching, options, asked);
  if (!request) co_return request.error();
  auto bisection = ask_for_search(store, options.source, *request, clock.now());
  if (bisection && bisection->state == BisectionState::paused)
    bisection = steer_search(store, bisection->id, BisectionState::queued);
  if (!bisection) co_return bisection.error();
  co_return co_await service.bisecting.run(std::move(*bisection));
}

/// What was typed, and nothing else.
ordered_json to_body(BisectRequest const& asked) {
  auto body = ordered_json::object();
  if (asked.again) body["again"] = *asked.again;
  if (!asked.start.empty()) body["start"] = asked.start;
  if (!asked.end.empty()) body["end"] = asked.end;
  if (asked.metric) body["metric"] = to_string(*asked.metric);
  if (asked.threshold) body["threshold"] = *asked.threshold;
  if (asked.direction) body["direction"] = to_string(*asked.direction);
  if (asked.prior) body["prior"] = to_string(*asked.prior);
  if (!asked.fleet.empty()) body["fleet"] = asked.fleet;
  for (auto const& benchmark : asked.benchmarks)
    body["benchmarks"].push_back(name_of(benchmark));
  return body;
}

}  // namespace

int bisect_here(config::Options const& options, Place const& place, BisectRequest const& asked) {
  auto store = open_store(options);
  if (!store) return complain(store.error().message + " (ask the running service: --server)");
  SystemClock const clock;
  asio::io_context loop{1};
  Service service{loop.get_executor(), options, place.executable, *store, clock};
  auto const done = run_until_signal(loop, search(service, options, *store, clock, asked));
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
  std::string last_state;
  while (true) {
    auto const search = server->get(place);
    if (!search) return complain(search.error().message);
    tell_steps(search->at("steps"), told);
    auto const state = text(*search, "state");
    if (state == "done" || state == "failed" || state == "cancelled")
      return conclude(*search, asked.as_json);
    if (state != last_state) std::cerr << "  " << state << '\n';
    last_state = state;
    std::this_thread::sleep_for(std::chrono::seconds{2});
  }
}

}  // namespace torchwatch::commands
