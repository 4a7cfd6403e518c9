#pragma once

#include <vector>

namespace torchwatch::bisect {

/// Evidence about the true change between two builds, from pairs of processes measured next to each
/// other. All values are on one scale on which changes add up: logarithms, or plain differences.
///
/// For each change c it holds two e-processes: one bets that the true change is above c, one that
/// it is below. Where the bet is wrong, the e-value's expectation is at most 1. So by Ville's
/// inequality (1939) it *ever* reaches 1/p with probability at most p, under any stopping rule.
///
/// Each is the mean of two bets, and so again an e-process, but at most fifty times the first:
/// - Signs: the mean, over k and l, of the products of 1 + k tanh(l (r_i - c)), with l from the
///   earlier pairs. Fair if r_i - c is symmetric about zero given the past, with any tails, any
///   changes of the noise and any drift of the host (e-values of symmetry: Vovk and Wang 2024,
///   Nonparametric e-tests of symmetry; Ramdas, Ruf, Larsson and Koolen 2020). At most doubles with
///   each pair. The bets with k < 1 lose little by one outlier.
/// - Student's t of two samples with unknown common variance: the Bayes factor of a normal prior of
///   standard deviation 2 on the standardised effect. It is an e-process by group invariance
///   (Perez-Ortiz, Lardy, de Heide and Gruenwald 2022, E-statistics, group invariance and
///   anytime-valid testing). Exact for independent normal levels. Where the levels of a pair are
///   negatively correlated, the variance of their differences replaces theirs. Needs fewer pairs on
///   a quiet host.
///
/// Against "no change" there is also a sign test. It is random which process of a pair runs which
/// build. So if the builds are the same, the sign of r_i is a fair coin given its size and the
/// past, for any influence of the host on either process. The sign test assumes nothing else.
///
/// A pair is ignored if one of its values, or their difference, is not finite. Pure. The cost grows
/// with the square of the number of pairs.
class Evidence {
 public:
  /// `usual_noise` is the standard deviation of one change, on the scale, that the bets on signs
  /// start from. Values below the smallest allowed one are raised to it; a value that is not finite
  /// counts as 1.
  explicit Evidence(double usual_noise);

  void add(double before, double after);

  /// True when no pair was added, or all were ignored.
  bool empty() const { return changes_.empty(); }

  /// Logarithm of the e-value for: the true change is above (below) `change`.
  double log_above(double change) const;
  double log_below(double change) const;

  /// Logarithm of the e-value of the sign test alone for: the true change is above (below) zero.
  double log_sign_test_above() const;
  double log_sign_test_below() const;

  struct Interval {
    double low = 0;
    double high = 0;
  };

  /// The changes that neither bet refutes. The intervals after all numbers of pairs together miss
  /// the truth with probability `error` at most. Unbounded while there are too few pairs.
  Interval interval(double error) const;

  /// Median of the means of any two changes (Hodges and Lehmann 1963). Robust against outliers in
  /// almost a third of the pairs. Requires that the evidence is not empty, as do the next two.
  double change() const;

  /// Median of the changes. Robust against outliers in almost half of the pairs.
  double typical_change() const;

  /// Median of the values of the first build.
  double level() const;

 private:
  double log_bet(double change, double direction) const;
  double log_signs(double change, double direction) const;
  double log_sign_test(double direction) const;
  double residual() const;
  double log_student(double change, double direction) const;
  double next_scale() const;
  double bound(double error, double direction) const;

  double usual_noise_;
  std::vector<double> before_;
  std::vector<double> after_;
  std::vector<double> changes_;
  std::vector<double> scales_;  // scales_[i] is known before changes_[i]
};

}  // namespace torchwatch::bisect
