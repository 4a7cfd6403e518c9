#include "bisect/search/posterior.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "bisect/search/explanations.h"

namespace torchwatch::bisect {

namespace {

/// The share of the prior in each gap.
std::vector<double> shares_of(Belief const& belief, std::span<double const> prior) {
  double const total = std::accumulate(prior.begin(), prior.end(), 0.0);
  std::vector<double> weights;
  for (std::size_t gap = 0; gap < belief.gaps(); ++gap) {
    auto const begin = prior.begin() + static_cast<std::ptrdiff_t>(belief.positions[gap]);
    auto const end = prior.begin() + static_cast<std::ptrdiff_t>(belief.positions[gap + 1]);
    weights.push_back(std::accumulate(begin, end, 0.0) / total);
  }
  return weights;
}

/// The readings by round, minus their mean.
Measured table_of(Belief const& belief,
                  std::span<Reading const> readings,
                  std::span<double const> shares,
                  double mean) {
  Measured table;
  table.passed.push_back(0);
  for (double const share : shares)
    table.passed.push_back(table.passed.back() + share);
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> builds;
  std::map<std::size_t, std::vector<Value>> rounds;
  for (auto const& reading : readings) {
    auto const [build, is_new] =
        builds.try_emplace({reading.position, reading.layout}, builds.size());
    auto const found = std::ranges::lower_bound(belief.positions, reading.position);
    if (is_new) table.at.push_back(static_cast<std::size_t>(found - belief.positions.begin()));
    rounds[reading.round].push_back({build->second, 0, reading.level - mean});
  }
  for (auto const& [round, values] : rounds) {
    table.rounds.push_back(table.values.size());
    for (auto const& value : values)
      table.values.push_back({value.build, table.rounds.size() - 1, value.level});
  }
  table.rounds.push_back(table.values.size());
  return table;
}

Belief positions_of(std::span<double const> prior, std::span<Reading const> readings) {
  std::map<std::size_t, int> counts{{0, 0}, {prior.size(), 0}};
  for (auto const& reading : readings)
    ++counts[reading.position];
  Belief belief;
  for (auto const& [position, count] : counts) {
    belief.positions.push_back(position);
    belief.readings.push_back(count);
    belief.outliers.push_back(0);
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

Hypothesis hypothesis_of(Explanation const& explanation, double center, std::size_t known) {
  Hypothesis hypothesis{{}, explanation.weight, center + explanation.fit.parameters[0]};
  for (std::size_t i = 0; i < explanation.rises.size(); ++i)
    hypothesis.changes.push_back({explanation.rises[i].gap,
                                  explanation.fit.parameters[1 + known + i],
                                  explanation.rises[i].last});
  return hypothesis;
}

/// The variance of the effect of the next round, relative to that of a reading, for plans. For a
/// walk it is large, so that only differences within a round count. Further rounds of the same
/// builds add ever less information about their levels than independent rounds would.
double next_round(Drift const& drift) {
  constexpr double unknown = 50;
  return drift.is_walk ? unknown : drift.variance;
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
      if (change.gap <= gap && gap <= change.last) sum += hypothesis.probability;
  return sum;
}

double Belief::gradual() const {
  double sum = 0;
  for (auto const& hypothesis : hypotheses)
    if (hypothesis.is_gradual()) sum += hypothesis.probability;
  return sum;
}

double Belief::all_outliers(int count) const {
  double const outlying = std::accumulate(outliers.begin(), outliers.end(), 0);
  double const all = std::accumulate(readings.begin(), readings.end(), 0);
  double probability = 1;
  for (int i = 0; i < count; ++i)
    probability *= (outlying + 0.5 + i) / (all + 1 + i);
  return probability;
}

bool is_usable(Reading const& reading) {
  constexpr double largest = 1e100;  // its square is finite
  return std::abs(reading.level) < largest;
}

Belief believe(std::span<double const> prior,
               std::span<Reading const> all_readings,
               Expectation const& expectation,
               std::span<std::size_t const> known) {
  std::vector<Reading> readings;
  std::ranges::copy_if(all_readings, std::back_inserter(readings), is_usable);
  auto belief = positions_of(prior, readings);
  auto const shares = belief.shares = shares_of(belief, prior);
  belief.noise = expectation.noise;
  if (readings.empty()) {
    for (auto const& explanation : expect(shares, expectation))
      belief.hypotheses.push_back(hypothesis_of(explanation, 0, known.size()));
    for (auto& hypothesis : belief.hypotheses)
      for (auto& change : hypothesis.changes)
        change.size = expectation.least + expectation.excess;
    return belief;
  }
  double center = 0;
  for (auto const& reading : readings)
    center += reading.level / static_cast<double>(readings.size());
  auto const table = table_of(belief, readings, shares, center);
  auto const explanations = explain(table, shares, gaps_of(belief, known), expectation);
  for (auto const& explanation : explanations.all)
    belief.hypotheses.push_back(hypothesis_of(explanation, center, known.size()));
  belief.noise = explanations.noise;
  belief.drift = next_round(explanations.ratios.drift);
  belief.builds = explanations.builds;
  belief.outliers = explanations.outliers;
  return belief;
}

}  // namespace torchwatch::bisect
