#include "storage/domain/comparison.h"

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

}  // namespace torchwatch
