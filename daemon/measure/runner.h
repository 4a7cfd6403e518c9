#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "storage/base/result.h"

namespace torchwatch::measure {

/// A connection to a runner on a measuring host: one line of `runner/protocol.h` at a time. An
/// interface, because the host and its launcher are not ours. One conversation at a time, on one
/// thread; the destructor ends the runner.
class Runner {
 public:
  virtual ~Runner() = default;

  /// Returns its next line, without the newline. Any error except `cancelled` means that the runner
  /// is lost.
  virtual boost::asio::awaitable<Result<std::string>> read_line() = 0;

  /// Fails as read_line() does.
  virtual boost::asio::awaitable<Result<>> write_line(std::string line) = 0;

  /// The last error output of the runner or its launcher, for people and for `launcher_end`.
  virtual std::string last_words() const = 0;

  /// Closes its input and returns at once. A runner ends then, and its launcher after it. Write
  /// nothing afterwards.
  virtual void close() = 0;

  /// True when the runner or its launcher has ended.
  virtual bool has_ended() const = 0;

  /// Waits up to `patience` for its end. Returns has_ended(). Throws boost::system::system_error
  /// with operation_aborted when cancelled.
  virtual boost::asio::awaitable<bool> ends_within(std::chrono::milliseconds patience) = 0;
};

/// Starts the runner of a fleet's slot. Fails when there is no such program.
using StartRunner = std::function<Result<std::unique_ptr<Runner>>(std::size_t slot)>;

}  // namespace torchwatch::measure
