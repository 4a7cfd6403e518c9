#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "daemon/async/run_until_signal.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "runner/loop.h"

namespace torchwatch::cli {

namespace {

std::vector<std::string> words_of(std::string const& text) {
  try {
    return nlohmann::json::parse(text).get<std::vector<std::string>>();
  } catch (nlohmann::json::exception const&) {
    throw CLI::ValidationError{"found " + text + ", allowed is a JSON array of strings"};
  }
}

constexpr auto runner_example = R"($ torchwatch runner < /dev/null
{"devices":[],"fingerprint":{"host":"...",...},...,"role":"runner","type":"hello"})";

}  // namespace

/// Adds `torchwatch runner`, the process of a fleet's slot. It exchanges messages with the service
/// on standard input and output.
void add_runner(CLI::App& app, Chosen& chosen) {
  auto* const command = app.add_subcommand("runner", "Measures for a service, which starts it.");
  auto const options = std::make_shared<runner::RunnerOptions>();
  command->add_option("--slot", options->slot, "Number of its slot on this host, from 0")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--slots", options->slots, "Number of slots on this host")
      ->check(CLI::PositiveNumber);
  command->add_option("--gpu", options->gpu, "GPU that it measures on: index or UUID");
  command->add_flag("!--no-isolation", options->is_isolated, "Run workers without a sandbox");
  command->add_flag("--network", options->has_network, "Give workers a network");
  command->add_flag("--beside-others",
                    options->beside_others,
                    "Measure while other runners use the other kind of device");
  command->add_option_function<std::string>(
      "--before-round",
      [options](std::string const& text) { options->before_round = words_of(text); },
      "Command to run before each round: a JSON array of strings");
  command->add_option_function<std::string>(
      "--after-round",
      [options](std::string const& text) { options->after_round = words_of(text); },
      "Command to run after each round: a JSON array of strings");
  command->add_option("--locks", options->locks, "Directory of the device locks of this host")
      ->check(CLI::ExistingDirectory);
  command->add_option("--environment", options->environment, "More variables that workers get");
  command->add_option("--readable", options->readable, "More directories that workers may read");
  command->add_option(
      "--hidden", options->hidden, "Files and directories that workers may not read");
  add_example(*command, runner_example);
  command->callback([options, &chosen] {
    chosen = [options] {
      boost::asio::io_context loop{1};
      return async::run_until_signal(loop, runner::run_runner(*options));
    };
  });
}

}  // namespace torchwatch::cli
