#include "histories.h"

#include <cmath>
#include <random>

namespace torchwatch::bench {
namespace {

constexpr double noise = 0.02;

using Random = std::mt19937_64;
using Noise = std::function<double(Random&)>;

double normal(Random& random) {
  return std::normal_distribution<double>{0, noise}(random);
}

/// Student t(3) noise with the standard deviation of the other kinds.
double heavy(Random& random) {
  return noise / std::numbers::sqrt3 * std::student_t_distribution<double>{3}(random);
}

/// Noise in which one night in twenty is up to 60% slower.
double stray(Random& random) {
  std::uniform_real_distribution<double> uniform;
  return normal(random) + (uniform(random) < 0.05 ? 0.5 * uniform(random) : 0);
}

/// Noise in which neighbours correlate by 0.3.
Noise wandering() {
  return [last = 0.0](Random& random) mutable {
    last = 0.3 * last + std::sqrt(1 - 0.3 * 0.3) * normal(random);
    return last;
  };
}

struct Step {
  std::size_t nights = 0;
  double level = 1;
};

/// Makes a kind of history from pairs of nights and level. `missed`: share of nights without a
/// value.
History live(std::vector<Step> const& steps, Noise noise_of, double missed, std::uint64_t seed) {
  Random random{seed};
  std::uniform_real_distribution<double> uniform;
  History history;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i > 0) history.changes.push_back(history.values.size());
    for (std::size_t night = 0; night < steps[i].nights; ++night)
      if (uniform(random) >= missed)
        history.values.push_back(std::log(steps[i].level) + noise_of(random));
  }
  return history;
}

Life life(std::string name, std::vector<Step> steps, Noise noise_of, double missed = 0) {
  return {std::move(name), [=](std::uint64_t seed) {
            return live(steps, noise_of, missed, seed);
          }};
}

}  // namespace

std::vector<Life> changing_lives() {
  std::vector<Step> const step{{150, 1}, {150, 1.07}};
  std::vector<Step> const stairs{{60, 1}, {60, 1.05}, {60, 1.12}, {60, 1.08}, {60, 1.2}};
  return {
      life("+3%", {{150, 1}, {150, 1.03}}, normal),
      life("+7%", step, normal),
      life("+20%", {{150, 1}, {150, 1.2}}, normal),
      life("+20% for 12 nights", {{150, 1}, {12, 1.2}, {150, 1}}, normal),
      life("+20% a week ago", {{300, 1}, {7, 1.2}}, normal),
      life("stairs", stairs, normal),
      life("stairs, outliers", stairs, stray),
      life("stairs, heavy tails", stairs, heavy),
      life("stairs, missed nights", stairs, normal, 0.2),
      life("stairs, wandering", stairs, wandering()),
  };
}

std::vector<Life> flat_lives(std::size_t nights) {
  std::vector<Step> const flat{{nights, 1}};
  return {
      life("flat", flat, normal),
      life("flat, outliers", flat, stray),
      life("flat, heavy tails", flat, heavy),
      life("flat, missed nights", flat, normal, 0.2),
      life("flat, wandering", flat, wandering()),
  };
}

}  // namespace torchwatch::bench
