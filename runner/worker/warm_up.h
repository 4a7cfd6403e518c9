#pragma once

namespace torchwatch::worker {

/// Decides when a workload has warmed up: when a number of steps in a row were not faster than the
/// fastest step before them. Warming up (caches, pools, lazily chosen kernels) makes steps faster.
/// Disturbances make them slower, so noise does not end the warm-up early. After Georges, Buytaert
/// and Eeckhout 2007, Statistically rigorous Java performance evaluation, which waits until the
/// times settle.
class WarmUp {
 public:
  /// A step counts as faster when it takes less than this share of the fastest one.
  static constexpr double gain = 0.99;
  /// Most steps, after which the warm-up ends even if steps still get faster.
  static constexpr int most_steps = 100;

  /// `patience`: steps in a row without a gain; at least 1. `least`: the shortest sum of all steps,
  /// in the unit of their durations, because the clocks of a device adapt slowly to its load.
  explicit WarmUp(int patience, double least = 0) : patience_(patience), least_(least) {}

  /// Adds the next step's duration, in any unit.
  void add(double duration);

  bool is_over() const { return (idle_ >= patience_ || steps_ >= most_steps) && total_ >= least_; }

  int steps() const { return steps_; }

  /// Returns the shortest step so far; 0 before the first one.
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
