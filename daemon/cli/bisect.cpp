#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "bisect/git/history.h"
#include "daemon/api/json.h"
#include "daemon/async/run_until_signal.h"
#include "daemon/cli/bisection_text.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/remote.h"
#include "daemon/service/open_store.h"
#include "daemon/service/service.h"
#include "storage/domain/project.h"
#include "storage/domain/words.h"

namespace torchwatch::cli {
namespace asio = boost::asio;

namespace {

/// The request that the options describe. Options that the user leaves out have the defaults of
/// BisectionRequest and the configuration, or the values of the bisection `again`.
struct BisectRequest {
  std::optional<std::int64_t> again;  ///< ID of a bisection of the service
  std::string start;                  ///< without --server: any name that git accepts
  std::string end;
  std::vector<Benchmark> benchmarks;
  std::string fleet;   ///< empty: the first fleet
  std::string metric;  ///< empty: latency, or that of the bisection `again`
  std::optional<double> threshold;
  std::optional<Direction> direction;
  std::optional<Prior> prior;
  bool as_json = false;
};

using nlohmann::ordered_json;

/// Prints the finished steps that are not in `printed`, and adds them to it. Steps of a wave finish
/// in any order.
void print_steps(ordered_json const& steps, std::set<std::size_t>& printed) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].at("done") == true && printed.insert(i).second)
      std::cerr << "  " << line_of_step(steps[i]) << '\n';
}

/// Prints a bisection that ended. Returns the exit status: incident_found when it found a change.
int conclude(ordered_json const& bisection, bool as_json) {
  if (as_json)
    std::cout << bisection.dump(2) << '\n';
  else
    print_bisection(bisection);
  auto const state = text(bisection, "state");
  if (state == "failed") return complain("bisect", text(bisection, "failure"));
  if (state != "done") return complain("bisect", "the bisection is " + state + ", not done");
  if (bisection.at("outcome") == "not_reproduced") return nothing_found;
  if (bisection.at("outcome") == "environment") return incident_found;
  if (bisection.at("findings").empty())
    return complain("bisect", "the bisection ended before it was sure; the reason is above");
  return incident_found;
}

/// Resolves a name that git accepts. Without a repository, only a full hash is a commit.
Result<CommitSha> commit_of(config::SourceOptions const& source, std::string const& text) {
  if (source.repository.empty() && is_commit_sha(text)) return CommitSha{text};
  if (source.repository.empty())
    return Error{ErrorCode::invalid_argument,
                 "found commit \"" + text +
                     "\", allowed are 40 hexadecimal digits; other names need source.repository"};
  auto const history = bisect::GitHistory::open(source.repository);
  if (!history) return history.error();
  return history->resolve(text);
}

/// Returns the metric of a name; latency for an empty one. Call it when the configuration is
/// loaded, which declares metrics.
Result<Metric> metric_named(std::string const& name) {
  if (name.empty()) return Metric::latency;
  auto const metric = parse_metric(name);
  if (metric) return *metric;
  return Error{ErrorCode::invalid_argument,
               "--metric: found \"" + name + "\", allowed " + words::metric_names()};
}

Result<BisectionRequest> to_request(config::Options const& options, BisectRequest const& asked) {
  auto const metric = metric_named(asked.metric);
  if (!metric) return metric.error();
  auto const start = commit_of(options.source, asked.start);
  if (!start) return start.error();
  auto const end = commit_of(options.source, asked.end);
  if (!end) return end.error();
  auto const fleet = asked.fleet.empty() ? options.fleets.front().name : asked.fleet;
  BisectionRequest request;
  request.start = *start;
  request.end = *end;
  for (auto const& benchmark : asked.benchmarks)
    request.series.push_back({fleet, benchmark, *metric});
  request.threshold = asked.threshold.value_or(request.threshold);
  request.direction = asked.direction.value_or(request.direction);
  request.prior = asked.prior.value_or(options.bisect.prior);
  return request;
}

/// Returns the request with resolved commits. Fetches from the remote when a commit is unknown.
asio::awaitable<Result<BisectionRequest>> to_request(builds::GitFetch& git_fetch,
                                                     config::Options const& options,
                                                     BisectRequest const& asked) {
  auto request = to_request(options, asked);
  if (request || request.error().code != ErrorCode::not_found) co_return request;
  auto const fetched = co_await git_fetch.refresh();
  if (!fetched) co_return fetched.error();
  co_return to_request(options, asked);
}

/// Runs the bisections into merges that those in `ended` name, and adds them to `ended`: they can
/// name merges, too. One that cannot run now is left to the service.
asio::awaitable<void> search_merges(bisection::Queue& queue,
                                    storage::Store& store,
                                    std::vector<Bisection>& ended) {
  for (std::size_t i = 0; i < ended.size(); ++i) {
    for (auto const& inner : store.bisections().unfinished()) {
      if (!inner.inside || inner.inside->outer != ended[i].id) continue;
      auto done = co_await queue.run(inner.id);
      if (done)
        ended.push_back(std::move(*done));
      else
        complain("bisect", done.error().message);
    }
  }
}

/// Starts or resumes the requested bisection and runs it to its end. Returns that bisection,
/// followed by those into merges.
asio::awaitable<Result<std::vector<Bisection>>> run(service::Service& service,
                                                    storage::Store& store,
                                                    config::Options const& options,
                                                    BisectRequest const& asked) {
  auto request = co_await to_request(service.parts.git_fetch, options, asked);
  if (!request) co_return request.error();
  BisectionOrder order;
  order.request = std::move(*request);
  auto asking = service.parts.queue.ask(std::move(order));
  auto bisection = co_await std::move(asking);
  if (bisection && bisection->state == BisectionState::paused)
    store.bisections().set_state(bisection->id, BisectionState::queued);
  if (!bisection) co_return bisection.error();
  auto done = co_await service.parts.queue.run(bisection->id);
  if (!done) co_return done.error();
  std::vector<Bisection> ended;
  ended.push_back(std::move(*done));
  co_await search_merges(service.parts.queue, store, ended);
  co_return std::move(ended);
}

/// Returns the body of the request: only the options that the user gave.
ordered_json to_body(BisectRequest const& asked) {
  auto body = ordered_json::object();
  if (asked.again) body["again"] = *asked.again;
  if (!asked.start.empty()) body["start"] = asked.start;
  if (!asked.end.empty()) body["end"] = asked.end;
  if (!asked.metric.empty()) body["metric"] = asked.metric;
  if (asked.threshold) body["threshold"] = *asked.threshold;
  if (asked.direction) body["direction"] = to_string(*asked.direction);
  if (asked.prior) body["prior"] = to_string(*asked.prior);
  if (!asked.fleet.empty()) body["fleet"] = asked.fleet;
  for (auto const& benchmark : asked.benchmarks)
    body["benchmarks"].push_back(name_of(benchmark));
  return body;
}

int bisect_here(config::Options const& options,
                Invocation const& invocation,
                BisectRequest const& asked) {
  auto store = service::open_store(options);
  if (!store)
    return complain("bisect", store.error().message + " (for a running service, use --server)");
  SystemClock const clock;
  asio::io_context loop{1};
  service::Service service{loop.get_executor(), options, invocation.executable, *store, clock};
  auto const done = async::run_until_signal(loop, run(service, *store, options, asked));
  if (!done) return complain("bisect", done.error().message);
  auto const status = conclude(api::json_of(done->front(), project_url), asked.as_json);
  for (auto const& inner : std::span{*done}.subspan(1))
    if (!asked.as_json) print_bisection(api::json_of(inner, project_url));
  return status;
}

int bisect_there(std::string const& url,
                 std::string const& token_file,
                 BisectRequest const& asked) {
  auto const server = Server::at(url, token_file);
  if (!server) return complain("bisect", server.error().message);
  auto const accepted = server->post("/api/v1/bisections", to_body(asked));
  if (!accepted) return complain("bisect", accepted.error().message);
  auto const path = accepted->at("url").get<std::string>();
  std::cerr << "bisection " << accepted->at("id") << " at " << url << path << '\n';
  std::set<std::size_t> printed;
  std::string last_state;
  while (true) {
    auto const bisection = server->get(path);
    if (!bisection) return complain("bisect", bisection.error().message);
    print_steps(bisection->at("steps"), printed);
    auto const state = text(*bisection, "state");
    if (state == "done" || state == "failed" || state == "cancelled")
      return conclude(*bisection, asked.as_json);
    if (state != last_state) std::cerr << "  " << state << '\n';
    last_state = state;
    std::this_thread::sleep_for(std::chrono::seconds{2});
  }
}

/// The options of `bisect`.
struct BisectFlags {
  BisectRequest request;
  std::vector<std::string> benchmarks;
  std::string direction;
  std::string prior;
  std::string server;
  std::string token_file;
};

void add_request_flags(CLI::App& bisect, BisectFlags& flags) {
  auto& request = flags.request;
  bisect.add_option("--start", request.start, "Good commit; required without --again");
  bisect.add_option("--end", request.end, "Bad commit; required without --again");
  bisect
      .add_option("--benchmark",
                  flags.benchmarks,
                  "Benchmark, such as test_train[dlrm-cpu-eager]; required without --again")
      ->check(parsed_by(parse_benchmark, benchmark_form));
  bisect.add_option("--fleet", request.fleet, "Fleet that measures; the first one by default");
  bisect
      .add_option("--metric",
                  request.metric,
                  "Metric: latency, cmem, gmem, leak, or one that a suite declares")
      ->default_str("latency");
  bisect.add_option("--threshold", request.threshold, "Smallest relative change that counts")
      ->check(CLI::Range(0.0001, 1.0))
      ->default_str("0.07");
  bisect
      .add_option("--direction",
                  flags.direction,
                  "Change: increase of time, memory or another cost, decrease, or both")
      ->check(parsed_by(parse_direction, "increase, decrease or both"))
      ->default_str("increase");
  bisect
      .add_option("--prior",
                  flags.prior,
                  "First suspects: all alike (uniform), or by the paths they touch (paths)")
      ->check(parsed_by(parse_prior, "uniform or paths"))
      ->default_str("bisect.prior");
}

void add_server_flags(CLI::App& bisect, BisectFlags& flags) {
  auto* const server = bisect.add_option(
      "--server", flags.server, "Run it in the service at http(s)://HOST:PORT or unix:/PATH");
  auto* const token =
      bisect.add_option("--token-file", flags.token_file, "File with the token for --server");
  server->needs(token);
  token->needs(server);
  bisect
      .add_option("--again",
                  flags.request.again,
                  "Repeat the bisection with this ID; options that you leave out keep its values")
      ->needs(server);
}

/// Throws unless the options describe a bisection or repeat one.
void check_described(CLI::App const& bisect) {
  if (bisect.count("--again") > 0) return;
  for (auto const* const name : {"--start", "--end", "--benchmark"})
    if (bisect.count(name) == 0) throw CLI::RequiredError{name};
}

BisectRequest to_request(BisectFlags const& flags) {
  auto request = flags.request;
  request.benchmarks = to_benchmarks(flags.benchmarks);
  request.direction = parse_direction(flags.direction);
  request.prior = parse_prior(flags.prior);
  return request;
}

constexpr auto bisect_example =
    R"($ torchwatch bisect --start 2025-09-02 --end 2025-09-03 --benchmark 'test_eval[dcgan-cpu-eager]' \
    --server http://localhost:8917 --token-file token
bisection ...: Culprit proved
  Culprit (proved against its parent): 769d8b297454... [CPU] Keep the memory format of convolutions ...
...)";

}  // namespace

void add_bisect(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  auto const flags = std::make_shared<BisectFlags>();
  auto* const bisect = app.add_subcommand(
      "bisect", "Finds the commit between two commits that changed a benchmark.");
  add_request_flags(*bisect, *flags);
  add_server_flags(*bisect, *flags);
  bisect->add_flag("--json", flags->request.as_json, "Print JSON");
  add_example(*bisect, bisect_example);
  bisect->callback([flags, bisect, &invocation, &chosen] {
    check_described(*bisect);
    chosen = [flags, &invocation] {
      auto const request = to_request(*flags);
      if (!flags->server.empty()) return bisect_there(flags->server, flags->token_file, request);
      auto const options = load_measuring_options(invocation);
      return options ? bisect_here(*options, invocation, request) : int{could_not_run};
    };
  });
}

}  // namespace torchwatch::cli
