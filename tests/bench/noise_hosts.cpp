/// Models of effects of hosts on two equal builds.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "drawn_order.h"
#include "noise.h"
#include <fmt/format.h>

#include "bisect/compare/levels.h"

namespace torchwatch::bench {
namespace {

constexpr double quiet = 0.01;
constexpr double usual = 0.03;

/// Load of another program, for the share `duty` of each `period` processes, from a random start.
struct Beat {
  double period;
  double duty;
  double load = std::log(1.2);
  double now = -1;

  double operator()(Random& random) {
    if (now < 0) now = std::uniform_real_distribution<>{0, period}(random);
    bool const is_loaded = std::fmod(now++, period) < duty * period;
    return quiet * normal(random) + (is_loaded ? load : 0);
  }
};

/// The load of Beat, with a random period for each comparison.
struct AnyBeat {
  Beat beat{0, 0.5};

  double operator()(Random& random) {
    if (beat.period == 0) beat.period = std::uniform_real_distribution<>{2, 12}(random);
    return beat(random);
  }
};

/// A square load with a period of `period` runs, while two processes take turns run by run. The
/// order is random in each turn.
class BeatOfRuns final : public Samples {
 public:
  BeatOfRuns(double period, std::uint64_t seed) : period_{period}, random_{seed} {
    now_ = std::uniform_real_distribution<>{0, period}(random_);
  }

  bisect::Pair next(double ratio) override {
    constexpr std::size_t turns = 10;
    std::array<std::vector<double>, 2> runs;
    std::array const luck{quiet * normal(random_), quiet * normal(random_)};
    for (std::size_t turn = 0; turn < turns; ++turn) {
      std::size_t const first = happens(random_, 0.5) ? 0 : 1;
      for (std::size_t const who : {first, 1 - first})
        runs[who].push_back(std::exp(luck[who] + run()));
    }
    auto const levels = bisect::levels_of(runs);
    return {levels[0], ratio * levels[1]};
  }

 private:
  double run() {
    bool const is_loaded = std::fmod(now_++, period_) < period_ / 2;
    return quiet * normal(random_) + (is_loaded ? std::log(1.2) : 0);
  }

  double period_;
  Random random_;
  double now_ = 0;
};

/// A share of the processes that takes many times as long.
struct Outliers {
  double share;
  double times;

  double operator()(Random& random) {
    return usual * normal(random) + (happens(random, share) ? std::log(times) : 0);
  }
};

/// One early process that takes a hundred times as long.
struct OneOutlier {
  int processes = 0;

  double operator()(Random& random) {
    constexpr int slow = 5;
    return usual * normal(random) + (++processes == slow ? std::log(100) : 0);
  }
};

/// A pair in which one place is slower. The slower place changes sometimes.
struct SlowerPlace {
  double change;  ///< probability that the slower place changes between pairs
  bool first = true;
  bool is_second = false;

  double operator()(Random& random) {
    if (!is_second && happens(random, change)) first = !first;
    bool const is_slower = is_second != first;
    is_second = !is_second;
    return quiet * normal(random) + (is_slower ? std::log(1.15) : 0);
  }
};

/// Two processes of a pair that take a resource from each other.
struct Exclusive {
  double other = 0;
  bool is_second = false;

  double operator()(Random& random) {
    constexpr double sigma = 0.1;
    constexpr double correlation = -0.9;
    double const own =
        is_second ? correlation * other + std::sqrt(1 - correlation * correlation) * normal(random)
                  : normal(random);
    other = own;
    is_second = !is_second;
    return sigma * own;
  }
};

/// A clock with ticks of `tick`, relative to the level.
struct CoarseClock {
  double tick;

  double operator()(Random& random) {
    return std::log(std::max(1.0, std::floor(std::exp(quiet * normal(random)) / tick)) * tick);
  }
};

/// Processes that are rarely slow, at random.
struct SeldomSlow {
  double operator()(Random& random) {
    return quiet * normal(random) + (happens(random, 0.15) ? std::log(1.15) : 0);
  }
};

}  // namespace

std::vector<NoiseModel> host_models() {
  std::vector<NoiseModel> models;
  for (double const period : {2.0, 3.0, 4.0, 4.1})
    for (double const duty : {0.25, 0.5})
      models.push_back(
          model(fmt::format("beat {}, {:.0f}%", period, 100 * duty), 0, Beat{period, duty}));
  models.push_back(model("beat 2 to 12", 0, AnyBeat{}));
  for (double const period : {2.0, 3.0, 4.0, 4.1})
    models.push_back({fmt::format("beat of runs {}", period), 0, [period](std::uint64_t seed) {
                        return std::make_unique<BeatOfRuns>(period, seed);
                      }});
  models.push_back(model("first slower", 0, SlowerPlace{0}));
  models.push_back(model("one place slower", 0, SlowerPlace{0.1}));
  models.push_back(model("either slower", 0, SlowerPlace{0.5}));
  models.push_back(model("exclusive", 0, Exclusive{}));
  models.push_back(model("clock 1/15", 0, CoarseClock{1 / 15.4}));
  models.push_back(model("clock 1/30", 0, CoarseClock{1 / 30.3}));
  models.push_back(model("15% slow", 0, SeldomSlow{}));
  return models;
}

std::vector<NoiseModel> outlier_models() {
  return {model("one x100", 0, OneOutlier{}),
          model("2% x3", 0, Outliers{0.02, 3}),
          model("1% x100", 0, Outliers{0.01, 100}),
          model("5% x1.5", 0, Outliers{0.05, 1.5})};
}

}  // namespace torchwatch::bench
