#include "bisect/posterior.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

namespace torchwatch::bisect {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Tried ratios of the variance of a round to that of a reading, and their probabilities.
struct Drift {
  double ratio = 0;
  double probability = 0;
};

constexpr std::array drifts{Drift{0, 0.4}, Drift{0.5, 0.2}, Drift{4, 0.2}, Drift{50, 0.2}};

/// Two changes are each anywhere between minus and plus this.
constexpr double widest_change = 0.5;

/// Sums of squares and products of readings and steps, in the metric that takes out what rounds
/// have in common. Step g is 0 up to position g and 1 from position g + 1 on.
class Moments {
 public:
  Moments(Belief const& belief, std::span<Reading const> readings, double center, double drift);

  double log_determinant() const { return log_determinant_; }

  double intercept() const { return product(0, 0); }

  /// With the intercept taken out: of the levels, of a step and the levels, of two steps.
  double squares() const { return level_squares_ - sums_[0] * sums_[0] / intercept(); }

  double with_levels(std::size_t step) const {
    return sums_[step + 1] - product(step + 1, 0) * sums_[0] / intercept();
  }

  double of_steps(std::size_t one, std::size_t other) const {
    return product(one + 1, other + 1) - product(one + 1, 0) * product(other + 1, 0) / intercept();
  }

  /// Level of the start when steps `share` of the way account for `size`.
  double base(double shared) const { return (sums_[0] - shared) / intercept(); }

  double with_intercept(std::size_t step) const { return product(step + 1, 0); }

 private:
  double product(std::size_t row, std::size_t column) const {
    return products_[row * sums_.size() + column];
  }

  std::vector<double> products_;  // of column i: 1 from the i-th position on
  std::vector<double> sums_;      // the same with the levels
  double level_squares_ = 0;
  double log_determinant_ = 0;
};

Moments::Moments(Belief const& belief,
                 std::span<Reading const> readings,
                 double center,
                 double drift)
    : products_(belief.positions.size() * belief.positions.size()),
      sums_(belief.positions.size()) {
  auto const size = belief.positions.size();

  struct Round {
    double sum = 0;
    double count = 0;
    std::map<std::size_t, double> at;  // readings at each index
  };

  std::map<std::size_t, Round> rounds;
  for (auto const& reading : readings) {
    auto const found = std::ranges::lower_bound(belief.positions, reading.position);
    auto const index = static_cast<std::size_t>(found - belief.positions.begin());
    double const level = reading.level - center;
    auto& round = rounds[reading.round];
    round.sum += level;
    round.count += 1;
    round.at[index] += 1;
    sums_[index] += level;
    products_[index * size + index] += 1;
    level_squares_ += level * level;
  }
  for (auto const& [number, round] : rounds) {
    double const share = drift / (1 + round.count * drift);
    log_determinant_ += std::log1p(round.count * drift);
    level_squares_ -= share * round.sum * round.sum;
    for (auto const& [row, count] : round.at) {
      sums_[row] -= share * count * round.sum;
      for (auto const& [column, other] : round.at)
        products_[row * size + column] -= share * count * other;
    }
  }
  // From single positions to "from there on".
  for (auto row = size - 1; row-- > 0;) {
    sums_[row] += sums_[row + 1];
    for (std::size_t column = 0; column < size; ++column)
      products_[row * size + column] += products_[(row + 1) * size + column];
  }
  for (std::size_t row = 0; row < size; ++row)
    for (auto column = size - 1; column-- > 0;)
      products_[row * size + column] += products_[row * size + column + 1];
}

/// Log of how well a hypothesis predicted the readings, and its best sizes.
struct Fit {
  double log_evidence = -infinity;
  std::array<double, 2> sizes{};
  double base = 0;
  double variance = 0;
};

class Weigher {
 public:
  Weigher(Moments const& moments, std::size_t readings, Expectation const& expectation)
      : moments_{moments},
        free_{static_cast<double>(readings) - 1},
        expectation_{expectation},
        prior_squares_{expectation.degrees * expectation.noise * expectation.noise} {}

  Fit no_change() const { return fit({}, moments_.squares(), 0, 0); }

  Fit one_change(std::size_t gap) const {
    double const square = moments_.of_steps(gap, gap);
    if (square < smallest_square) return no_change();  // nothing was measured on one side
    double const size = moments_.with_levels(gap) / square;
    auto result = fit({size, 0}, moments_.squares() - size * size * square, 1, std::log(square));
    double const deviation = std::sqrt(result.variance / square);
    result.log_evidence += std::log(prior_of(size, deviation, free_ - 1));
    result.sizes[0] = likely(size);
    result.base = moments_.base(result.sizes[0] * moments_.with_intercept(gap));
    return result;
  }

  Fit two_changes(std::size_t first, std::size_t second) const {
    double const a = moments_.of_steps(first, first);
    double const b = moments_.of_steps(first, second);
    double const d = moments_.of_steps(second, second);
    double const determinant = a * d - b * b;
    if (determinant < smallest_square) return {};
    double const p = moments_.with_levels(first);
    double const q = moments_.with_levels(second);
    std::array const sizes{(d * p - b * q) / determinant, (a * q - b * p) / determinant};
    double const explained = sizes[0] * p + sizes[1] * q;
    auto result = fit(sizes, moments_.squares() - explained, 2, std::log(determinant));
    result.log_evidence -= 2 * std::log(2 * widest_change);
    result.base = moments_.base(sizes[0] * moments_.with_intercept(first) +
                                sizes[1] * moments_.with_intercept(second));
    return result;
  }

 private:
  static constexpr double smallest_square = 1e-9;

  Fit fit(std::array<double, 2> sizes, double residual, int changes, double log_square) const {
    constexpr double log_two_pi = 1.8378770664093453;
    double const degrees = expectation_.degrees + free_ - changes;
    double const squares = prior_squares_ + std::max(residual, 0.0);
    Fit result;
    result.sizes = sizes;
    result.variance = squares / degrees;
    result.base = moments_.base(0);
    result.log_evidence = std::lgamma(degrees / 2) - degrees / 2 * std::log(squares / 2) +
                          changes * log_two_pi / 2 - log_square / 2 -
                          (moments_.log_determinant() + std::log(moments_.intercept())) / 2;
    return result;
  }

  /// Expected density, a priori, of a size that is Student distributed around `size`.
  double prior_of(double size, double deviation, double free) const {
    double const degrees = expectation_.degrees + free;
    auto const up = [&] {
      return integrate(size, deviation, degrees);
    };
    auto const down = [&] {
      return integrate(-size, deviation, degrees);
    };
    switch (expectation_.direction) {
      case Direction::increase:
        return up();
      case Direction::decrease:
        return down();
      case Direction::both:
        return (up() + down()) / 2;
    }
    return 0;
  }

  /// By Simpson's rule where prior and likelihood overlap.
  double integrate(double size, double deviation, double degrees) const {
    constexpr int intervals = 24;
    constexpr double deviations = 7;
    constexpr double excesses = 12;
    double const least = expectation_.least;
    double const excess = expectation_.excess;
    double const low = std::max(least, size - deviations * deviation);
    double const width = std::min(2 * deviations * deviation, excesses * excess + low - least);
    double sum = 0;
    for (int i = 0; i <= intervals; ++i) {
      double const at = low + width * i / intervals;
      double const growth = 1 + (at - least) / excess;
      double const t = (at - size) / deviation;
      double const weight = i == 0 || i == intervals ? 1 : (i % 2 == 1 ? 4 : 2);
      sum +=
          weight * std::pow(1 + t * t / degrees, -(degrees + 1) / 2) / (growth * growth * growth);
    }
    double const student = std::exp(std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2)) /
                           (std::sqrt(degrees * std::numbers::pi) * deviation);
    return std::max(2 / excess * student * sum * width / intervals / 3, 1e-300);
  }

  /// `size`, moved to where it may be.
  double likely(double size) const {
    double const least = expectation_.least;
    if (expectation_.direction == Direction::decrease ||
        (expectation_.direction == Direction::both && size < 0))
      return std::min(size, -least);
    return std::max(size, least);
  }

  Moments const& moments_;
  double free_;
  Expectation const& expectation_;
  double prior_squares_;
};

/// An explanation under each drift.
struct Candidate {
  std::vector<std::size_t> gaps;
  double prior = 0;
  std::array<Fit, drifts.size()> fits;

  double log_weight(std::size_t drift) const {
    return std::log(prior * drifts[drift].probability) + fits[drift].log_evidence;
  }
};

std::vector<Candidate> list_candidates(Belief const& belief,
                                       std::span<double const> prior,
                                       Expectation const& expectation) {
  double const total = std::accumulate(prior.begin(), prior.end(), 0.0);
  std::vector<double> weights;
  for (std::size_t gap = 0; gap < belief.gaps(); ++gap) {
    auto const begin = prior.begin() + static_cast<std::ptrdiff_t>(belief.positions[gap]);
    auto const end = prior.begin() + static_cast<std::ptrdiff_t>(belief.positions[gap + 1]);
    weights.push_back(std::accumulate(begin, end, 0.0) / total);
  }
  std::vector<Candidate> all;
  all.push_back({{}, expectation.no_change, {}});
  double const change = 1 - expectation.no_change;
  double const single = change * (1 - (weights.size() > 1 ? expectation.several : 0));
  for (std::size_t gap = 0; gap < weights.size(); ++gap)
    all.push_back({{gap}, single * weights[gap], {}});
  double pairs = 1;  // twice the weight of all pairs of different gaps
  for (double const weight : weights)
    pairs -= weight * weight;
  for (std::size_t first = 0; first < weights.size(); ++first)
    for (auto second = first + 1; second < weights.size(); ++second)
      all.push_back({{first, second},
                     change * expectation.several * 2 * weights[first] * weights[second] / pairs,
                     {}});
  return all;
}

Fit weigh(Candidate const& candidate, Weigher const& weigher) {
  if (candidate.gaps.empty()) return weigher.no_change();
  if (candidate.gaps.size() == 1) return weigher.one_change(candidate.gaps[0]);
  return weigher.two_changes(candidate.gaps[0], candidate.gaps[1]);
}

Belief positions_of(std::span<double const> prior, std::span<Reading const> readings) {
  std::map<std::size_t, int> counts{{0, 0}, {prior.size(), 0}};
  for (auto const& reading : readings)
    ++counts[reading.position];
  Belief belief;
  for (auto const& [position, count] : counts) {
    belief.positions.push_back(position);
    belief.readings.push_back(count);
  }
  return belief;
}

}  // namespace

double Hypothesis::level_before(std::size_t gap) const {
  double level = base;
  for (auto const& change : changes)
    if (change.gap < gap) level += change.size;
  return level;
}

double Belief::no_change() const {
  for (auto const& hypothesis : hypotheses)
    if (hypothesis.changes.empty()) return hypothesis.probability;
  return 0;
}

double Belief::changed_in(std::size_t gap) const {
  double sum = 0;
  for (auto const& hypothesis : hypotheses)
    for (auto const& change : hypothesis.changes)
      if (change.gap == gap) sum += hypothesis.probability;
  return sum;
}

Belief believe(std::span<double const> prior,
               std::span<Reading const> readings,
               Expectation const& expectation) {
  auto belief = positions_of(prior, readings);
  auto candidates = list_candidates(belief, prior, expectation);
  if (readings.empty()) {
    for (auto const& candidate : candidates) {
      Hypothesis hypothesis{{}, candidate.prior, 0};
      for (auto const gap : candidate.gaps)
        hypothesis.changes.push_back({gap, expectation.least + expectation.excess});
      belief.hypotheses.push_back(std::move(hypothesis));
    }
    belief.noise = expectation.noise;
    return belief;
  }
  double center = 0;
  for (auto const& reading : readings)
    center += reading.level / static_cast<double>(readings.size());
  double largest = -infinity;
  std::size_t best_drift = 0;
  Candidate const* best = nullptr;
  for (std::size_t drift = 0; drift < drifts.size(); ++drift) {
    Moments const moments{belief, readings, center, drifts[drift].ratio};
    Weigher const weigher{moments, readings.size(), expectation};
    for (auto& candidate : candidates) {
      candidate.fits[drift] = weigh(candidate, weigher);
      double const weight = candidate.log_weight(drift);
      if (weight <= largest) continue;
      largest = weight;
      best = &candidate;
      best_drift = drift;
    }
  }
  double total = 0;
  for (auto const& candidate : candidates) {
    auto const& fit = candidate.fits[best_drift];
    Hypothesis hypothesis{{}, 0, center + fit.base};
    for (std::size_t i = 0; i < candidate.gaps.size(); ++i)
      hypothesis.changes.push_back({candidate.gaps[i], fit.sizes[i]});
    for (std::size_t drift = 0; drift < drifts.size(); ++drift)
      hypothesis.probability += std::exp(candidate.log_weight(drift) - largest);
    total += hypothesis.probability;
    belief.hypotheses.push_back(std::move(hypothesis));
  }
  for (auto& hypothesis : belief.hypotheses)
    hypothesis.probability /= total;
  belief.noise = std::sqrt(best->fits[best_drift].variance);
  belief.drift = drifts[best_drift].ratio;
  return belief;
}

}  // namespace torchwatch::bisect
