#include "judges.h"

#include <algorithm>

#include "two_samples.h"

namespace torchwatch::bench {
namespace {

/// The values of both builds, one per process.
struct Sides {
  Values before;
  Values after;

  void measure(Samples& samples, double ratio, std::size_t count) {
    while (before.size() < count) {
      auto const pair = samples.next(ratio);
      before.push_back(pair.before);
      after.push_back(pair.after);
    }
  }

  int processes() const { return static_cast<int>(before.size() + after.size()); }
};

bool slower(Sides const& sides) {
  return median(sides.after) > median(sides.before);
}

Judgement torchwatch_judges(Samples& samples, double ratio) {
  constexpr double unit =
      1e9;  // levels here are around 1; the scale keeps absolute minimums from mattering
  bisect::Compare compare{samples.metric(), config::DecideOptions{}};
  for (;;) {
    auto const pair = samples.next(ratio);
    compare.add({unit * pair.before, unit * pair.after});
    if (auto const answer = compare.answer())
      return {answer->verdict == Verdict::regression,
              answer->verdict == Verdict::unchanged,
              2 * answer->pairs};
  }
}

Judgement torchbench_judges(Samples& samples, double ratio) {
  auto const [before, after] = samples.next(ratio);
  return {after / before - 1 > 0.07, false, 2};
}

Judgement pinpoint_judges(Samples& samples, double ratio) {
  Sides sides;
  for (std::size_t attempts = 10; attempts <= 160; attempts *= 2) {
    sides.measure(samples, ratio, attempts);
    if (std::min(mann_whitney(sides.before, sides.after),
                 kolmogorov_smirnov(sides.before, sides.after)) <= 0.01)
      return {slower(sides), false, sides.processes()};
  }
  return {false, false, sides.processes()};
}

Judgement benchstat_judges(Samples& samples, double ratio) {
  Sides sides;
  sides.measure(samples, ratio, 10);
  return {
      mann_whitney(sides.before, sides.after) < 0.05 && slower(sides), false, sides.processes()};
}

Judgement welch_judges(Samples& samples, double ratio) {
  Sides sides;
  sides.measure(samples, ratio, 10);
  return {welch(sides.before, sides.after) < 0.05 && slower(sides), false, sides.processes()};
}

}  // namespace

std::vector<Judge> judges() {
  return {{"torchwatch", torchwatch_judges},
          {"TorchBench", torchbench_judges},
          {"Pinpoint", pinpoint_judges},
          {"benchstat", benchstat_judges},
          {"t test", welch_judges}};
}

}  // namespace torchwatch::bench
