#pragma once

#include <chrono>

namespace torchwatch {

/// Seconds since the Unix epoch, UTC: the only form in which time is stored.
using Timestamp = std::chrono::sys_seconds;

/// The only way to ask what time it is. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Timestamp now() const override {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  }
};

}  // namespace torchwatch
