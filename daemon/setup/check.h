#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"

namespace torchwatch::setup {

/// The result of checking one thing that a configuration relies on.
struct Check {
  std::string what;      ///< "index", "fleet a100"
  bool is_good = false;  ///< also when there was nothing to check
  std::string found;     ///< one line, for people
  std::chrono::duration<double> seconds{};
};

/// Checks everything that `options` relies on. The checks run side by side and do not affect each
/// other. Their order in the result is fixed. Files no issues, fetches no commits and leaves
/// nothing behind. Takes as long as the slowest check; each has a time limit of minutes.
/// Single-threaded, on `executor`; `options` must outlive it. `executable`: this program.
boost::asio::awaitable<std::vector<Check>> check_world(boost::asio::any_io_executor executor,
                                                       config::Options const& options,
                                                       std::string executable);

}  // namespace torchwatch::setup
