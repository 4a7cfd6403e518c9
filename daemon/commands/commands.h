#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/options.h"
#include "storage/domain/bisection.h"

/// What the subcommands do. Each returns the program's exit status and prints its own errors, one
/// line each, on standard error; what it found goes to standard output.
namespace torchwatch::commands {

/// Where things are: this executable, for starting runners; and the configuration's file, for
/// saying it again.
struct Place {
  std::string executable;
  std::string config_file;
};

/// The exit statuses of `check`, which the others share where they fit.
enum Status : int { nothing_found = 0, incident_found = 1, could_not_run = 2 };

/// One pass over the feed, then the judgement on the newest nightly, as JSON or for people.
int check(config::Options const& options, Place const& place, bool as_json);

/// Watches for ever, and answers over HTTP. Returns on SIGINT and SIGTERM.
int serve(config::Options const& options, Place const& place);

struct BenchRequest {
  std::string prefix;  ///< empty: the LibTorch that the worker finds by itself
  std::vector<Benchmark> benchmarks;
  bool profile = false;    ///< also tell what operators cost
  std::int64_t batch = 0;  ///< samples in an iteration; 0: each model's own
  bool as_json = false;
};

/// Measures a build now, without feed or database.
int bench(config::Options const& options, Place const& place, BenchRequest const& request);

/// Looks for the batch at which each of the request's benchmarks infers most samples a second.
int find_batch(config::Options const& options, Place const& place, BenchRequest const& request);

/// What the suite is made of: its models; as `worker`, an executable, tells it, one model's
/// parameters and buffers, and the operators that all of them dispatch.
int suite_list(bool as_json);
int suite_parameters(std::string const& worker, std::string const& model, bool as_json);
int suite_coverage(std::string const& worker, bool as_json);

/// Each a file of results, or else the name of a fleet in the configured database.
struct CompareRequest {
  std::string first;
  std::string second;
  bool as_json = false;
};

/// Ratios of the second to the first over the suite, and their geometric means. `load` reads the
/// configuration, which only fleets need.
int compare(CompareRequest const& request, std::function<std::optional<config::Options>()> load);

/// What to search for, as typed. What is not given is as BisectionRequest or the configuration has
/// it, or as it was in the search `again`.
struct BisectRequest {
  std::optional<std::int64_t> again;  ///< id of a search of the service that is asked
  std::string start;                  ///< here in git's syntax, for the watched repository
  std::string end;
  std::vector<Benchmark> benchmarks;
  std::string fleet;  ///< empty: the first one
  std::optional<Metric> metric;
  std::optional<double> threshold;
  std::optional<Direction> direction;
  std::optional<Prior> prior;
  bool as_json = false;
};

/// Searches here, with the configured repository, recipe and database.
int bisect_here(config::Options const& options, Place const& place, BisectRequest const& request);

/// Asks the service at `url` ("http://127.0.0.1:8917") with the token in `token_file`, and waits
/// for its answer.
int bisect_there(std::string const& url,
                 std::string const& token_file,
                 BisectRequest const& request);

struct BisectionsRequest {
  std::optional<std::int64_t> id;  ///< of one search; none: all of them
  std::optional<BisectionState>
      state;  ///< paused, queued (resumed) or cancelled is what it becomes
  bool as_json = false;
};

/// Lists the searches of the service at `url`, shows one with its transcript, or steers one with
/// the token in `token_file`.
int bisections(std::string const& url,
               std::string const& token_file,
               BisectionsRequest const& request);

/// What a person decided, as typed: checked as the API checks it.
struct RuleRequest {
  std::string kind;  ///< "accept", "false_alarm", "mute", "unmute"
  std::optional<std::int64_t> incident;
  std::string fleet;
  std::string benchmark;
  std::string metric;
  std::string who;
  std::string why;
  std::string until;
  bool as_json = false;
};

/// Keeps a ruling in the configured database, while no service runs on it.
int rule_here(config::Options const& options, RuleRequest const& request);

/// Gives it to the service at `url` with the token in `token_file`.
int rule_there(std::string const& url, std::string const& token_file, RuleRequest const& request);

int config_check(std::string const& file);
int config_show(std::string const& file);
int config_schema();

/// The runner process of a fleet's slot: speaks the protocol on standard input and output.
int runner(int slot);

}  // namespace torchwatch::commands
