#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "daemon/command_line.h"
#include "daemon/commands/commands.h"

namespace torchwatch {
namespace {

/// What `bisect` was given on the command line.
struct BisectFlags {
  commands::BisectRequest request;
  std::vector<std::string> benchmarks;
  std::string metric;
  std::string direction;
  std::string prior;
  std::string server;
  std::string token_file;
};

void add_request_flags(CLI::App& bisect, BisectFlags& flags) {
  auto& request = flags.request;
  bisect.add_option("--start", request.start, "Good commit; required unless --again");
  bisect.add_option("--end", request.end, "Bad commit; required unless --again");
  bisect
      .add_option("--benchmark",
                  flags.benchmarks,
                  "Benchmark, by TorchBench's name; required unless --again")
      ->check(parsed_by(parse_benchmark, benchmark_form));
  bisect.add_option("--fleet", request.fleet, "Where to measure; the first fleet by default");
  bisect.add_option("--metric", flags.metric, "latency, cmem, gmem or leak")
      ->check(parsed_by(parse_metric, "latency, cmem, gmem or leak"))
      ->default_str("latency");
  bisect.add_option("--threshold", request.threshold, "Relative change that counts")
      ->check(CLI::Range(0.0001, 1.0))
      ->default_str("0.07");
  bisect.add_option("--direction", flags.direction, "increase, decrease or both")
      ->check(parsed_by(parse_direction, "increase, decrease or both"))
      ->default_str("increase");
  bisect
      .add_option("--prior",
                  flags.prior,
                  "Who is suspected first: all alike (uniform), or by paths touched (paths)")
      ->check(parsed_by(parse_prior, "uniform or paths"))
      ->default_str("bisect.prior");
}

void add_server_flags(CLI::App& bisect, BisectFlags& flags) {
  auto* const server =
      bisect.add_option("--server", flags.server, "Ask the service at http://HOST:PORT");
  auto* const token =
      bisect.add_option("--token-file", flags.token_file, "Bearer token for --server");
  server->needs(token);
  token->needs(server);
  bisect
      .add_option("--again",
                  flags.request.again,
                  "Id of a search of the service; what else is not given is as it was there")
      ->needs(server);
}

/// A search that is not asked for again has to be described.
void check_described(CLI::App const& bisect) {
  if (bisect.count("--again") > 0) return;
  for (auto const* const name : {"--start", "--end", "--benchmark"})
    if (bisect.count(name) == 0) throw CLI::RequiredError{name};
}

commands::BisectRequest to_request(BisectFlags const& flags) {
  auto request = flags.request;
  request.benchmarks = to_benchmarks(flags.benchmarks);
  request.metric = parse_metric(flags.metric);
  request.direction = parse_direction(flags.direction);
  request.prior = parse_prior(flags.prior);
  return request;
}

void add_bisect(CLI::App& app, commands::Place const& place, std::function<int()>& chosen) {
  auto const flags = std::make_shared<BisectFlags>();
  auto* const bisect = app.add_subcommand(
      "bisect", "Search two commits for a change: here, or by a running service");
  add_request_flags(*bisect, *flags);
  add_server_flags(*bisect, *flags);
  bisect->add_flag("--json", flags->request.as_json, "Print JSON");
  bisect->callback([flags, bisect, &place, &chosen] {
    check_described(*bisect);
    chosen = [flags, &place] {
      auto const request = to_request(*flags);
      if (!flags->server.empty())
        return commands::bisect_there(flags->server, flags->token_file, request);
      auto const options = load_options(place);
      return options ? commands::bisect_here(*options, place, request)
                     : int{commands::could_not_run};
    };
  });
}

/// What `bisections` was given on the command line.
struct BisectionsFlags {
  commands::BisectionsRequest request;
  std::string server;
  std::string token_file;
};

void add_bisections(CLI::App& app, std::function<int()>& chosen) {
  auto const flags = std::make_shared<BisectionsFlags>();
  auto* const bisections = app.add_subcommand(
      "bisections", "Show the searches of a running service; pause, resume or cancel one");
  auto* const id = bisections->add_option("id", flags->request.id, "One search, with transcript");
  bisections->add_option("--server", flags->server, "Service at http://HOST:PORT")->required();
  auto* const token = bisections->add_option(
      "--token-file", flags->token_file, "Bearer token, to change something");
  auto const add = [&](char const* name, BisectionState state, char const* help) {
    auto const set = [flags, state] {
      flags->request.state = state;
    };
    return bisections->add_flag_callback(name, set, help)->needs(id)->needs(token);
  };
  auto* const pause = add("--pause", BisectionState::paused, "Stop at once, until it is resumed");
  auto* const resume = add("--resume", BisectionState::queued, "Go on");
  auto* const cancel = add("--cancel", BisectionState::cancelled, "Stop for good");
  pause->excludes(resume)->excludes(cancel);
  resume->excludes(cancel);
  bisections->add_flag("--json", flags->request.as_json, "Print what the service answers");
  bisections->callback([flags, &chosen] {
    chosen = [flags] {
      return commands::bisections(flags->server, flags->token_file, flags->request);
    };
  });
}

}  // namespace

void add_searches(CLI::App& app, commands::Place const& place, std::function<int()>& chosen) {
  add_bisect(app, place, chosen);
  add_bisections(app, chosen);
}

}  // namespace torchwatch
