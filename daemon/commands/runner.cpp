#include <boost/asio/io_context.hpp>
#include <unistd.h>

#include "daemon/async/run.h"
#include "daemon/commands/commands.h"
#include "runner/supervisor.h"

namespace torchwatch::commands {

int runner(int slot) {
  boost::asio::io_context loop{1};
  return run_until_signal(loop, runner::run_runner(slot, STDIN_FILENO, STDOUT_FILENO));
}

}  // namespace torchwatch::commands
