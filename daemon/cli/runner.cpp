#include <memory>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <unistd.h>

#include "daemon/async/run.h"
#include "daemon/cli/commands.h"
#include "runner/loop.h"

namespace torchwatch::cli {

/// The runner process of a fleet's slot: speaks the protocol on standard input and output.
void add_runner(CLI::App& app, Chosen& chosen) {
  auto* const command = app.add_subcommand("runner", "Measure for a service: speaks its protocol");
  auto const slot = std::make_shared<int>(0);
  command->add_option("--slot", *slot, "Which of the fleet's slots it is")
      ->check(CLI::NonNegativeNumber);
  command->callback([slot, &chosen] {
    chosen = [slot] {
      boost::asio::io_context loop{1};
      return async::run_until_signal(loop, runner::run_runner(*slot, STDIN_FILENO, STDOUT_FILENO));
    };
  });
}

}  // namespace torchwatch::cli
