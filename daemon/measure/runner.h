#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "storage/base/result.h"

namespace torchwatch::measure {

/// A runner on a measuring host, as the service talks with it: a line of `runner/protocol.h` at a
/// time. An interface, because a host and the launcher that leads there are not ours. One
/// conversation at a time, on one thread; the destructor ends the runner.
class Runner {
 public:
  virtual ~Runner() = default;

  /// The next line it says, without the newline. Any error means that it is lost, but for
  /// `cancelled`.
  virtual boost::asio::awaitable<Result<std::string>> read_line() = 0;

  /// Errors as read_line's.
  virtual boost::asio::awaitable<Result<>> write_line(std::string line) = 0;

  /// What it, or its launcher, complained of last, for people.
  virtual std::string last_words() const = 0;
};

/// Starts the runner of a fleet's slot. Fails when there is no such program.
using StartRunner = std::function<Result<std::unique_ptr<Runner>>(std::size_t slot)>;

}  // namespace torchwatch::measure
