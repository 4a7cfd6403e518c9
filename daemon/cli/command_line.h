#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/options.h"
#include "daemon/cli/commands.h"
#include "storage/base/result.h"
#include "storage/domain/benchmark.h"

namespace CLI {
class App;
}

/// Helpers that several subcommands share.
namespace torchwatch::cli {

/// Sends log lines to standard error.
void set_up_log(config::LogLevel level);

/// Sets the lowest severity of log lines. Any thread may log meanwhile.
void set_log_level(config::LogLevel level);

/// Sets the worker to the one next to `executable`, unless it is configured. Suites with a command
/// get the torchwatch-command there.
void fill_worker(config::Options& options, std::string const& executable);

/// Loads and checks a configuration, also the rules that need the list of native models, and
/// declares its metrics. The message of a failure has a line for each error.
Result<config::Options> load_checked(std::string const& file);

/// Loads and checks the configuration, and sets up the log and the proxy. Prints the errors and
/// returns nothing when it is invalid. Call it before the first thread starts: it sets variables.
std::optional<config::Options> load_options(Invocation const& invocation);

/// Loads and checks the configuration of a running service again. Changes no log and no variable.
/// The message of a failure has a line for each error.
Result<config::Options> load_again(Invocation const& invocation);

/// Loads the configuration for a command that measures: fleets with `"devices": ["all"]` get a slot
/// for each GPU of this host.
std::optional<config::Options> load_measuring_options(Invocation const& invocation);

/// Returns a validator for CLI11 that accepts the texts that `parse` accepts. `allowed` describes
/// them for the error message.
template <class Parse>
auto parsed_by(Parse parse, std::string allowed) {
  return [parse, allowed = std::move(allowed)](std::string const& text) {
    return parse(text) ? std::string{} : "found \"" + text + "\", allowed is " + allowed;
  };
}

inline constexpr auto benchmark_form = "a name like test_eval[resnet18-cpu-eager]";

/// Prints "torchwatch COMMAND: MESSAGE" to standard error, and returns could_not_run.
int complain(std::string_view command, std::string_view message);

/// Sets the texts of errors of the command line. A missing or unknown command gets a list of those
/// that are allowed.
void set_failure_message(CLI::App& app);

/// Adds an example to the help of `command`: "$ torchwatch ...", and below it what it prints. Call
/// it after adding the subcommands of `command`, which otherwise inherit the example.
void add_example(CLI::App& command, std::string_view example);

/// Returns the absolute path. A worker runs in a directory of its own.
std::string absolute_path(std::string const& path);

/// Parses the names of benchmarks. Throws when one is not valid.
std::vector<Benchmark> to_benchmarks(std::vector<std::string> const& names);

}  // namespace torchwatch::cli
