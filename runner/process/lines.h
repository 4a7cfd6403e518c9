#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "storage/base/result.h"

namespace torchwatch::process {

/// Lines from a pipe. For one reader at a time, on the descriptor's executor.
class LineReader {
 public:
  explicit LineReader(boost::asio::posix::stream_descriptor input) : input_{std::move(input)} {}

  /// The next line without its newline. Text after the last newline is no line. Errors:
  /// `unavailable` at the end of input; `corrupt` when a line is longer than
  /// protocol::max_line_bytes, and then for ever; `cancelled` when the caller was, and then nothing
  /// is lost: the next call goes on where this one stopped.
  boost::asio::awaitable<Result<std::string>> read_line();

  /// Whatever comes next, a byte at least and 64 KiB at most unless a line was begun. Errors:
  /// `unavailable` at the end of input; `cancelled` when the caller was, and then nothing is lost.
  boost::asio::awaitable<Result<std::string>> read_block();

 private:
  boost::asio::posix::stream_descriptor input_;
  std::string buffer_;
};

/// Writes `line` and a newline. Errors: `unavailable` when nobody reads any more; `cancelled`,
/// after which part of the line may have been written. SIGPIPE must be ignored. `output` must
/// outlive the coroutine.
boost::asio::awaitable<Result<>> write_line(boost::asio::posix::stream_descriptor& output,
                                            std::string line);

}  // namespace torchwatch::process
