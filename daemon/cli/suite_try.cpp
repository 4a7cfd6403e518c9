#include "daemon/cli/suite_try.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "config/private_paths.h"
#include "config/suites.h"
#include "daemon/async/run_until_signal.h"
#include "daemon/builds/manifest.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/measure_now.h"
#include "daemon/cli/terminal.h"
#include "daemon/measure/job.h"
#include "daemon/service/open_store.h"
#include "daemon/suite_try/trial.h"
#include "storage/base/printable.h"

namespace torchwatch::cli {
namespace {

/// The options of `suite try`.
struct TryFlags {
  std::string suite;
  std::string prefix;     ///< empty: the newest nightly's build
  std::string benchmark;  ///< empty: the first one of the suite
  std::string device = "cpu";
  bool is_isolated = true;
  bool as_json = false;
};

std::string_view word_of(suite_try::State state) {
  switch (state) {
    case suite_try::State::passed:
      return "ok";
    case suite_try::State::failed:
      return "failed";
    case suite_try::State::skipped:
      return "skipped";
  }
  return "";
}

/// Returns the newest of the last nightlies whose build is on this disk; nothing without one.
std::optional<Build> newest_build(config::Options const& options) {
  constexpr int most_nightlies = 30;
  std::error_code ignored;
  if (!std::filesystem::exists(service::store_file(options), ignored)) return std::nullopt;
  auto store = storage::Store::open_reader(service::store_file(options));
  if (!store) return std::nullopt;
  for (auto const& nightly : store->nightlies().newest(most_nightlies)) {
    if (nightly.prefix.empty()) continue;
    auto build = builds::read_build_of(nightly);
    if (build) return std::move(*build);
  }
  return std::nullopt;
}

/// Returns the build in `prefix`, or else that of the newest nightly, or else the system's PyTorch.
Result<Build> build_to_try(config::Options const& options, std::string const& prefix) {
  if (!prefix.empty()) return build_at(prefix);
  return newest_build(options).value_or(Build{});
}

/// Returns the benchmark of that name, or the first one of the suite.
Result<Benchmark> benchmark_to_try(config::SuiteOptions const& suite, TryFlags const& flags) {
  auto const device = parse_device(flags.device).value();
  auto const benchmarks = measure::benchmarks_of(suite, device);
  for (auto const& benchmark : benchmarks)
    if (flags.benchmark.empty() || name_of(benchmark) == flags.benchmark) return benchmark;
  if (benchmarks.empty())
    return Error{ErrorCode::invalid_argument, "suite " + suite.name + ": found no benchmarks"};
  return Error{ErrorCode::invalid_argument,
               "--benchmark: found " + flags.benchmark + ", allowed is one of the suite " +
                   suite.name + ", such as " + name_of(benchmarks.front())};
}

/// Returns the sandbox settings of the first fleet that runs the suite, for the device.
config::FleetOptions fleet_of_try(config::Options const& options,
                                  config::SuiteOptions const& suite,
                                  TryFlags const& flags) {
  auto const found = std::ranges::find_if(
      options.fleets, [&suite](config::FleetOptions const& fleet) { return runs(fleet, suite); });
  auto fleet = found == options.fleets.end() ? options.fleets.front() : *found;
  fleet.device = parse_device(flags.device).value();
  if (!flags.is_isolated) fleet.isolation = config::IsolationWish::none;
  return fleet;
}

Result<suite_try::Subject> subject_of_flags(config::Options const& options, TryFlags const& flags) {
  auto const suite = config::find_suite(options, flags.suite);
  if (!suite) return suite.error();
  auto const benchmark = benchmark_to_try(**suite, flags);
  if (!benchmark) return benchmark.error();
  auto const build = build_to_try(options, flags.prefix);
  if (!build) return build.error();
  suite_try::Subject subject;
  subject.suite = **suite;
  subject.job = measure::job_for(options.measure, **suite, *benchmark, *build);
  subject.job.id = name_of(*benchmark);
  subject.fleet = fleet_of_try(options, **suite, flags);
  subject.hidden = config::private_paths(options);
  subject.decide = options.decide;
  return subject;
}

/// Returns the line above the table: the benchmark and its build.
std::string heading_of(suite_try::Subject const& subject) {
  auto const& prefix = subject.job.build.prefix;
  return subject.job.benchmark + " on " + (prefix.empty() ? "the system's PyTorch" : prefix);
}

int run_suite_try(Invocation const& invocation, TryFlags const& flags) {
  auto options = load_checked(invocation.config_file);
  if (!options) {
    std::cerr << options.error().message << '\n';
    return could_not_run;
  }
  fill_worker(*options, invocation.executable);
  set_up_log(config::LogLevel::warning);
  auto subject = subject_of_flags(*options, flags);
  if (!subject) return complain("suite try", subject.error().message);
  auto const benchmark = subject->job.benchmark;
  auto const prefix = subject->job.build.prefix;
  if (!flags.as_json) std::cout << printable(heading_of(*subject)) << std::endl;
  boost::asio::io_context loop{1};
  auto const on_check = [](std::string const& check) {
    print_fleeting_progress(check);
  };
  auto const results =
      async::run_until_signal(loop, suite_try::try_suite(std::move(*subject), on_check));
  print_fleeting_progress("");
  if (!results) return complain("suite try", results.error().message);
  if (flags.as_json)
    std::cout << json_of(*results, benchmark, prefix).dump(2) << '\n';
  else
    std::cout << table_of(*results);
  return suite_try::have_passed(*results) ? nothing_found : check_failed;
}

constexpr auto suite_try_example = R"($ torchwatch suite try mine
test_run[nanogpt-cpu-mine] on /var/lib/torchwatch/builds/nightly-2026-11-27
starts      ok       hello after 0.1 s
answers     ok       a result after 4.2 s
...
rests       failed   97% of a CPU while it waits for its turn
                     to mend it: stop threads and children between runs: the other build is measured then
...)";

}  // namespace

std::string table_of(std::vector<suite_try::CheckResult> const& results) {
  std::string table;
  for (auto const& result : results) {
    table += fmt::format(
        "{:<10}  {:<7}  {}\n", result.check, word_of(result.state), printable(result.found));
    if (!result.mend.empty())
      table += fmt::format("{:<21}to mend it: {}\n", "", printable(result.mend));
  }
  return table;
}

nlohmann::ordered_json json_of(std::vector<suite_try::CheckResult> const& results,
                               std::string const& benchmark,
                               std::string const& prefix) {
  nlohmann::ordered_json document;
  document["has_passed"] = suite_try::have_passed(results);
  document["benchmark"] = benchmark;
  document["prefix"] = prefix;
  document["checks"] = nlohmann::ordered_json::array();
  for (auto const& result : results) {
    nlohmann::ordered_json one;
    one["check"] = result.check;
    one["state"] = word_of(result.state);
    one["found"] = printable(result.found);
    if (!result.mend.empty()) one["mend"] = result.mend;
    document["checks"].push_back(std::move(one));
  }
  return document;
}

void add_suite_try(CLI::App& suite, Invocation const& invocation, Chosen& chosen) {
  auto const flags = std::make_shared<TryFlags>();
  auto* const command = suite.add_subcommand(
      "try", "Checks that the worker or command of a suite can be measured, and how to mend it.");
  command->add_option("suite", flags->suite, "Name of a suite of the configuration")->required();
  command
      ->add_option("--prefix",
                   flags->prefix,
                   "Directory of the build, with build.json; default: the newest nightly's, or the "
                   "system's PyTorch")
      ->check(CLI::ExistingDirectory)
      ->transform(absolute_path);
  command
      ->add_option(
          "--benchmark", flags->benchmark, "Benchmark to try; default: the first of the suite")
      ->check(parsed_by(parse_benchmark, benchmark_form));
  command->add_option("--device", flags->device, "Device: cpu or cuda")
      ->check(parsed_by(parse_device, "cpu or cuda"))
      ->capture_default_str();
  command->add_flag("!--no-isolation", flags->is_isolated, "Run the worker without a sandbox");
  command->add_flag("--json", flags->as_json, "Print JSON");
  add_example(*command, suite_try_example);
  command->callback([flags, &invocation, &chosen] {
    chosen = [flags, &invocation] {
      return run_suite_try(invocation, *flags);
    };
  });
}

}  // namespace torchwatch::cli
