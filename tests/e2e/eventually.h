#pragma once

#include <chrono>
#include <thread>

namespace torchwatch::e2e {

/// Asks again and again until `holds` does; false when it still does not after `limit`.
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
