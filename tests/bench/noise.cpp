#include "noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "drawn_order.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace torchwatch::bench {
namespace {

using bisect::Pair;

/// Student's t with three degrees of freedom and standard deviation `sigma`.
struct HeavyTails {
  double sigma;

  double operator()(Random& random) {
    return sigma * std::student_t_distribution<>{3}(random) / std::numbers::sqrt3;
  }
};

struct Normal {
  double sigma;

  double operator()(Random& random) { return sigma * normal(random); }
};

/// The median of ten runs around the level of a process. Runs are twice as noisy as levels. The
/// standard deviation of the median is `sigma` in all.
struct WithinAndBetween {
  double sigma;

  double operator()(Random& random) {
    constexpr double median_of_ten =
        0.371;  // its standard deviation, for runs with standard deviation 1
    constexpr double within = 2;
    double const between = std::sqrt(1 - std::pow(within * median_of_ten, 2));
    std::array<double, 10> runs{};
    for (auto& run : runs)
      run = within * normal(random);
    std::ranges::sort(runs);
    return sigma * (between * normal(random) + (runs[4] + runs[5]) / 2);
  }
};

/// A wandering host that also becomes slower by a tenth of the noise with each process.
struct Drift {
  double sigma;
  double host = 0;

  double operator()(Random& random) {
    host += sigma * (0.1 + 0.3 * normal(random));
    return host + sigma * normal(random);
  }
};

/// A host that is sometimes a third slower for some processes.
struct Bursts {
  double sigma;
  bool disturbed = false;

  double operator()(Random& random) {
    disturbed = happens(random, disturbed ? 0.7 : 0.03);
    return sigma * normal(random) + (disturbed ? std::log(1.33) : 0);
  }
};

/// Processes that are fast or slow at random, by their layout.
struct TwoModes {
  double sigma;

  double operator()(Random& random) {
    double const mode = happens(random, 0.5) ? 1 : -1;
    return sigma * (0.98 * mode + 0.2 * normal(random));
  }
};

/// Memory of processes. A random share of them takes `extra` more.
class MemoryOutliers final : public Samples {
 public:
  MemoryOutliers(double share, double extra, std::uint64_t seed)
      : share_{share},
        extra_{extra},
        random_{seed} {}

  Pair next(double ratio) override {
    double const before = process();
    double const after = process();
    return {before, ratio * after};
  }

  Metric metric() const override { return Metric::cmem; }

 private:
  double process() { return happens(random_, share_) ? 1 + extra_ : 1; }

  double share_;
  double extra_;
  Random random_;
};

using Series = std::vector<Pair>;

/// Pairs of one recorded series from a random position on, repeated after its end. The two builds
/// are identical, so a random bit decides for each pair whether they are swapped.
class Replayed final : public Samples {
 public:
  Replayed(std::vector<Series> const& recorded, std::uint64_t seed) : random_{seed} {
    auto const below = [this](std::size_t count) {
      return std::uniform_int_distribution<std::size_t>{0, count - 1}(random_);
    };
    series_ = recorded[below(recorded.size())];
    next_ = below(series_.size());
  }

  Pair next(double ratio) override {
    auto [before, after] = series_[next_++ % series_.size()];
    if (happens(random_, 0.5)) std::swap(before, after);
    return {before, ratio * after};
  }

 private:
  Random random_;
  Series series_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<NoiseModel> noise_models(double sigma) {
  return {model("normal", sigma, Normal{sigma}),
          model("t(3)", sigma, HeavyTails{sigma}),
          model("within+between", sigma, WithinAndBetween{sigma}),
          model("drift", sigma, Drift{sigma}),
          model("bursts", sigma, Bursts{sigma}),
          model("two modes", sigma, TwoModes{sigma})};
}

NoiseModel memory_outliers(double share, double extra) {
  return {fmt::format("memory, {:.0f}% +{:.0f}%", 100 * share, 100 * extra),
          0,
          [share, extra](std::uint64_t seed) {
            return std::make_unique<MemoryOutliers>(share, extra, seed);
          }};
}

NoiseModel recorded_noise(std::string name, std::string const& file) {
  std::ifstream stream{file};
  if (!stream) throw std::runtime_error(file + ": the file cannot be read");
  auto recorded = std::make_shared<std::vector<Series>>();
  for (auto const& series : nlohmann::json::parse(stream)) {
    auto& pairs = recorded->emplace_back();
    for (auto const& pair : series.at("pairs"))
      pairs.push_back({pair.at(0).get<double>(), pair.at(1).get<double>()});
  }
  if (recorded->empty() || std::ranges::any_of(*recorded, &Series::empty))
    throw std::runtime_error(
        file + ": found no series, or a series without pairs; each series needs pairs");
  return {std::move(name), 0, [recorded](std::uint64_t seed) {
            return std::make_unique<Replayed>(*recorded, seed);
          }};
}

}  // namespace torchwatch::bench
