#include <exception>
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>
#include <boost/system/system_error.hpp>

#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/printable_output.h"

namespace torchwatch {
namespace {

constexpr int interrupted = 130;  // the exit status of a shell after SIGINT

constexpr auto program_example = R"($ torchwatch incidents
id  nightly     state      age  worst   of                                  culprit         ...
1   2025-09-03  explained  ...  +20.4%  test_eval[dcgan-cpu-eager]_latency  340bc50b898b...)";

int run(int argc, char** argv) {
  cli::Invocation invocation{std::filesystem::read_symlink("/proc/self/exe").string(), ""};
  cli::Chosen chosen;
  CLI::App app{
      "Finds performance regressions in PyTorch nightlies, and the commit that caused each one."};
  app.set_version_flag("--version", TORCHWATCH_VERSION);
  app.require_subcommand(1);
  app.add_option("--config", invocation.config_file, "File of the configuration")
      ->envname("TORCHWATCH_CONFIG")
      ->default_val("/etc/torchwatch/torchwatch.json");
  cli::add_init(app, invocation, chosen);
  cli::add_serve(app, invocation, chosen);
  cli::add_check(app, invocation, chosen);
  cli::add_runner(app, chosen);
  cli::add_bench(app, invocation, chosen);
  cli::add_suite(app, invocation, chosen);
  cli::add_compare(app, invocation, chosen);
  cli::add_bisect(app, invocation, chosen);
  cli::add_records(app, invocation, chosen);
  cli::add_bisections(app, chosen);
  cli::add_builds(app, invocation, chosen);
  cli::add_rule(app, invocation, chosen);
  cli::add_backup(app, invocation, chosen);
  cli::add_config(app, invocation, chosen);
  cli::add_example(app, program_example);
  cli::set_failure_message(app);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& problem) {
    return app.exit(problem) == 0 ? 0 : int{cli::could_not_run};
  }
  cli::PrintableOutput const output{std::cout};
  try {
    return chosen();
  } catch (boost::system::system_error const& problem) {
    if (problem.code() != boost::system::errc::operation_canceled) throw;
    std::cerr << "torchwatch: interrupted\n";
    return interrupted;
  }
}

}  // namespace
}  // namespace torchwatch

int main(int argc, char** argv) {
  try {
    return torchwatch::run(argc, argv);
  } catch (std::exception const& problem) {
    std::cerr << "torchwatch: " << problem.what() << '\n';
    return torchwatch::cli::could_not_run;
  }
}
