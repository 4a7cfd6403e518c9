#include "storage/domain/comparison.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace torchwatch {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::regression:
      return "regression";
    case Verdict::improvement:
      return "improvement";
    case Verdict::unchanged:
      return "unchanged";
    case Verdict::inconclusive:
      return "inconclusive";
  }
  return "unknown";
}

std::optional<Verdict> parse_verdict(std::string_view text) {
  for (auto const verdict :
       {Verdict::regression, Verdict::improvement, Verdict::unchanged, Verdict::inconclusive})
    if (text == to_string(verdict)) return verdict;
  return std::nullopt;
}

bool has_levels(Comparison const& comparison) {
  bool const is_zero = comparison.before == 0 && comparison.after == 0;
  bool const is_judged = comparison.verdict != Verdict::inconclusive || comparison.ratio;
  return is_judged || !is_zero || comparison.error_bound > 0;
}

double cost_ratio(SeriesChange const& change) {
  auto const& [verdict, before, after, ratio, error_bound, pairs] = change.comparison;
  bool const is_higher_better = change.series.metric.kind().is_higher_better;
  if (ratio) return is_higher_better ? 1 / ratio->ratio : ratio->ratio;
  bool const is_worse = is_higher_better ? after < before : after > before;
  return is_worse ? std::numeric_limits<double>::infinity() : 0;
}

std::vector<SeriesChange> worst_first(std::vector<SeriesChange> changes) {
  std::ranges::stable_sort(changes, std::ranges::greater{}, cost_ratio);
  return changes;
}

}  // namespace torchwatch
