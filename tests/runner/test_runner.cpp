#include <exception>
#include <iostream>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "runner/loop.h"

int main() {
  boost::asio::io_context loop{1};
  int status = 1;
  auto on_end = [&](std::exception_ptr failure, int returned) {
    if (failure) std::rethrow_exception(failure);
    status = returned;
    loop.stop();
  };
  boost::asio::co_spawn(loop, torchwatch::runner::run_runner(0), on_end);
  loop.run();
  return status;
}
