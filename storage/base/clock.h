#pragma once

#include <chrono>

namespace torchwatch {

/// Seconds since the Unix epoch, UTC. Times are stored only in this form.
using Timestamp = std::chrono::sys_seconds;

/// The source of the current time. Thread-safe.
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
