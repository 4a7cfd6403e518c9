#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "storage/domain/bisection.h"

namespace torchwatch::bisect {

/// The level that one process of a build reported. Position p is the build with the first p
/// suspects.
struct Reading {
  std::size_t position = 0;
  std::size_t round = 0;   ///< readings of one round were measured side by side
  double level = 0;        ///< on a scale on which changes add up, as the logarithm of a time
  std::size_t layout = 0;  ///< the layout of the build at that position
};

/// True unless the measurement failed, or the level is the logarithm of zero.
bool is_usable(Reading const& reading);

/// The prior of a search, before anything is measured. Changes are differences of levels.
struct Expectation {
  double no_change = 0.2;   ///< probability that the ends do not differ
  double several = 0.02;    ///< if they do: probability that it was more than one commit ...
  double gradual = 0.0002;  ///< ... and that it was many, each a little
  double least = 0.05;      ///< smallest change by one commit
  double excess = 0.1;      ///< mean amount by which a change by one commit exceeds `least`
  Direction direction = Direction::increase;
  double noise = 0.025;  ///< standard deviation of the level of one process ...
  double degrees = 5;    ///< ... and the number of readings that this prior is worth
  /// Builds of equal commits have levels of their own, by links, alignment and heap. The prior of
  /// their standard deviation: its mean, the probability that it is not 0, and the one that was
  /// measured on other builds of the fleet, or 0. A measured one never makes it smaller.
  double builds = 0.005;
  double builds_differ = 0.006;
  double builds_measured = 0;
};

/// One explanation of all readings: the gaps that hold a commit that changed the level, and the
/// sizes, without the known changes. Gap g lies between the neighbouring positions g and g + 1 of
/// Belief::positions.
struct Hypothesis {
  struct Change {
    std::size_t gap = 0;
    double size = 0;
    std::size_t last = gap;  ///< larger than `gap` for a gradual change, which ends in this gap
  };

  std::vector<Change> changes;  ///< sorted by gap; empty for no change
  double probability = 0;
  double base = 0;  ///< level of the start

  /// True when many commits each contributed a little. Then there is one change.
  bool is_gradual() const { return changes.size() == 1 && changes[0].last > changes[0].gap; }
};

/// The posterior after the readings so far. Variances are relative to that of one reading.
struct Belief {
  std::vector<std::size_t> positions;  ///< measured positions and both ends, ascending
  std::vector<int> readings;           ///< number of readings at each position ...
  std::vector<int> outliers;           ///< ... and the number of outliers among them
  std::vector<double> shares;          ///< share of the prior's weight in each gap
  std::vector<Hypothesis> hypotheses;  ///< their probabilities sum to 1
  double noise = 0;                    ///< standard deviation of one reading's level
  double drift = 0;                    ///< variance of the effect of the next round
  double builds = 0;                   ///< expected variance of the effects of builds

  std::size_t gaps() const { return positions.size() - 1; }

  double no_change() const;

  /// Probability that a change, or a part of it, is in `gap`.
  double changed_in(std::size_t gap) const;

  /// Probability that `count` processes of one build are all outliers. The share of outliers is
  /// estimated from the readings, with Jeffreys' prior.
  double all_outliers(int count) const;

  /// Probability that the change is gradual.
  double gradual() const;
};

/// The most known changes that `believe` accepts.
inline constexpr std::size_t most_known = 5;

/// Returns the posterior of all explanations by Bayes' rule: with no, one or two changes, with
/// three where two explain more than one, and with a gradual change. `prior[i]` is the weight of
/// suspect i, which position i + 1 has and position i does not have. There is at least one, and all
/// are positive. The suspects of a gap differ only by `prior`. Pure; takes milliseconds at most.
///
/// Levels are constant between changes. A reading's deviation has heavy tails, so that a process
/// may be an outlier. Its variance is unknown, with the prior of `expectation`. Rounds have effects
/// whose variance is unknown too: a few ratios to that of a reading are tried and weighed.
///
/// The start's level has a flat prior. A single change is at least `least`, with the tail of Lomax
/// 1954, so that a tenfold change is possible. Several changes may have any size, and the largest
/// has that tail.
///
/// After Zellner 1971, An Introduction to Bayesian Inference in Econometrics, chapter 3, for the
/// linear model with unknown variance; Fearnhead 2006, Exact and efficient Bayesian inference for
/// multiple changepoint problems, for explanations by number and place of changes.
///
/// `known` lists at most `most_known` suspects that are known to have changed the level. Both
/// builds next to each have been read. Each explanation fits the sizes of their changes, without a
/// prior.
Belief believe(std::span<double const> prior,
               std::span<Reading const> readings,
               Expectation const& expectation,
               std::span<std::size_t const> known = {});

}  // namespace torchwatch::bisect
