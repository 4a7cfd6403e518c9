#include "bisect/inquiry.h"

#include <algorithm>
#include <numeric>

namespace torchwatch::bisect {

namespace {

/// What is left of the weight of a suspect whose change is known, since a prior is positive.
constexpr double known_weight = 1e-3;

}  // namespace

Inquiry::Inquiry(std::vector<double> prior, std::vector<Asked> series, Patience patience)
    : prior_{std::move(prior)},
      patience_{patience} {
  for (auto& asked : series) {
    auto& state = states_.emplace_back();
    state.asked = std::move(asked);
    state.most_readings = patience_.most_readings;
    believe_again(state);
  }
}

std::vector<Probe> Inquiry::next(Costs const& costs, Capacity capacity) const {
  std::vector<Question> questions;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].is_dropped || answer(i)) continue;
    auto const benchmark = states_[i].asked.benchmark;
    questions.push_back({states_[i].belief, prior_of(states_[i]), benchmark, lost_to(benchmark)});
  }
  return plan(questions, costs, capacity);
}

void Inquiry::add(std::size_t series, std::vector<Reading> const& readings) {
  auto& state = states_[series];
  state.readings.insert(state.readings.end(), readings.begin(), readings.end());
  believe_again(state);
  share_answers();
}

void Inquiry::skip(std::size_t position) {
  skipped_.insert(position);
}

void Inquiry::skip(std::size_t position, std::size_t benchmark) {
  unread_.emplace(benchmark, position);
}

void Inquiry::drop(std::size_t series) {
  states_[series].is_dropped = true;
}

void Inquiry::explain(std::size_t series, std::size_t suspect, Expectation const& rest) {
  auto& state = states_[series];
  if (state.known.size() == most_known) {
    state.is_dropped = true;
    return;
  }
  state.known.push_back(suspect);
  state.asked.expectation = rest;
  state.most_readings = state.readings.size() + patience_.rest_readings;
  believe_again(state);
  share_answers();
}

/// Suspects that changed other series weigh as much as all; those whose change is known, little.
std::vector<double> Inquiry::prior_of(State const& state) const {
  auto prior = prior_;
  double const all = std::accumulate(prior.begin(), prior.end(), 0.0);
  for (auto const suspect : state.named)
    prior[suspect] += all / static_cast<double>(state.named.size());
  for (auto const suspect : state.known)
    prior[suspect] = prior_[suspect] * known_weight;
  return prior;
}

void Inquiry::believe_again(State& state) const {
  state.belief = believe(prior_of(state), state.readings, state.asked.expectation, state.known);
}

/// Every series that is still asked about hears whom the others' answers name.
void Inquiry::share_answers() {
  std::vector<std::set<std::size_t>> named(states_.size());
  for (std::size_t i = 0; i < states_.size(); ++i) {
    named[i].insert(states_[i].known.begin(), states_[i].known.end());
    auto const found = answer(i);
    if (!found || found->kind != Answer::Kind::changed) continue;
    for (auto const& change : found->changes)
      if (change.first == change.last) named[i].insert(change.first);
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    std::set<std::size_t> heard;
    for (std::size_t other = 0; other < states_.size(); ++other)
      if (other != i) heard.insert(named[other].begin(), named[other].end());
    if (heard == states_[i].named || answer(i)) continue;
    states_[i].named = std::move(heard);
    believe_again(states_[i]);
  }
}

std::set<std::size_t> Inquiry::lost_to(std::size_t benchmark) const {
  auto lost = skipped_;
  for (auto const& [whose, position] : unread_)
    if (whose == benchmark) lost.insert(position);
  return lost;
}

std::optional<Answer> Inquiry::answer(std::size_t series) const {
  auto const& state = states_[series];
  auto answer = likeliest(series);
  bool const is_final = std::ranges::all_of(
      answer.changes, [&](auto const& change) { return this->is_final(state, change); });
  if (is_final && answer.probability >= patience_.confidence) return answer;
  if (!state.is_dropped && state.readings.size() < state.most_readings) return std::nullopt;
  answer.kind = Answer::Kind::open;
  return answer;
}

Answer Inquiry::likeliest(std::size_t series) const {
  auto const& belief = states_[series].belief;
  auto const best =
      std::ranges::max_element(belief.hypotheses, std::ranges::less{}, &Hypothesis::probability);
  Answer answer{best->changes.empty() ? Answer::Kind::unchanged : Answer::Kind::changed,
                best->base,
                {},
                best->probability};
  for (auto const& [gap, size] : best->changes)
    answer.changes.push_back({belief.positions[gap], belief.positions[gap + 1] - 1, size});
  return answer;
}

/// Whether no build that has some of the change's suspects, but not all, can be read.
bool Inquiry::is_final(State const& state, Answer::Change const& change) const {
  auto const lost = lost_to(state.asked.benchmark);
  for (auto position = change.first + 1; position <= change.last; ++position)
    if (!lost.contains(position)) return false;
  return true;
}

}  // namespace torchwatch::bisect
