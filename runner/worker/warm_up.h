#pragma once

namespace torchwatch::worker {

/// Tells when a workload has warmed up: when a number of steps in a row gained nothing on the
/// fastest one before them. What warms up (caches, pools, lazily chosen kernels) makes steps
/// faster, and what disturbs a host makes them slower, so noise ends it no sooner than calm does.
/// After Georges, Buytaert and Eeckhout 2007, Statistically rigorous Java performance evaluation,
/// which waits until the times settle.
class WarmUp {
 public:
  /// A step gains when it takes less than this share of the fastest one.
  static constexpr double gain = 0.99;
  /// Ends even if steps still get faster.
  static constexpr int most_steps = 100;

  /// `patience`: steps in a row without a gain; at least 1. `least`: what steps take together at
  /// the least, in the unit of their durations: the clocks of a device follow its load that late.
  explicit WarmUp(int patience, double least = 0) : patience_(patience), least_(least) {}

  /// Takes the next step's duration, in whatever unit.
  void add(double duration);

  bool is_over() const { return (idle_ >= patience_ || steps_ >= most_steps) && total_ >= least_; }

  int steps() const { return steps_; }

  /// Of the steps so far; 0 when there was none.
  double fastest() const { return fastest_; }

 private:
  int patience_;
  double least_;
  int steps_ = 0;
  int idle_ = 0;       // steps since the last gain
  double record_ = 0;  // the step that gained last; small gains add up against it
  double fastest_ = 0;
  double total_ = 0;
};

}  // namespace torchwatch::worker
