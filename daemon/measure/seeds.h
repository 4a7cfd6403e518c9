#pragma once

#include <cstdint>
#include <random>

namespace torchwatch::measure {

/// The source of the seeds of rounds, one per attempt. An interface, so that tests can fix the
/// seeds. Single-threaded.
class Seeds {
 public:
  virtual ~Seeds() = default;

  /// Returns a number that is uniform among all 32-bit numbers, and independent of earlier ones.
  virtual std::uint32_t draw() = 0;
};

/// Unpredictable seeds of the operating system. Throws std::exception where it has none.
class SystemSeeds final : public Seeds {
 public:
  std::uint32_t draw() override { return device_(); }

 private:
  std::random_device device_;
};

}  // namespace torchwatch::measure
