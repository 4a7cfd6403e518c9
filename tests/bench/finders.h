#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commits.h"

namespace torchwatch::bench {

/// What a finder says of one day.
struct Found {
  std::vector<Step> steps;    ///< commits that it names; ratios are not judged
  std::vector<Step> guesses;  ///< that it calls most likely, and not proved
  bool is_unchanged = false;  ///< it says that there is no change
  double stated = 0;          ///< probability that it is right, as it says; 0 if it does not say
  int rounds = 0;             ///< of processes at the same time
  bool is_open = false;       ///< it ended undecided, or cannot prove what it says
  bool is_layout = false;     ///< it says that builds differ, and commits do not
  bool is_gradual = false;    ///< it says that many commits did it: those from `first` to `last`
  std::size_t first = 0;
  std::size_t last = 0;
  std::vector<double> milliseconds;  ///< that it thought, of each step
};

struct Finder {
  std::string name;
  std::function<Found(Commits& commits)> find;
};

/// torchwatch with so many slots: an hour for a build, a minute for a run.
Finder torchwatch(std::size_t slots);

/// The same with one slot, on which two builds take turns.
Finder torchwatch_in_pairs();

/// As the daemon searches: in rounds of two, then pairs of a lone suspect and its parent until they
/// decide, in so many layouts, and what the proof leaves is searched again. Only what is proved is
/// named. `proofs`: that were made in two layouts before, from which it learns how much builds
/// differ.
Finder torchwatch_proving(std::size_t layouts, std::size_t proofs = 0);

/// Each by its published rule, on series 0:
///
/// - `git bisect run` with the median of 5 runs against the middle of both true levels, which it is
///   told; it takes the ends for granted;
/// - TorchBench's bisection.py: one run a commit; a range whose ends differ by 7% or more is cut in
///   half, and both halves are looked at;
/// - `asv find`: one result a commit; the half whose ends differ more is gone on with;
/// - Pinpoint (Chromium): at least ten runs a commit, and as many as its tables ask for to see the
///   change that it is told; commits differ when p <= 0.01 by Mann-Whitney or
///   Kolmogorov-Smirnov, whichever is smaller; a pair of commits that differ gets its middle;
/// - Pinpoint with the relaxed thresholds that its source knows: p <= 0.05, and fewer runs.
std::vector<Finder> peers();

}  // namespace torchwatch::bench
