#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

namespace torchwatch {

/// What kind of failure it was: enough to decide what to do next; the message is for people.
enum class ErrorCode {
  invalid_argument,  ///< the caller or the user gave something that cannot be
  not_found,         ///< what was asked for does not exist
  unavailable,  ///< the outside world did not answer, or its answer was lost; may be tried again
  refused,      ///< the outside world understood and said no; trying again does not help
  corrupt,      ///< stored or received data breaks its own format
  cancelled,    ///< the service is stopping
  internal,     ///< a bug, or a system call that should not fail
};

/// One failure: a code to act on and one line that names what, where, found and allowed.
struct Error {
  ErrorCode code{};
  std::string message;
  /// This host could not start a program: no process, descriptor or memory was left, or no sandbox
  /// could be made. It says nothing of what the program was started for, and counts as no attempt
  /// at that. The code is `unavailable`.
  bool is_of_host = false;
};

/// Expected failure is a value. `Result<>` carries no value.
template <class T = void>
using Result = boost::system::result<T, Error>;

/// Lets `.value()` on a failed Result throw with its message.
[[noreturn]] inline void throw_exception_from_error(Error const& error,
                                                    boost::source_location const&) {
  throw std::runtime_error(error.message);
}

/// `error` with a prefix that says what was being done: "open store: disk is full".
inline Error within(std::string const& doing, Error error) {
  error.message.insert(0, doing + ": ");
  return error;
}

}  // namespace torchwatch
