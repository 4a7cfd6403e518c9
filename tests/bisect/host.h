#pragma once

#include <cmath>
#include <numbers>
#include <random>

#include "bisect/compare/compare.h"

namespace torchwatch::bisect {

/// Factor on the number of simulation runs. It is larger in an optimised build.
#ifdef NDEBUG
inline constexpr int effort = 10;
#else
inline constexpr int effort = 1;
#endif

/// A simulated host: every process reports its level times noise.
class Host {
 public:
  struct Noise {
    double sigma = 0;          ///< deviation of one process's log level
    bool heavy_tails = false;  ///< Student's t with 3 degrees of freedom, scaled to that sigma
    double bursts = 0;         ///< share of processes that take 60% longer
    double drift = 0;          ///< deviation of the noise that both processes of a pair share
  };

  Host(Noise noise, std::uint64_t seed) : noise_{noise}, random_{seed} {}

  double process(double level) {
    double const off =
        noise_.heavy_tails ? tails_(random_) / std::numbers::sqrt3 : normal_(random_);
    bool const burst = uniform_(random_) < noise_.bursts;
    return level * std::exp(noise_.sigma * off) * (burst ? 1.6 : 1.0);
  }

  Pair pair(double before, double after) {
    double const drift = std::exp(noise_.drift * normal_(random_));
    double const first = process(before * drift);
    return {first, process(after * drift)};
  }

 private:
  Noise noise_;
  std::mt19937_64 random_;
  std::normal_distribution<> normal_;
  std::student_t_distribution<> tails_{3};
  std::uniform_real_distribution<> uniform_;
};

}  // namespace torchwatch::bisect
