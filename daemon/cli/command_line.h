#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/options.h"
#include "daemon/cli/commands.h"
#include "storage/domain/benchmark.h"

/// What the subcommands' flags have in common.
namespace torchwatch::cli {

/// Log lines go to standard error.
void set_up_log(config::LogLevel level);

/// A worker that is not configured is the one beside `executable`.
void fill_worker(config::Options& options, std::string const& executable);

/// The configuration, checked; prints what is wrong with it and returns nothing otherwise. Sets up
/// the log and the proxy, so there may be no threads yet.
std::optional<config::Options> load_options(Invocation const& invocation);

/// The same for who measures: fleets of all GPUs have a slot for each.
std::optional<config::Options> load_measuring_options(Invocation const& invocation);

/// Checks one word or benchmark name on the command line with the parser that the rest of the
/// program uses.
template <class Parse>
auto parsed_by(Parse parse, std::string allowed) {
  return [parse, allowed = std::move(allowed)](std::string const& text) {
    return parse(text) ? std::string{} : "found \"" + text + "\", allowed is " + allowed;
  };
}

inline constexpr auto benchmark_form = "a name like test_eval[resnet18-cpu-eager]";

/// Prints what is wrong in one line, and returns the exit status for it.
int complain(std::string_view command, std::string_view message);

/// Of names that are good.
std::vector<Benchmark> to_benchmarks(std::vector<std::string> const& names);

}  // namespace torchwatch::cli
