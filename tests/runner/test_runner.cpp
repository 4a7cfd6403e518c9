#include <cstdlib>
#include <exception>
#include <iostream>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "runner/loop.h"

/// A runner with sandboxes, unless there is an argument. Its locks are its own, unless TEST_LOCKS
/// names a directory. It runs the shell script that TEST_HOOK names with "before" and "after"
/// around each round.
int main(int argc, char**) {
  boost::asio::io_context loop{1};
  int status = 1;
  torchwatch::runner::RunnerOptions options;
  options.is_isolated = argc == 1;
  char const* const locks = std::getenv("TEST_LOCKS");
  options.beside_others = locks == nullptr;
  if (locks != nullptr) options.locks = locks;
  if (char const* const hook = std::getenv("TEST_HOOK"); hook != nullptr) {
    options.before_round = {"sh", hook, "before"};
    options.after_round = {"sh", hook, "after"};
  }
  auto on_end = [&](std::exception_ptr failure, int returned) {
    if (failure) std::rethrow_exception(failure);
    status = returned;
    loop.stop();
  };
  boost::asio::co_spawn(loop, torchwatch::runner::run_runner(options), on_end);
  loop.run();
  return status;
}
