#include "bisect/inquiry.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace torchwatch::bisect {

Inquiry::Inquiry(std::vector<double> prior, std::vector<Expectation> series, Patience patience)
    : prior_{std::move(prior)},
      patience_{patience} {
  for (auto& expectation : series) {
    auto belief = believe(prior_, {}, expectation);
    states_.push_back({std::move(expectation), {}, std::move(belief)});
  }
}

std::vector<Probe> Inquiry::next(Costs const& costs, std::size_t slots) const {
  std::vector<Belief> open;
  std::vector<std::size_t> series;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (answer(i)) continue;
    open.push_back(states_[i].belief);
    series.push_back(i);
  }
  auto can_be_built = costs;
  can_be_built.build = [&](std::size_t position) {
    return skipped_.contains(position) ? std::numeric_limits<double>::infinity()
                                       : costs.build(position);
  };
  auto probes = plan(open, prior_, can_be_built, slots);
  for (auto& probe : probes)
    probe.series = series[probe.series];
  return probes;
}

void Inquiry::add(std::size_t series, std::vector<Reading> const& readings) {
  auto& state = states_[series];
  state.readings.insert(state.readings.end(), readings.begin(), readings.end());
  state.belief = believe(prior_, state.readings, state.expectation);
}

void Inquiry::skip(std::size_t position) {
  skipped_.insert(position);
}

std::optional<Answer> Inquiry::answer(std::size_t series) const {
  auto const& [expectation, readings, belief] = states_[series];
  auto const best =
      std::ranges::max_element(belief.hypotheses, std::ranges::less{}, &Hypothesis::probability);
  auto answer = answer_of(belief, *best);
  bool const is_final = std::ranges::all_of(
      best->changes, [&](auto const& change) { return this->is_final(belief, change.gap); });
  if (is_final && answer.probability >= patience_.confidence) return answer;
  if (readings.size() < patience_.most_readings) return std::nullopt;
  answer.kind = Answer::Kind::open;
  return answer;
}

/// Whether nothing between the gap's ends can be built.
bool Inquiry::is_final(Belief const& belief, std::size_t gap) const {
  for (auto position = belief.positions[gap] + 1; position < belief.positions[gap + 1]; ++position)
    if (!skipped_.contains(position)) return false;
  return true;
}

Answer Inquiry::answer_of(Belief const& belief, Hypothesis const& hypothesis) const {
  Answer answer{hypothesis.changes.empty() ? Answer::Kind::unchanged : Answer::Kind::changed,
                {},
                hypothesis.probability};
  for (auto const& [gap, size] : hypothesis.changes)
    answer.changes.push_back({belief.positions[gap], belief.positions[gap + 1] - 1, size});
  return answer;
}

}  // namespace torchwatch::bisect
