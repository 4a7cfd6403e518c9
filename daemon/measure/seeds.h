#pragma once

#include <cstdint>
#include <random>

namespace torchwatch::measure {

/// Where the seeds of rounds come from, one for each. An interface, because chance is not ours.
/// Single-threaded.
class Seeds {
 public:
  virtual ~Seeds() = default;

  /// Uniform among all numbers of 32 bits, and independent of whatever was drawn before.
  virtual std::uint32_t draw() = 0;
};

/// The system's, which nobody can tell beforehand. Throws std::exception where it has none.
class SystemSeeds final : public Seeds {
 public:
  std::uint32_t draw() override { return device_(); }

 private:
  std::random_device device_;
};

}  // namespace torchwatch::measure
