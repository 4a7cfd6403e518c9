#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"

namespace torchwatch::setup {

/// One thing of the world that a configuration relies on, as it was found.
struct Check {
  std::string what;      ///< "index", "fleet a100"
  bool is_good = false;  ///< or there was nothing to look at, as `found` then says
  std::string found;     ///< one line, for people
  std::chrono::duration<double> seconds{};
};

/// Looks at everything that `options` relies on, side by side: one check each, in an order that
/// does not change, whatever the others found. Files nothing, fetches no commits and leaves
/// nothing behind. Takes as long as the slowest, which a time limit of its own bounds at minutes.
/// Single-threaded, on `executor`; `options` must outlive it. `executable`: this program.
boost::asio::awaitable<std::vector<Check>> check_world(boost::asio::any_io_executor executor,
                                                       config::Options const& options,
                                                       std::string executable);

}  // namespace torchwatch::setup
