#pragma once

#include <memory>
#include <string>

#include <boost/asio/posix/stream_descriptor.hpp>

namespace torchwatch::process {

/// Drains a pipe for as long as it is open, so that whoever writes never blocks, and keeps the end
/// of what came. Shared with its own pending wait, which outlives `stop` by a turn of the loop.
class StderrTail : public std::enable_shared_from_this<StderrTail> {
 public:
  /// Bytes kept.
  static constexpr std::size_t capacity = 4096;

  explicit StderrTail(boost::asio::posix::stream_descriptor input) : input_{std::move(input)} {}

  /// Begins to drain. Does nothing when the descriptor is not open.
  void start();

  void stop();

  /// What was kept, including what is still in the pipe.
  std::string text();

 private:
  enum class Read { some, nothing_yet, ended };

  Read read_some();
  void wait_for_more();

  boost::asio::posix::stream_descriptor input_;
  std::string tail_;
};

}  // namespace torchwatch::process
