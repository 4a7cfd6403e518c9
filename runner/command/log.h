#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace torchwatch::command {

/// The log of a command: its output except runs. Passes the first bytes on, and keeps the
/// last.
class Log {
 public:
  /// The number of bytes that are passed on. The rest is dropped, with one line that says so.
  static constexpr std::size_t capacity = std::size_t{256} << 10;
  /// The number of bytes that are kept.
  static constexpr std::size_t tail_capacity = 4096;

  using Sink = std::function<void(std::string_view)>;

  /// `sink` gets the bytes to pass on.
  explicit Log(Sink sink) : sink_{std::move(sink)} {}

  void add(std::string_view text);

  /// The last bytes.
  std::string const& tail() const { return tail_; }

 private:
  Sink sink_;
  std::size_t left_ = capacity;
  std::string tail_;
};

}  // namespace torchwatch::command
