#pragma once

#include <vector>

namespace torchwatch::bisect {

/// Evidence about the true change between two builds, from pairs of processes measured next to each
/// other. Everything is on one scale on which changes add up: logarithms, or plain differences.
///
/// For each change c it holds two e-processes: one that bets that the truth is above c, one that it
/// is below. Where the bet is wrong, the e-value's expectation is at most 1, so by Ville's
/// inequality (1939) it *ever* reaches 1/p with probability at most p, whenever and why ever one
/// stops.
///
/// Each is the mean of two bets, and so again an e-process, but never more than fifty times the
/// first:
/// - on health: the mean, over k and l, of the products of 1 + k tanh(l (r_i - c)), with l from the
///   pairs before. Fair as soon as r_i - c is symmetric about zero given the past: no matter which
///   tails, how the noise changes, or how the host drifts (e-values of symmetry: Vovk and Wang
///   2024, Nonparametric e-tests of symmetry; Ramdas, Ruf, Larsson and Koolen 2020). At most
///   doubles with each pair, and what holds back (k < 1) loses little by one outlier.
/// - on Student's t of two samples with unknown common variance: the Bayes factor of a normal prior
///   of standard deviation 2 on the standardised effect, which is an e-process by group invariance
///   (Perez-Ortiz, Lardy, de Heide and Gruenwald 2022, E-statistics, group invariance and
///   anytime-valid testing). Exact for normal levels that are independent; where those of a pair
///   exclude each other the variance of their differences takes the place of theirs. Sooner sure
///   where the host is quiet.
///
/// Against "no change" there is also a sign test: which process of a pair runs which build is
/// random. So if the builds are the same, the sign of r_i is a fair coin given its size and the
/// past, whatever the host does to either process. Nothing else is assumed.
///
/// A pair one of whose values, or whose difference, is no finite number says nothing. Pure; costs
/// grow with the square of the number of pairs.
class Evidence {
 public:
  /// `usual_noise`: of one change, on the scale; where the bets on health begin. Above zero and
  /// finite, else the least that is.
  explicit Evidence(double usual_noise);

  void add(double before, double after);

  /// No pair said anything.
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

  /// Every change that neither bet refutes. Misses the truth with probability `error` at most, at
  /// all numbers of pairs together. Unbounded while there are too few pairs.
  Interval interval(double error) const;

  /// Median of the means of all two pairs (Hodges and Lehmann 1963): a third of the pairs may be
  /// anything. At least one pair that says something, as for all below.
  double change() const;

  /// Median of the changes: half of the pairs may be anything.
  double typical_change() const;

  /// Median of what was measured before.
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
