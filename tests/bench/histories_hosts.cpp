#include "histories_hosts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace torchwatch::bench {
namespace {

using Levels = std::vector<double>;
using Random = std::mt19937_64;
using OneNight = std::function<double(double level, Random& random)>;

constexpr double usual_bytes = 1e7;

double chance(Random& random) {
  return std::uniform_real_distribution<double>{}(random);
}

double gaussian(Random& random) {
  return std::normal_distribution<double>{}(random);
}

/// Records each night independently.
Recorder nightly(OneNight one_night) {
  return [one_night = std::move(one_night)](Levels const& levels, Random& random) {
    std::vector<double> values;
    for (double const level : levels)
      values.push_back(std::log(one_night(level, random)));
    return values;
  };
}

double bytes(double level) {
  return std::round(usual_bytes * level);
}

/// Records bytes. A share of the nights has `factor` times as many.
Recorder exact(double share = 0, double factor = 1) {
  return nightly([=](double level, Random& random) {
    return bytes(chance(random) < share ? level * factor : level);
  });
}

/// Records bytes. A share of the nights has up to `factor` times as many.
Recorder exact_up_to(double share, double factor) {
  return nightly([=](double level, Random& random) {
    bool const is_outlier = chance(random) < share;
    return bytes(is_outlier ? level * (1 + (factor - 1) * chance(random)) : level);
  });
}

/// Records bytes. A share of the nights has 64 more.
Recorder off_by_64(double share) {
  return nightly([=](double level, Random& random) {
    return bytes(level) + (chance(random) < share ? 64 : 0);
  });
}

/// Records bytes, 10% more for one to five nights far from both ends.
Recorder blip() {
  return [](Levels levels, Random& random) {
    constexpr std::size_t away = 20;
    auto const begin = away + random() % (levels.size() - 2 * away);
    auto const nights = 1 + random() % 5;
    for (std::size_t i = begin; i < begin + nights; ++i)
      levels[i] *= 1.1;
    return exact()(levels, random);
  };
}

/// Records whole ticks of a clock.
Recorder ticking(double ticks, double deviation, double outliers = 0) {
  return nightly([=](double level, Random& random) {
    double const disturbed = chance(random) < outliers ? 1 + chance(random) : 1;
    return std::round(ticks * level * disturbed * std::exp(deviation * gaussian(random)));
  });
}

/// Records a machine with two states. A share of the nights is slower by `factor`.
Recorder two_modes(double share, double factor) {
  return nightly([=](double level, Random& random) {
    double const mode = chance(random) < share ? factor : 1;
    return level * mode * std::exp(0.01 * gaussian(random));
  });
}

/// Records nights that correlate by `alike`, with `deviation` in all, and with additional noise.
Recorder like_before(double alike, double deviation, double own = 0) {
  return [=](Levels const& levels, Random& random) {
    std::vector<double> values;
    double pace = gaussian(random);
    for (double const level : levels) {
      values.push_back(std::log(level) + deviation * pace + own * gaussian(random));
      pace = alike * pace + std::sqrt(1 - alike * alike) * gaussian(random);
    }
    return values;
  };
}

/// Replaces one night in twenty by NaN or infinity.
Recorder with_holes(Recorder recorder) {
  return [recorder = std::move(recorder)](Levels const& levels, Random& random) {
    auto values = recorder(levels, random);
    for (double& value : values) {
      double const luck = chance(random);
      if (luck < 0.03)
        value = std::numeric_limits<double>::quiet_NaN();
      else if (luck < 0.05)
        value = std::copysign(HUGE_VAL, luck - 0.04);
    }
    return values;
  };
}

}  // namespace

std::vector<Host> hosts() {
  return {
      {"exact", exact()},
      {"exact, 1 in 100 +0.2%", exact(0.01, 1.002)},
      {"exact, 1 in 100 +3%", exact(0.01, 1.03)},
      {"exact, 1 in 100 +20%", exact(0.01, 1.2)},
      {"exact, 1 in 100 to x2", exact_up_to(0.01, 2)},
      {"exact, 1 in 20 to +50%", exact_up_to(0.05, 1.5)},
      {"exact, 1 in 5 +20%", exact(0.2, 1.2)},
      {"exact, 1 in 5 to +20%", exact_up_to(0.2, 1.2)},
      {"exact, 1 in 5 +64 bytes", off_by_64(0.2)},
      {"exact, 1 in 2 +64 bytes", off_by_64(0.5)},
      {"exact, 1 to 5 nights +10%", blip()},
      {"exact, not all numbers", with_holes(exact(0.01, 1.2))},
      {"clock 30.3, noise 1%", ticking(30.3, 0.01)},
      {"clock 30.3, 1%, outliers", ticking(30.3, 0.01, 0.01)},
      {"clock 30.0, noise 1%", ticking(30, 0.01)},
      {"clock 30.3, noise 0.3%", ticking(30.3, 0.003)},
      {"clock 100.3, noise 1%", ticking(100.3, 0.01)},
      // Even with both levels and the noise known, 94, 94 and 87% are found within three nights:
      // one tick occurs on both sides of the step, or the step is 1.5 standard deviations
      {"clock 30.5, noise 1%", ticking(30.5, 0.01), false},
      {"clock 10.2, noise 1%", ticking(10.2, 0.01), false},
      {"clock 30.3, noise 2%", ticking(30.3, 0.02), false},
      {"noise 1%, 1 in 7 +10%", two_modes(1.0 / 7, 1.1)},
      {"noise 1%, 1 in 5 +20%", two_modes(0.2, 1.2)},
      {"noise 1%, not all numbers", with_holes(two_modes(0, 1))},
      {"nights alike 0.5, 1%", like_before(0.5, 0.01), false},
      {"nights alike 0.7, 1%", like_before(0.7, 0.01), false},
      {"nights alike 0.9, 1%", like_before(0.9, 0.01), false},
      {"nights alike 0.9, 0.5%", like_before(0.9, 0.005)},
      {"nights alike 0.9, 1% + 1%", like_before(0.9, 0.01, 0.01), false},
  };
}

}  // namespace torchwatch::bench
