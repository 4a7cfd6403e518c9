#include "bisect/search/search_state.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace torchwatch::bisect {

namespace {

/// The factor on the weight of a suspect whose change is known. Priors must be positive.
constexpr double known_weight = 1e-3;

/// The probability that known changes leave no rest at which small changes are no longer searched.
constexpr double nothing_at_all = 0.95;

/// The largest odds that outliers of one build mislead an answer.
constexpr double most_misleading = 0.01;

/// The confidence that is enough for a gradual answer, since it names no commit.
constexpr double gradual_confidence = 0.95;

/// A build's level is known when the variance of its own effect is this many times the variance of
/// the mean of its readings.
constexpr double known_builds = 10;

/// A gap with a smaller probability of a change is not worth another reading.
constexpr double worth_a_reading = 0.003;

/// The likeliest hypothesis. All gradual ones together count as one, and the likeliest of them
/// represents it.
Hypothesis const& likeliest_of(Belief const& belief) {
  double const gradual = belief.gradual();
  auto const& best = *std::ranges::max_element(belief.hypotheses, {}, [](Hypothesis const& one) {
    return one.is_gradual() ? 0 : one.probability;
  });
  if (best.probability >= gradual) return best;
  return *std::ranges::max_element(belief.hypotheses, {}, [](Hypothesis const& one) {
    return one.is_gradual() ? one.probability : 0;
  });
}

/// The suspects of a gradual change. Its beginning and its end are each outside this span with a
/// probability below 5%.
Answer::Change span_of(Belief const& belief, double size) {
  constexpr double outside = 0.05;
  double const all = belief.gradual();
  std::vector<double> begins(belief.gaps());
  std::vector<double> ends(belief.gaps());
  for (auto const& one : belief.hypotheses) {
    if (!one.is_gradual()) continue;
    begins[one.changes[0].gap] += one.probability / all;
    ends[one.changes[0].last] += one.probability / all;
  }
  std::size_t first = 0;
  for (double before = begins[0]; before < outside && first + 1 < begins.size();)
    before += begins[++first];
  auto last = ends.size() - 1;
  for (double after = ends[last]; after < outside && last > first;)
    after += ends[--last];
  return {belief.positions[first], belief.positions[last + 1] - 1, size};
}

/// The number of a build's processes that agree with an answer minus those that do not, at least 0.
int agreeing_at(Belief const& belief, std::size_t index) {
  return std::max(0, belief.readings[index] - 2 * belief.outliers[index]);
}

/// True when an answer rests on this build: it is next to a change, or it is an end and the answer
/// is "no change".
bool rests_on(Hypothesis const& hypothesis, Belief const& belief, std::size_t index) {
  if (hypothesis.changes.empty()) return index == 0 || index + 1 == belief.positions.size();
  return std::ranges::any_of(hypothesis.changes, [&](auto const& change) {
    return index == change.gap || index == change.last + 1;
  });
}

/// The prior odds of the alternative, if this build's processes are misleading, against the gap of
/// the answer. The alternative is a change in the next gap beyond the build; at an end, no change.
double odds_behind(Hypothesis const& hypothesis,
                   Belief const& belief,
                   std::size_t index,
                   double no_change) {
  for (auto const& change : hypothesis.changes) {
    bool const is_last = index + 1 == belief.positions.size();
    if (index == change.gap || index == change.last + 1) {
      double const here = belief.shares[change.gap];
      if (index == 0 || is_last) return no_change / (1 - no_change) / here;
      return belief.shares[index == change.gap ? index - 1 : index] / here;
    }
  }
  return 1;
}

/// The odds that all of the build's processes are outliers and the answer is wrong for that reason.
double misleading(Hypothesis const& hypothesis,
                  Belief const& belief,
                  std::size_t index,
                  double no_change) {
  return belief.all_outliers(agreeing_at(belief, index)) *
         odds_behind(hypothesis, belief, index, no_change);
}

Answer::Kind kind_of(Hypothesis const& hypothesis) {
  if (hypothesis.is_gradual()) return Answer::Kind::gradual;
  return hypothesis.changes.empty() ? Answer::Kind::unchanged : Answer::Kind::changed;
}

}  // namespace

SearchState::SearchState(std::vector<double> prior,
                         std::vector<SeriesQuery> const& series,
                         Patience patience)
    : prior_{std::move(prior)},
      patience_{patience} {
  for (auto const& asked : series) {
    auto& state = states_.emplace_back();
    state.asked = asked;
    state.most_readings = patience_.most_readings;
    update_belief(state);
  }
}

std::vector<Measurement> SearchState::next(StepCosts const& costs, Capacity capacity) const {
  auto again = reread(costs, capacity);
  if (!again.empty()) return again;
  std::vector<Question> questions;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].is_dropped || answer(i)) continue;
    auto const& state = states_[i];
    questions.push_back({state.belief, prior_of(state), state.asked.benchmark, lost_to(state)});
  }
  return plan(questions, costs, capacity);
}

/// The measurements of builds that answers would rest on but that were read too rarely.
std::vector<Measurement> SearchState::reread(StepCosts const& costs, Capacity capacity) const {
  std::vector<Measurement> measurements;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    auto const& state = states_[i];
    if (state.is_dropped || answer(i) || !is_final(state, likeliest(i))) continue;
    auto const positions = read_too_rarely(state);
    for (std::size_t at = 0; at < positions.size(); at += capacity.together) {
      auto const end = std::min(positions.size(), at + capacity.together);
      Measurement measurement{
          state.asked.benchmark, {}, 0, static_cast<double>(end - at) * costs.reading};
      for (auto k = at; k < end; ++k)
        measurement.positions.push_back(positions[k]);
      if (measurements.size() < capacity.slots &&
          std::ranges::count(measurements, measurement) == 0)
        measurements.push_back(std::move(measurement));
    }
  }
  return measurements;
}

/// The positions on which the likeliest answer rests and that need more readings, ascending.
std::vector<std::size_t> SearchState::read_too_rarely(SeriesState const& state) const {
  auto const& belief = state.belief;
  auto const lost = lost_to(state);
  auto const& hypothesis = likeliest_of(belief);
  std::vector<std::size_t> positions;
  for (std::size_t index = 0; index < belief.positions.size(); ++index) {
    auto const position = belief.positions[index];
    if (!rests_on(hypothesis, belief, index) || lost.contains(position)) continue;
    double const odds = misleading(hypothesis, belief, index, state.asked.expectation.no_change);
    if (agreeing_at(belief, index) < state.asked.readings || odds > most_misleading)
      positions.push_back(position);
  }
  return positions;
}

/// The probability that no build's processes mislead the likeliest answer.
double SearchState::not_misled(SeriesState const& state) const {
  auto const& belief = state.belief;
  auto const& hypothesis = likeliest_of(belief);
  double odds = 0;
  for (std::size_t index = 0; index < belief.positions.size(); ++index)
    if (rests_on(hypothesis, belief, index))
      odds += misleading(hypothesis, belief, index, state.asked.expectation.no_change);
  return 1 / (1 + odds);
}

void SearchState::add(std::size_t series, std::vector<Reading> const& readings) {
  auto& state = states_[series];
  state.readings.insert(state.readings.end(), readings.begin(), readings.end());
  update_belief(state);
  share_answers();
}

void SearchState::skip(std::size_t position) {
  skipped_.insert(position);
}

void SearchState::skip(std::size_t position, std::size_t benchmark) {
  unread_.emplace(benchmark, position);
}

void SearchState::skip_in(std::size_t series, std::size_t position) {
  states_[series].lost.insert(position);
}

void SearchState::drop(std::size_t series) {
  states_[series].is_dropped = true;
}

void SearchState::explain(std::size_t series,
                          std::size_t suspect,
                          Expectation const& rest,
                          double large) {
  auto& state = states_[series];
  if (state.known.size() == most_known) {
    state.is_dropped = true;
    return;
  }
  state.known.push_back(suspect);
  state.asked.expectation = rest;
  state.large = large;
  state.most_readings = state.readings.size() + patience_.rest_readings;
  update_belief(state);
  share_answers();
}

/// The prior of a series. Suspects that changed other series get as much weight as all together;
/// those whose change is known get little.
std::vector<double> SearchState::prior_of(SeriesState const& state) const {
  auto prior = prior_;
  double const all = std::accumulate(prior.begin(), prior.end(), 0.0);
  for (auto const suspect : state.named)
    prior[suspect] += all / static_cast<double>(state.named.size());
  for (auto const suspect : state.known)
    prior[suspect] = prior_[suspect] * known_weight;
  return prior;
}

void SearchState::update_belief(SeriesState& state) const {
  auto const prior = prior_of(state);
  state.belief = believe(prior, state.readings, state.asked.expectation, state.known);
  if (state.known.empty()) return;
  auto large = state.asked.expectation;
  large.least = state.large;
  state.no_large = believe(prior, state.readings, large, state.known).no_change();
}

/// The suspects that are known to have changed a series, or that its answer names.
std::set<std::size_t> SearchState::named_by(std::size_t series) const {
  auto const& known = states_[series].known;
  std::set<std::size_t> named{known.begin(), known.end()};
  auto const found = answer(series);
  if (found && found->kind == Answer::Kind::changed)
    for (auto const& change : found->changes)
      if (change.first == change.last) named.insert(change.first);
  return named;
}

/// Updates every series without an answer with the suspects that the others name.
void SearchState::share_answers() {
  std::vector<std::set<std::size_t>> named;
  for (std::size_t i = 0; i < states_.size(); ++i)
    named.push_back(named_by(i));
  for (std::size_t i = 0; i < states_.size(); ++i) {
    std::set<std::size_t> by_others;
    for (std::size_t other = 0; other < states_.size(); ++other)
      if (other != i) by_others.insert(named[other].begin(), named[other].end());
    if (by_others == states_[i].named || answer(i)) continue;
    states_[i].named = std::move(by_others);
    update_belief(states_[i]);
  }
}

std::set<std::size_t> SearchState::lost_to(SeriesState const& state) const {
  auto lost = skipped_;
  lost.insert(state.lost.begin(), state.lost.end());
  for (auto const& [whose, position] : unread_)
    if (whose == state.asked.benchmark) lost.insert(position);
  return lost;
}

std::optional<Answer> SearchState::answer(std::size_t series) const {
  auto const& state = states_[series];
  auto answer = likeliest(series);
  if (is_final(state, answer) && read_too_rarely(state).empty()) {
    answer.probability *= not_misled(state);
    return answer;
  }
  if (nothing_large_is_left(state))
    return Answer{Answer::Kind::unchanged, answer.base, {}, state.no_large};
  bool const goes_on = !state.is_dropped && !is_stuck(state);
  if (goes_on && state.readings.size() < state.most_readings) return std::nullopt;
  answer.kind = Answer::Kind::open;
  return answer;
}

/// True when the rest after known changes holds no large change, and most likely none at all.
bool SearchState::nothing_large_is_left(SeriesState const& state) const {
  return !state.known.empty() && state.no_large >= patience_.confidence &&
         state.belief.no_change() >= nothing_at_all;
}

Answer SearchState::likeliest(std::size_t series) const {
  auto const& belief = states_[series].belief;
  auto const& best = likeliest_of(belief);
  Answer answer{kind_of(best), best.base, {}, best.probability};
  for (auto const& [gap, size, last] : best.changes)
    answer.changes.push_back({belief.positions[gap], belief.positions[gap + 1] - 1, size});
  if (answer.kind != Answer::Kind::gradual) return answer;
  answer.changes = {span_of(belief, best.changes[0].size)};
  answer.probability = belief.gradual();
  return answer;
}

bool SearchState::can_be_cut(SeriesState const& state, std::size_t gap) const {
  auto const lost = lost_to(state);
  for (auto position = state.belief.positions[gap] + 1; position < state.belief.positions[gap + 1];
       ++position)
    if (!lost.contains(position)) return true;
  return false;
}

/// True when more readings cannot help. No other build is available where a change may be, and the
/// levels of the existing builds are known except for their own effects.
bool SearchState::is_stuck(SeriesState const& state) const {
  auto const& belief = state.belief;
  auto const is_known = [&](std::size_t index) {
    return belief.readings[index] * belief.builds >= known_builds;
  };
  if (!is_known(0) || !is_known(belief.positions.size() - 1)) return false;
  for (std::size_t gap = 0; gap < belief.gaps(); ++gap) {
    if (belief.changed_in(gap) < worth_a_reading) continue;
    if (can_be_cut(state, gap) || !is_known(gap) || !is_known(gap + 1)) return false;
  }
  return true;
}

/// True when the answer is probable enough and no gap with a change can be cut further.
bool SearchState::is_final(SeriesState const& state, Answer const& answer) const {
  if (answer.kind == Answer::Kind::gradual) {
    bool const is_late = state.readings.size() >= patience_.few_readings;
    return answer.probability >= (is_late ? gradual_confidence : patience_.confidence);
  }
  if (answer.probability < patience_.confidence) return false;
  auto const& changes = likeliest_of(state.belief).changes;
  return std::ranges::none_of(
      changes, [&](Hypothesis::Change const& change) { return can_be_cut(state, change.gap); });
}

}  // namespace torchwatch::bisect
