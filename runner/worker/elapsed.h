#pragma once

#include <chrono>

namespace torchwatch::worker {

/// Returns the time since `start`.
inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace torchwatch::worker
