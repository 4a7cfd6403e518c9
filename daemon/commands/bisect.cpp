#include <chrono>
#include <iostream>
#include <optional>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

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

/// Prints a search as the API shows it, and says by the exit status whether it accuses anybody.
int conclude(ordered_json const& search, bool as_json) {
  auto const outcome = search.value("outcome", ordered_json{});
  if (as_json) {
    std::cout << search.dump(2) << '\n';
  } else {
    std::cout << "search " << search.at("id") << ": " << search.at("state").get<std::string>();
    if (outcome.is_string()) std::cout << ", " << outcome.get<std::string>();
    std::cout << '\n';
    for (auto const& commit : search.at("suspects"))
      std::cout << "  " << commit.at("sha").get<std::string>() << "  "
                << commit.at("subject").get<std::string>() << '\n';
  }
  if (search.at("state") == "failed") return complain(search.at("failure").get<std::string>());
  return outcome == "not_reproduced" ? nothing_found : incident_found;
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
  std::size_t told = 0;
  while (true) {
    auto const search = server->get(place);
    if (!search) return complain(search.error().message);
    auto const& steps = search->at("steps");
    for (; told < steps.size(); ++told)
      std::cerr << "  " << steps[told].dump() << '\n';
    auto const state = search->at("state").get<std::string>();
    if (state == "done" || state == "failed") return conclude(*search, asked.as_json);
    std::this_thread::sleep_for(std::chrono::seconds{2});
  }
}

}  // namespace torchwatch::commands
