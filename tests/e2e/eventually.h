#pragma once

#include <chrono>
#include <thread>

namespace torchwatch::e2e {

/// Calls `holds` until it returns true. Returns false when it does not within `limit`. Waits
/// `pause` between calls.
template <class Predicate>
bool eventually(Predicate holds,
                std::chrono::milliseconds limit = std::chrono::seconds{60},
                std::chrono::milliseconds pause = std::chrono::milliseconds{10}) {
  auto const deadline = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace torchwatch::e2e
