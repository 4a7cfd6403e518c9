#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "noise.h"

namespace torchwatch::bench {

using Random = std::mt19937_64;

inline double normal(Random& random) {
  return std::normal_distribution<>{}(random);
}

inline bool happens(Random& random, double probability) {
  return std::bernoulli_distribution{probability}(random);
}

/// Pairs of processes that run one after the other. `Process`, called with the generator, returns
/// the log noise of each. A random bit decides which build is first, as in every round.
template <class Process>
class DrawnOrder final : public Samples {
 public:
  DrawnOrder(Process process, std::uint64_t seed) : process_{std::move(process)}, random_{seed} {}

  bisect::Pair next(double ratio) override {
    double const first = std::exp(process_(random_));
    double const second = std::exp(process_(random_));
    if (happens(random_, 0.5)) return {first, ratio * second};
    return {second, ratio * first};
  }

 private:
  Process process_;
  Random random_;
};

template <class Process>
NoiseModel model(std::string name, double sigma, Process process) {
  return {std::move(name), sigma, [process](std::uint64_t seed) {
            return std::make_unique<DrawnOrder<Process>>(process, seed);
          }};
}

}  // namespace torchwatch::bench
