#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

namespace torchwatch {

/// The kind of a failure, from which a caller decides what to do next.
enum class ErrorCode {
  invalid_argument,  ///< the caller or the user passed an invalid value
  not_found,         ///< the requested thing does not exist
  unavailable,       ///< temporary: another system did not reply, or its reply was lost
  refused,           ///< permanent: another system rejected the request; a retry does not help
  corrupt,           ///< stored or received data violates its format
  cancelled,         ///< the service is stopping
  internal,          ///< a bug, or a system call that should not fail
};

/// A failure: a code for the caller, and one line for people that names what, where, the value
/// found and the values allowed.
struct Error {
  ErrorCode code{};
  std::string message;
  /// True when this host could not start a program: no process, descriptor or memory was left, or
  /// no sandbox could be made. It does not count as an attempt of the program's task. The code is
  /// `unavailable`.
  bool is_of_host = false;
};

/// A value or an Error. `Result<>` has no value.
template <class T = void>
using Result = boost::system::result<T, Error>;

/// Makes `.value()` of a failed Result throw std::runtime_error with its message.
[[noreturn]] inline void throw_exception_from_error(Error const& error,
                                                    boost::source_location const&) {
  throw std::runtime_error(error.message);
}

/// Returns `error` with the action as a prefix of its message: "open store: disk is full".
inline Error within(std::string const& doing, Error error) {
  error.message.insert(0, doing + ": ");
  return error;
}

}  // namespace torchwatch
