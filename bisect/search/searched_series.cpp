#include "bisect/search/searched_series.h"

#include <algorithm>

#include <fmt/format.h>

namespace torchwatch::bisect {

namespace {

double sum_of(std::vector<Answer::Change> const& changes) {
  double sum = 0;
  for (auto const& change : changes)
    sum += change.size;
  return sum;
}

}  // namespace

void SearchedSeries::note_total(Answer const& answer) {
  if (!total) total = sum_of(answer.changes);
}

std::vector<std::pair<Span, Effect>> SearchedSeries::effects_of(Answer const& answer) const {
  std::vector<std::pair<Span, Effect>> effects;
  double level = answer.base;
  for (auto const& [first, last, size] : answer.changes) {
    double known = 0;
    for (auto const& [suspect, proven] : explained)
      if (suspect < first) known += proven;
    Effect effect{series, 0, 0, answer.probability, {}, 0};
    effect.before = scale.value(level + known);
    level += size;
    effect.after = scale.value(level + known);
    effects.emplace_back(Span{first, last}, std::move(effect));
  }
  return effects;
}

void SearchedSeries::explain(std::size_t suspect, Effect& effect) {
  auto const& proof = *effect.proof;
  auto const size_at = [&](double after) {
    return scale.level(after) - scale.level(proof.before);
  };
  double const size = size_at(proof.after);
  explained.emplace_back(suspect, size);
  least += proof.ratio ? size_at(proof.before * proof.ratio->low) : size;
  most += proof.ratio ? size_at(proof.before * proof.ratio->high) : size;
  effect.share = *total == 0 ? 0 : size / *total;
}

void SearchedSeries::set_share(Effect& effect, Answer const& answer) const {
  double whole = sum_of(answer.changes);
  for (auto const& [suspect, size] : explained)
    whole += size;
  double const size = scale.level(effect.proof->after) - scale.level(effect.proof->before);
  effect.share = whole == 0 ? 0 : size / whole;
}

std::string SearchedSeries::rest() const {
  auto const [low, high] = std::minmax({1 - most / *total, 1 - least / *total});
  return fmt::format("{:+.0f}% to {:+.0f}% of the change", 100 * low, 100 * high);
}

double SearchedSeries::size_of(Effect const& effect) const {
  return scale.level(effect.after) - scale.level(effect.before);
}

}  // namespace torchwatch::bisect
