#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commits.h"

namespace torchwatch::bench {

/// The answer of a finder for one day.
struct Found {
  std::vector<Step> steps;    ///< commits that it names; ratios are not judged
  std::vector<Step> guesses;  ///< commits that it calls most likely, without a proof
  bool is_unchanged = false;  ///< it reports no change
  double stated = 0;          ///< the probability that it states for its answer; 0 without one
  int rounds = 0;             ///< number of rounds of processes at the same time
  bool is_open = false;       ///< it ended undecided, or could not prove its answer
  bool is_layout = false;     ///< it reports that builds differ, but commits do not
  bool is_gradual = false;    ///< it reports a gradual change by commits `first` to `last`
  std::size_t first = 0;
  std::size_t last = 0;
  std::vector<double> milliseconds;  ///< processor time of the search for each step
};

/// A method that finds commits.
struct Finder {
  std::string name;
  std::function<Found(Commits& commits)> find;
};

/// torchwatch with that many slots. A build costs an hour, a run a minute.
Finder torchwatch(std::size_t slots);

/// torchwatch with one slot, on which two builds take turns.
Finder torchwatch_in_pairs();

/// torchwatch with the daemon's steps: it bisects in rounds of two builds, then measures pairs of a
/// single suspect and its parent until they decide, in that many layouts. A change that the proof
/// leaves is bisected again. Only proved commits are named. `proofs`: number of earlier proofs in
/// two layouts, from which it learns the variation of builds.
Finder torchwatch_proving(std::size_t layouts, std::size_t proofs = 0);

/// Other methods, each by its published rule, on series 0:
///
/// - `git bisect run`: compares the median of 5 runs with the middle of both true levels, which it
///   is given. It does not check the ends.
/// - TorchBench's bisection.py: one run for each commit. A range whose ends differ by 7% or more is
///   cut in half, and both halves are checked.
/// - `asv find`: one result for each commit. It continues with the half whose ends differ more.
/// - Pinpoint (Chromium): at least ten runs for each commit, or the number in its tables for the
///   size of the change, which it is given. Commits differ when p <= 0.01, the smaller value of
///   Mann-Whitney and Kolmogorov-Smirnov. Between two commits that differ, it measures the middle.
/// - Pinpoint with the relaxed thresholds of its source: p <= 0.05, and fewer runs.
std::vector<Finder> peers();

}  // namespace torchwatch::bench
