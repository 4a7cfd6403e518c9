#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "daemon/async/run_until_signal.h"
#include "daemon/cli/commands.h"
#include "runner/loop.h"

namespace torchwatch::cli {

namespace {

std::vector<std::string> words_of(std::string const& text) {
  try {
    return nlohmann::json::parse(text).get<std::vector<std::string>>();
  } catch (nlohmann::json::exception const&) {
    throw CLI::ValidationError{"found " + text + ", must be a JSON array of words"};
  }
}

}  // namespace

/// The runner process of a fleet's slot: speaks the protocol on standard input and output.
void add_runner(CLI::App& app, Chosen& chosen) {
  auto* const command = app.add_subcommand("runner", "Measure for a service: speaks its protocol");
  auto const options = std::make_shared<runner::RunnerOptions>();
  command->add_option("--slot", options->slot, "Which of the fleet's slots it is")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--gpu", options->gpu, "The GPU that it measures on: index or UUID");
  command->add_flag("!--no-isolation", options->is_isolated, "Keep workers in no sandboxes");
  command->add_flag("--network", options->has_network, "Let workers see the network");
  command->add_flag("--beside-others",
                    options->beside_others,
                    "Measure while others do on this host's other kind of device");
  command->add_option_function<std::string>(
      "--before-round",
      [options](std::string const& text) { options->before_round = words_of(text); },
      "Command to run before each round: JSON, an array of its words");
  command->add_option_function<std::string>(
      "--after-round",
      [options](std::string const& text) { options->after_round = words_of(text); },
      "Command to run after each round, likewise");
  command->add_option("--locks", options->locks, "Where runners of this host lock its devices")
      ->check(CLI::ExistingDirectory);
  command->add_option("--environment", options->environment, "Variables that workers get, too");
  command->add_option("--readable", options->readable, "Directories that workers may read, too");
  command->add_option("--hidden", options->hidden, "What workers may not read, wherever it lies");
  command->callback([options, &chosen] {
    chosen = [options] {
      boost::asio::io_context loop{1};
      return async::run_until_signal(loop, runner::run_runner(*options));
    };
  });
}

}  // namespace torchwatch::cli
