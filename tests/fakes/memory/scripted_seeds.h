#pragma once

#include <cstdint>
#include <random>

#include "daemon/measure/seeds.h"

namespace torchwatch::fakes {

/// Seeds that are equal in every run of a test.
class ScriptedSeeds final : public measure::Seeds {
 public:
  std::uint32_t draw() override { return static_cast<std::uint32_t>(generator_()); }

 private:
  std::mt19937 generator_{2};
};

}  // namespace torchwatch::fakes
