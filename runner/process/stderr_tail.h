#pragma once

#include <memory>
#include <string>

#include <boost/asio/posix/stream_descriptor.hpp>

namespace torchwatch::process {

/// Drains a pipe while it is open, so that the writer never blocks, and keeps the last bytes. Must
/// be owned by a shared_ptr: its pending wait ends one iteration of the event loop after `stop`.
class StderrTail : public std::enable_shared_from_this<StderrTail> {
 public:
  /// Number of bytes that are kept.
  static constexpr std::size_t capacity = 4096;

  explicit StderrTail(boost::asio::posix::stream_descriptor input) : input_{std::move(input)} {}

  /// Starts to drain. Does nothing when the descriptor is not open.
  void start();

  void stop();

  /// Returns the bytes kept, after reading those that are still in the pipe.
  std::string text();

 private:
  enum class Read { some, nothing_yet, ended };

  Read read_some();
  void wait_for_more();

  boost::asio::posix::stream_descriptor input_;
  std::string tail_;
};

}  // namespace torchwatch::process
