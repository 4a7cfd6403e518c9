#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "storage/domain/bisection.h"

namespace torchwatch::bisect {

/// One process of one build of a range of suspects.
struct Reading {
  std::size_t position =
      0;                   ///< how many of the suspects the build has: 0 is the start of the range
  std::size_t round = 0;   ///< readings of one round were measured next to each other
  double level = 0;        ///< on a scale on which changes add up: the logarithm of a time
  std::size_t layout = 0;  ///< which of the builds of that position
};

/// Whether it says anything: no failed measurement, nor the logarithm of nothing.
bool is_usable(Reading const& reading);

/// What is believed before anything is measured. Changes are differences of levels.
struct Expectation {
  double no_change = 0.2;   ///< probability that the ends do not differ
  double several = 0.02;    ///< if they do: probability that it was more than one commit ...
  double gradual = 0.0002;  ///< ... and that it was many, each a little
  double least = 0.05;      ///< size below which a change by one commit does not matter
  double excess = 0.1;      ///< mean of what a change by one commit is larger than that
  Direction direction = Direction::increase;
  double noise = 0.025;  ///< standard deviation of the level of one process ...
  double degrees = 5;    ///< ... and how many readings that knowledge is worth
  /// Standard deviation of the levels that equal commits' builds have by themselves, by links,
  /// alignment and heap: its mean, with the probability that they differ at all; and what it is
  /// about where it was learnt from builds, or 0. What was learnt of others makes it no smaller.
  double builds = 0.005;
  double builds_differ = 0.006;
  double builds_learnt = 0;
};

/// One explanation of all readings: which gaps hold a commit that changed the level, by how much,
/// the known ones left out. Gap g lies between the neighbouring positions g and g + 1 of
/// Belief::positions.
struct Hypothesis {
  struct Change {
    std::size_t gap = 0;
    double size = 0;
    std::size_t last = gap;  ///< beyond `gap`: many commits did it, from that gap to this
  };

  std::vector<Change> changes;  ///< by gap; none: no change
  double probability = 0;
  double base = 0;  ///< level of the start

  /// Many commits did it, each a little. It has one change.
  bool is_gradual() const { return changes.size() == 1 && changes[0].last > changes[0].gap; }
};

/// What to believe now.
struct Belief {
  std::vector<std::size_t> positions;  ///< measured ones and both ends, ascending
  std::vector<int> readings;           ///< of each of them ...
  std::vector<int> outliers;           ///< ... and how many of them are outliers
  std::vector<double> shares;          ///< of the prior's weight in each gap, 1 together
  std::vector<Hypothesis> hypotheses;  ///< their probabilities sum to 1
  double noise = 0;                    ///< standard deviation of one reading's level
  double drift = 0;   ///< variance of what the next round adds to its readings, by that of one
  double builds = 0;  ///< expected variance of what a build adds to its own, by that of one reading

  std::size_t gaps() const { return positions.size() - 1; }

  double no_change() const;

  /// Probability that a change came in gap `gap`, or in part.
  double changed_in(std::size_t gap) const;

  /// Probability that `count` processes of one build are all outliers, as far as the readings tell:
  /// of the share of processes that do, nothing else is known (Jeffreys' prior).
  double astray_alike(int count) const;

  /// Probability that no few commits explain the change.
  double gradual() const;
};

/// Known changes that `believe` takes.
inline constexpr std::size_t most_known = 5;

/// Weighs all explanations with no, one or two changes by Bayes' rule, and with three where two
/// say more than one; within a gap nothing is
/// known but `prior`. `prior[i]`: weight of suspect i, the one that position i + 1 has and position
/// i has not; at least one, all positive.
///
/// Levels are constant between changes. A reading's deviation has heavy tails, so that a process
/// may be outliers, and an unknown variance (as `expectation` says); so has what a round adds to
/// its readings (a few ratios to the former are tried, and weighed). The start's level is unknown
/// without limits, a single change lies beyond `least` with the tail of Lomax 1954 (a tenfold
/// change is no miracle), several changes may be of any size, the largest one's tail being the
/// same. Nobody need be told the noise. Pure; takes milliseconds at most.
///
/// After Zellner 1971, An Introduction to Bayesian Inference in Econometrics, chapter 3, for the
/// linear model with unknown variance; Fearnhead 2006, Exact and efficient Bayesian inference for
/// multiple changepoint problems, for explanations by number and place of changes.
///
/// `known`: suspects that are known to have changed the level, with both of their neighbouring
/// builds read; by how much is fitted, without a prior, in each explanation. At most `most_known`.
Belief believe(std::span<double const> prior,
               std::span<Reading const> readings,
               Expectation const& expectation,
               std::span<std::size_t const> known = {});

}  // namespace torchwatch::bisect
