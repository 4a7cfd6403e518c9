#include "bisect/posterior.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>

#include "bisect/fit.h"

namespace torchwatch::bisect {

namespace {

/// Tried ratios of the variance of a round to that of a reading, and their probabilities.
struct Drift {
  double ratio = 0;
  double probability = 0;
};

constexpr std::array drifts{Drift{0, 0.4}, Drift{0.5, 0.2}, Drift{4, 0.2}, Drift{50, 0.2}};

/// Several changes are each anywhere between minus and plus this; the largest may be beyond, as
/// rarely as a single one.
constexpr double widest_change = 0.5;

/// Density, a priori, of the sizes of several changes.
double density_of(std::span<double const> sizes, Expectation const& expectation) {
  constexpr double uniform = 1 / (2 * widest_change);
  double largest = 0;
  for (double const size : sizes)
    largest = std::max(largest, std::abs(size));
  double const growth = 1 + std::max(0.0, largest - expectation.least) / expectation.excess;
  double const tail = 1 / (expectation.excess * growth * growth * growth);
  return std::pow(uniform, static_cast<double>(sizes.size()) - 1) * std::min(uniform, tail);
}

/// An explanation under each drift.
struct Candidate {
  std::vector<std::size_t> gaps;
  double prior = 0;
  std::array<Fit, drifts.size()> fits;

  double log_weight(std::size_t drift) const {
    return std::log(prior * drifts[drift].probability) + fits[drift].log_evidence;
  }
};

/// Share of the prior in each gap.
std::vector<double> weights_of(Belief const& belief, std::span<double const> prior) {
  double const total = std::accumulate(prior.begin(), prior.end(), 0.0);
  std::vector<double> weights;
  for (std::size_t gap = 0; gap < belief.gaps(); ++gap) {
    auto const begin = prior.begin() + static_cast<std::ptrdiff_t>(belief.positions[gap]);
    auto const end = prior.begin() + static_cast<std::ptrdiff_t>(belief.positions[gap + 1]);
    weights.push_back(std::accumulate(begin, end, 0.0) / total);
  }
  return weights;
}

/// No, one or two changes.
std::vector<Candidate> list_candidates(std::span<double const> weights,
                                       Expectation const& expectation) {
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

/// Three changes, as rare beside two as two are beside one.
std::vector<Candidate> list_triples(std::span<double const> weights,
                                    Expectation const& expectation) {
  std::vector<Candidate> all;
  double total = 0;
  for (std::size_t first = 0; first < weights.size(); ++first)
    for (auto second = first + 1; second < weights.size(); ++second)
      for (auto third = second + 1; third < weights.size(); ++third) {
        double const weight = weights[first] * weights[second] * weights[third];
        total += weight;
        all.push_back({{first, second, third}, weight, {}});
      }
  double const prior = (1 - expectation.no_change) * expectation.several * expectation.several;
  for (auto& candidate : all)
    candidate.prior *= prior / total;
  return all;
}

/// `known`: gaps that hold a known change.
Fit fit(Candidate const& candidate,
        std::span<std::size_t const> known,
        Fitter& fitter,
        Expectation const& expectation) {
  std::vector<std::size_t> gaps(known.begin(), known.end());
  gaps.insert(gaps.end(), candidate.gaps.begin(), candidate.gaps.end());
  if (candidate.gaps.size() == 1) return fitter.fit_change(gaps);
  auto result = fitter.fit(gaps);
  if (!candidate.gaps.empty())
    result.log_evidence += std::log(
        density_of(std::span{result.parameters}.subspan(1 + known.size(), candidate.gaps.size()),
                   expectation));
  return result;
}

/// Around their mean.
std::vector<Value> values_of(Belief const& belief, std::span<Reading const> readings, double mean) {
  std::map<std::size_t, std::size_t> rounds;
  for (auto const& reading : readings)
    rounds.try_emplace(reading.round, rounds.size());
  std::vector<Value> values;
  for (auto const& reading : readings) {
    auto const found = std::ranges::lower_bound(belief.positions, reading.position);
    values.push_back({static_cast<std::size_t>(found - belief.positions.begin()),
                      rounds.at(reading.round),
                      reading.level - mean});
  }
  return values;
}

/// All candidates with their fits, and the best of them.
class Fits {
 public:
  Fits(std::span<Value const> values,
       std::span<std::size_t const> known,
       Expectation const& expectation)
      : values_{values},
        known_{known},
        expectation_{expectation} {
    for (auto const& value : values)
      rounds_ = std::max(rounds_, value.round + 1);
  }

  void add(std::vector<Candidate> const& candidates) {
    auto const first = all_.size();
    std::ranges::copy_if(candidates, std::back_inserter(all_), [this](Candidate const& candidate) {
      return std::ranges::find_first_of(candidate.gaps, known_) == candidate.gaps.end();
    });
    for (std::size_t drift = 0; drift < drifts.size(); ++drift) {
      Fitter fitter{values_, rounds_, drifts[drift].ratio, expectation_};
      for (auto i = first; i < all_.size(); ++i) {
        all_[i].fits[drift] = fit(all_[i], known_, fitter, expectation_);
        double const weight = all_[i].log_weight(drift);
        if (weight <= largest_) continue;
        largest_ = weight;
        best_ = i;
        best_drift_ = drift;
      }
    }
  }

  std::vector<Candidate> const& all() const { return all_; }

  Candidate const& best() const { return all_[best_]; }

  std::size_t best_drift() const { return best_drift_; }

 private:
  std::span<Value const> values_;
  std::span<std::size_t const> known_;
  Expectation const& expectation_;
  std::size_t rounds_ = 0;
  std::vector<Candidate> all_;
  double largest_ = -std::numeric_limits<double>::infinity();
  std::size_t best_ = 0;
  std::size_t best_drift_ = 0;
};

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

/// The gaps that hold suspects.
std::vector<std::size_t> gaps_of(Belief const& belief, std::span<std::size_t const> suspects) {
  std::vector<std::size_t> gaps;
  for (auto const suspect : suspects) {
    auto const after = std::ranges::upper_bound(belief.positions, suspect);
    gaps.push_back(static_cast<std::size_t>(after - belief.positions.begin()) - 1);
  }
  return gaps;
}

}  // namespace

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
               Expectation const& expectation,
               std::span<std::size_t const> known) {
  auto belief = positions_of(prior, readings);
  auto const weights = weights_of(belief, prior);
  auto candidates = list_candidates(weights, expectation);
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
  auto const values = values_of(belief, readings, center);
  auto const known_gaps = gaps_of(belief, known);
  Fits fits{values, known_gaps, expectation};
  fits.add(candidates);
  // Three changes are thought of when two explain more than one.
  if (fits.best().gaps.size() > 1) fits.add(list_triples(weights, expectation));
  auto const best_drift = fits.best_drift();
  double const largest = fits.best().log_weight(best_drift);
  double total = 0;
  for (auto const& candidate : fits.all()) {
    auto const& fit = candidate.fits[best_drift];
    Hypothesis hypothesis{{}, 0, center + fit.parameters[0]};
    for (std::size_t i = 0; i < candidate.gaps.size(); ++i)
      hypothesis.changes.push_back({candidate.gaps[i], fit.parameters[1 + known.size() + i]});
    for (std::size_t drift = 0; drift < drifts.size(); ++drift)
      hypothesis.probability += std::exp(candidate.log_weight(drift) - largest);
    total += hypothesis.probability;
    belief.hypotheses.push_back(std::move(hypothesis));
  }
  for (auto& hypothesis : belief.hypotheses)
    hypothesis.probability /= total;
  belief.noise = std::sqrt(fits.best().fits[best_drift].variance);
  belief.drift = drifts[best_drift].ratio;
  return belief;
}

}  // namespace torchwatch::bisect
