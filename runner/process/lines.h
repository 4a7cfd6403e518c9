#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "storage/base/result.h"

namespace torchwatch::process {

/// Reads lines from a pipe. At most one read at a time, on the descriptor's executor.
class LineReader {
 public:
  explicit LineReader(boost::asio::posix::stream_descriptor input) : input_{std::move(input)} {}

  /// Reads the next line, without its newline. Text after the last newline is not a line. Errors:
  /// `unavailable` at the end of input; `corrupt` when a line is longer than
  /// protocol::max_line_bytes, and in all later calls; `cancelled` when the caller was cancelled.
  /// Then no input is lost, and the next call continues.
  boost::asio::awaitable<Result<std::string>> read_line();

  /// Reads the next bytes: at least one, at most 64 KiB, or all of a line that was read in part.
  /// Errors: `unavailable` at the end of input; `cancelled` when the caller was cancelled; then no
  /// input is lost.
  boost::asio::awaitable<Result<std::string>> read_block();

 private:
  boost::asio::posix::stream_descriptor input_;
  std::string buffer_;
};

/// Writes `line` and a newline. Errors: `unavailable` when the reader has closed its end;
/// `cancelled`, after which part of the line may have been written. SIGPIPE must be ignored.
/// `output` must outlive the coroutine.
boost::asio::awaitable<Result<>> write_line(boost::asio::posix::stream_descriptor& output,
                                            std::string line);

}  // namespace torchwatch::process
