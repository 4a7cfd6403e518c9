#include <cmath>

#include "bisect/compare/compare.h"
#include "tests/fuzz/doubles.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

constexpr int most_pairs = 40;

void check_answer(Comparison const& answer, int pairs) {
  require(answer.pairs == pairs, "an answer reports its number of pairs");
  require(answer.error_bound >= 0 && answer.error_bound <= 1, "an error is a probability");
  bool const is_change =
      answer.verdict == Verdict::regression || answer.verdict == Verdict::improvement;
  require(!is_change || answer.error_bound < 0.5, "a change has an error below 0.5");
  if (!answer.ratio) return;
  require(!std::isnan(answer.ratio->low) && !std::isnan(answer.ratio->high),
          "an interval has two ends");
  require(answer.ratio->low <= answer.ratio->high, "the lower end is not above the upper end");
}

}  // namespace

/// A byte for the metric and two for the past, then pairs of any doubles.
void comparison(std::string_view input) {
  Doubles doubles{input};
  constexpr Metric metrics[] = {Metric::latency, Metric::cmem, Metric::gmem, Metric::leak};
  auto const metric = metrics[doubles.byte() % std::size(metrics)];
  bisect::Exactness const past{doubles.byte(), doubles.byte() % 2};
  config::DecideOptions options;
  options.max_pairs = most_pairs;
  bisect::Compare compare{metric, options, past};
  int pairs = 0;
  while (!compare.answer()) {
    require(pairs < most_pairs, "a comparison ends");
    double const before = doubles.next();
    compare.add({before, doubles.next()});
    ++pairs;
  }
  check_answer(*compare.answer(), pairs);
}

}  // namespace torchwatch::fuzz
