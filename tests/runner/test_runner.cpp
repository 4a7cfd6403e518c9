#include <exception>
#include <iostream>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "runner/loop.h"

/// Isolated as well as the host can, unless there is an argument.
int main(int argc, char**) {
  boost::asio::io_context loop{1};
  int status = 1;
  torchwatch::runner::RunnerOptions options;
  options.is_isolated = argc == 1;
  auto on_end = [&](std::exception_ptr failure, int returned) {
    if (failure) std::rethrow_exception(failure);
    status = returned;
    loop.stop();
  };
  boost::asio::co_spawn(loop, torchwatch::runner::run_runner(options), on_end);
  loop.run();
  return status;
}
