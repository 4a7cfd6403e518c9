#include "bisect/search/planner.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "bisect/search/candidates.h"

namespace torchwatch::bisect {

namespace {

constexpr int first_readings = 2;

/// The number of likeliest truths that are compared. The time of a plan grows with its square.
constexpr std::size_t most_truths = 48;

/// One possible truth: an explanation, and the places of its changes inside their gaps.
struct Truth {
  double probability = 0;
  std::vector<double> levels;  ///< one level for each candidate
};

/// Returns each truth once for each cell that may hold its next change, of `size`.
std::vector<Truth> place(std::vector<Truth> const& truths,
                         double size,
                         std::vector<Candidates::Cell> const& cells) {
  std::vector<Truth> placed;
  for (auto const& truth : truths) {
    for (auto const& [first, probability] : cells) {
      if (truth.probability * probability < negligible / 10) continue;
      auto& one = placed.emplace_back(Truth{truth.probability * probability, truth.levels});
      for (auto at = first; at < one.levels.size(); ++at)
        one.levels[at] += size;
    }
  }
  return placed;
}

/// Adds a gradual change to the levels of a truth.
void rise(Truth& truth,
          Hypothesis::Change const& change,
          Question const& question,
          Candidates const& candidates) {
  auto const& positions = question.belief.positions;
  auto const begin = positions[change.gap];
  auto const end = positions[change.last + 1];
  double const whole = weight(question, begin, end);
  for (std::size_t i = 0; i < truth.levels.size(); ++i) {
    auto const at = std::clamp(candidates.positions()[i], begin, end);
    truth.levels[i] += change.size * weight(question, begin, at) / whole;
  }
}

/// The distance of a candidate's levels that one more reading can see, relative to the true one.
/// The effect of a build is noise in its first reading. It is better known with every further one.
double visibility(Belief const& belief, std::size_t position) {
  auto const found = std::ranges::lower_bound(belief.positions, position);
  bool const is_read = found != belief.positions.end() && *found == position;
  auto const readings =
      is_read ? belief.readings[static_cast<std::size_t>(found - belief.positions.begin())] : 0;
  double const known = 1 + readings * belief.builds;
  return 1 / (known * std::sqrt(1 + belief.builds / known));
}

std::vector<Truth> list_truths(Question const& question, Candidates const& candidates) {
  std::vector<Truth> all;
  for (auto const& hypothesis : question.belief.hypotheses) {
    if (hypothesis.probability < negligible) continue;
    std::vector<double> const levels(candidates.positions().size(), hypothesis.base);
    std::vector<Truth> truths{{hypothesis.probability, levels}};
    if (hypothesis.is_gradual())
      rise(truths.front(), hypothesis.changes.front(), question, candidates);
    else
      for (auto const& change : hypothesis.changes)
        truths = place(truths, change.size, candidates.cells(question, change.gap));
    all.insert(all.end(), truths.begin(), truths.end());
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Truth::probability);
  all.resize(std::min(all.size(), most_truths));
  for (std::size_t i = 0; i < candidates.positions().size(); ++i) {
    double const visible = visibility(question.belief, candidates.positions()[i]);
    for (auto& truth : all)
      truth.levels[i] *= visible;
  }
  return all;
}

/// The information that rounds together give about a series, in nats.
class Information {
 public:
  Information(Question const& question, Candidates const& candidates)
      : truths_{list_truths(question, candidates)},
        variance_{question.belief.noise * question.belief.noise},
        drift_{question.belief.drift},
        similarity_(truths_.size() * truths_.size(), 1) {}

  double gain(std::span<std::size_t const> round) const {
    auto const size = truths_.size();
    std::vector<double> before(size);
    std::vector<double> alike(size);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double const old = similarity_[i * size + j];
        double const now = old * similarity(i, j, round);
        before[i] += truths_[j].probability * old;
        alike[i] += truths_[j].probability * now;
        if (i == j) continue;
        before[j] += truths_[i].probability * old;
        alike[j] += truths_[i].probability * now;
      }
    }
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i)
      sum += truths_[i].probability * std::log(before[i] / alike[i]);
    return sum;
  }

  void add(std::span<std::size_t const> round) {
    for (std::size_t i = 0; i < truths_.size(); ++i)
      for (std::size_t j = 0; j < truths_.size(); ++j)
        similarity_[i * truths_.size() + j] *= similarity(i, j, round);
  }

 private:
  /// Bhattacharyya coefficient of the predictions of two truths for the candidates of a round,
  /// which share its effect.
  double similarity(std::size_t i, std::size_t j, std::span<std::size_t const> round) const {
    double sum = 0;
    double squares = 0;
    for (auto const candidate : round) {
      double const distance = truths_[i].levels[candidate] - truths_[j].levels[candidate];
      sum += distance;
      squares += distance * distance;
    }
    double const shared = drift_ / (1 + static_cast<double>(round.size()) * drift_) * sum * sum;
    return squares == 0 ? 1 : std::exp(-(squares - shared) / (8 * variance_));
  }

  std::vector<Truth> truths_;
  double variance_;
  double drift_;
  std::vector<double> similarity_;
};

/// A round of candidates, and its expected information.
struct Choice {
  std::size_t benchmark = 0;
  std::vector<std::size_t> round;
  double information = 0;
  double seconds = 0;
};

/// Makes one plan.
class Planner {
 public:
  Planner(std::span<Question const> questions, StepCosts const& costs, Capacity capacity)
      : questions_{questions},
        costs_{costs},
        capacity_{capacity},
        candidates_{questions, costs, capacity.slots} {
    for (auto const& question : questions) {
      information_.emplace_back(question, candidates_);
      benchmarks_.insert(question.benchmark);
    }
    for (auto const position : candidates_.positions())
      builds_.push_back(costs.build(position));
  }

  std::vector<Measurement> plan();

 private:
  std::optional<Choice> choose(double longest) const;
  std::vector<std::vector<std::size_t>> list_rounds() const;
  std::optional<Choice> judge(std::vector<std::size_t> const& round) const;
  double gain(std::vector<std::size_t> const& round, std::size_t benchmark) const;
  bool is_answered_by(std::vector<std::size_t> const& round,
                      std::size_t benchmark,
                      std::size_t question) const;

  std::span<Question const> questions_;
  StepCosts const& costs_;
  Capacity capacity_;
  Candidates candidates_;
  std::vector<Information> information_;  // one for each question
  std::set<std::size_t> benchmarks_;
  std::vector<double> builds_;  // seconds for each candidate; 0 when it exists or is planned
};

std::vector<Measurement> Planner::plan() {
  std::vector<Measurement> measurements;
  double longest = std::numeric_limits<double>::infinity();
  while (measurements.size() < capacity_.slots) {
    auto const best = choose(longest);
    if (!best) break;
    if (measurements.empty()) longest = best->seconds;
    Measurement measurement{best->benchmark, {}, best->information, best->seconds};
    for (auto const candidate : best->round) {
      measurement.positions.push_back(candidates_.positions()[candidate]);
      builds_[candidate] = 0;
    }
    measurements.push_back(std::move(measurement));
    for (std::size_t i = 0; i < questions_.size(); ++i)
      if (is_answered_by(best->round, best->benchmark, i)) information_[i].add(best->round);
  }
  return measurements;
}

/// The best round that takes at most `longest` seconds. Without a limit, it is the one with most
/// information per second.
std::optional<Choice> Planner::choose(double longest) const {
  std::optional<Choice> best;
  double most = 0;
  for (auto const& round : list_rounds()) {
    auto choice = judge(round);
    if (!choice || choice->seconds > longest) continue;
    double const worth = choice->information / (std::isinf(longest) ? choice->seconds : 1);
    if (worth <= most) continue;
    most = worth;
    best = std::move(choice);
  }
  return best;
}

std::vector<std::vector<std::size_t>> Planner::list_rounds() const {
  std::vector<std::vector<std::size_t>> rounds;
  for (std::size_t i = 0; i < builds_.size(); ++i) {
    if (capacity_.together == 1) {
      rounds.push_back({i});
      continue;
    }
    for (std::size_t j = i + 1; j < builds_.size(); ++j)
      if (builds_[i] == 0 || builds_[j] == 0) rounds.push_back({i, j});
  }
  return rounds;
}

/// Chooses the benchmark of a round. A new build gives information about all benchmarks; a round of
/// existing builds, only about its own.
std::optional<Choice> Planner::judge(std::vector<std::size_t> const& round) const {
  Choice choice{0, round, 0, static_cast<double>(round.size()) * costs_.reading};
  double chance = 1;
  bool is_there = true;
  for (auto const candidate : round) {
    if (builds_[candidate] == 0) continue;
    is_there = false;
    choice.seconds += builds_[candidate];
    chance *= costs_.chance(candidates_.positions()[candidate]);
  }
  double best = 0;
  for (auto const benchmark : benchmarks_) {
    double const gain = this->gain(round, benchmark);
    choice.information = is_there ? std::max(gain, best) : choice.information + gain;
    if (gain <= best) continue;
    best = gain;
    choice.benchmark = benchmark;
  }
  choice.information *= chance;
  return best > 0 ? std::optional{std::move(choice)} : std::nullopt;
}

/// The information of a round about the series of one benchmark that all its builds can measure.
double Planner::gain(std::vector<std::size_t> const& round, std::size_t benchmark) const {
  double sum = 0;
  for (std::size_t i = 0; i < questions_.size(); ++i)
    if (is_answered_by(round, benchmark, i)) sum += information_[i].gain(round);
  return sum;
}

bool Planner::is_answered_by(std::vector<std::size_t> const& round,
                             std::size_t benchmark,
                             std::size_t question) const {
  auto const& lost = questions_[question].lost;
  return questions_[question].benchmark == benchmark &&
         std::ranges::none_of(round, [&](std::size_t candidate) {
           return lost.contains(candidates_.positions()[candidate]);
         });
}

/// The rounds that are missing until each end has `readings` readings.
std::vector<std::vector<std::size_t>> rounds_of_ends(Belief const& belief,
                                                     int readings,
                                                     std::size_t together) {
  auto const last = belief.positions.back();
  std::vector<std::vector<std::size_t>> rounds;
  if (belief.readings.front() < readings) rounds.push_back({0});
  if (belief.readings.back() < readings) rounds.push_back({last});
  if (together > 1 && !rounds.empty()) return {{0, last}};
  return rounds;
}

/// Plans two readings of each end of each benchmark.
std::vector<Measurement> plan_start(std::span<Question const> questions,
                                    StepCosts const& costs,
                                    Capacity capacity) {
  std::vector<Measurement> measurements;
  std::map<std::size_t, Belief const*> benchmarks;
  for (auto const& question : questions)
    benchmarks.try_emplace(question.benchmark, &question.belief);
  for (int readings = 1; readings <= first_readings; ++readings) {
    for (auto const& [benchmark, belief] : benchmarks) {
      for (auto& round : rounds_of_ends(*belief, readings, capacity.together)) {
        double const seconds = static_cast<double>(round.size()) * costs.reading;
        if (measurements.size() < capacity.slots)
          measurements.push_back({benchmark, std::move(round), 0, seconds});
      }
    }
  }
  return measurements;
}

}  // namespace

std::vector<Measurement> plan(std::span<Question const> questions,
                              StepCosts const& costs,
                              Capacity capacity) {
  if (questions.empty()) return {};
  auto measurements = plan_start(questions, costs, capacity);
  if (!measurements.empty()) return measurements;
  return Planner{questions, costs, capacity}.plan();
}

}  // namespace torchwatch::bisect
