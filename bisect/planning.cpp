#include "bisect/planning.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace torchwatch::bisect {

namespace {

/// Hypotheses and gaps below this are not worth a thought.
constexpr double negligible = 1e-4;

constexpr int first_readings = 2;

/// One possible truth: an explanation, and where in its gaps the changes came.
struct Truth {
  double probability = 0;
  std::vector<double> levels;  ///< of each candidate
};

/// What may be read: positions that are there, and some between them.
class Candidates {
 public:
  Candidates(std::span<Belief const> beliefs,
             std::span<double const> prior,
             Costs const& costs,
             std::size_t slots);

  std::vector<std::size_t> const& positions() const { return positions_; }

  /// Where in a gap its change can lie between neighbouring candidates: the first candidate that
  /// has it, and the probability.
  struct Cell {
    std::size_t first = 0;
    double probability = 0;
  };

  std::vector<Cell> cells(Belief const& belief, std::size_t gap) const;

 private:
  void split(std::size_t begin, std::size_t end, Costs const& costs, std::size_t parts);

  double weight(std::size_t begin, std::size_t end) const {
    return std::accumulate(prior_.begin() + static_cast<std::ptrdiff_t>(begin),
                           prior_.begin() + static_cast<std::ptrdiff_t>(end),
                           0.0);
  }

  std::span<double const> prior_;
  std::vector<std::size_t> positions_;
};

Candidates::Candidates(std::span<Belief const> beliefs,
                       std::span<double const> prior,
                       Costs const& costs,
                       std::size_t slots)
    : prior_{prior} {
  for (auto const& belief : beliefs) {
    positions_.insert(positions_.end(), belief.positions.begin(), belief.positions.end());
    for (std::size_t gap = 0; gap < belief.gaps(); ++gap)
      if (belief.changed_in(gap) > negligible)
        split(belief.positions[gap], belief.positions[gap + 1], costs, slots + 1);
  }
  std::ranges::sort(positions_);
  auto const [first, last] = std::ranges::unique(positions_);
  positions_.erase(first, last);
}

/// Adds the positions nearest to where parts of equal weight meet, on both sides: of those that can
/// be built, and of those that are.
void Candidates::split(std::size_t begin, std::size_t end, Costs const& costs, std::size_t parts) {
  auto const add_nearest = [&](std::size_t cut, auto const& is_wanted) {
    auto below = cut;
    while (below > begin && !is_wanted(costs.build(below)))
      --below;
    if (below > begin) positions_.push_back(below);
    auto above = cut;
    while (above < end && !is_wanted(costs.build(above)))
      ++above;
    if (above < end) positions_.push_back(above);
  };
  double const part = weight(begin, end) / static_cast<double>(parts);
  double sum = 0;
  double next = part;
  for (auto position = begin + 1; position < end; ++position) {
    sum += prior_[position - 1];
    if (sum + prior_[position] / 2 < next) continue;  // the next one is nearer
    next = part * (std::floor(sum / part + 0.5) + 1);
    add_nearest(position, [](double seconds) { return std::isfinite(seconds); });
    add_nearest(position, [](double seconds) { return seconds == 0; });
  }
}

std::vector<Candidates::Cell> Candidates::cells(Belief const& belief, std::size_t gap) const {
  auto before = belief.positions[gap];
  auto const end = belief.positions[gap + 1];
  double const total = weight(before, end);
  std::vector<Cell> all;
  for (auto at = std::ranges::upper_bound(positions_, before); before < end; ++at) {
    all.push_back({static_cast<std::size_t>(at - positions_.begin()), weight(before, *at) / total});
    before = *at;
  }
  return all;
}

Truth truth_of(Hypothesis const& hypothesis,
               std::span<Candidates::Cell const> cells,
               std::size_t candidates) {
  Truth truth{hypothesis.probability, std::vector<double>(candidates, hypothesis.base)};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    truth.probability *= cells[i].probability;
    for (auto at = cells[i].first; at < candidates; ++at)
      truth.levels[at] += hypothesis.changes[i].size;
  }
  return truth;
}

std::vector<Truth> list_truths(Belief const& belief, Candidates const& candidates) {
  auto const count = candidates.positions().size();
  std::vector<Truth> truths;
  for (auto const& hypothesis : belief.hypotheses) {
    if (hypothesis.probability < negligible) continue;
    if (hypothesis.changes.empty()) {
      truths.push_back(truth_of(hypothesis, {}, count));
      continue;
    }
    for (auto const& first : candidates.cells(belief, hypothesis.changes[0].gap)) {
      if (hypothesis.changes.size() == 1) {
        truths.push_back(truth_of(hypothesis, std::vector{first}, count));
        continue;
      }
      for (auto const& second : candidates.cells(belief, hypothesis.changes[1].gap))
        truths.push_back(truth_of(hypothesis, std::vector{first, second}, count));
    }
  }
  return truths;
}

/// Information, in nats, of readings taken together.
class Information {
 public:
  Information(std::vector<Truth> truths, double variance)
      : truths_{std::move(truths)},
        variance_{variance},
        similarity_(truths_.size() * truths_.size(), 1) {}

  double gain(std::size_t candidate) const {
    double sum = 0;
    for (std::size_t i = 0; i < truths_.size(); ++i) {
      double alike = 0;
      double before = 0;
      for (std::size_t j = 0; j < truths_.size(); ++j) {
        double const old = truths_[j].probability * similarity_[i * truths_.size() + j];
        before += old;
        alike += old * similarity(i, j, candidate);
      }
      sum += truths_[i].probability * std::log(before / alike);
    }
    return sum;
  }

  void add(std::size_t candidate) {
    for (std::size_t i = 0; i < truths_.size(); ++i)
      for (std::size_t j = 0; j < truths_.size(); ++j)
        similarity_[i * truths_.size() + j] *= similarity(i, j, candidate);
  }

 private:
  /// Bhattacharyya coefficient of what the two predict.
  double similarity(std::size_t i, std::size_t j, std::size_t candidate) const {
    double const distance = truths_[i].levels[candidate] - truths_[j].levels[candidate];
    return distance == 0 ? 1 : std::exp(-distance * distance / (8 * variance_));
  }

  std::vector<Truth> truths_;
  double variance_;
  std::vector<double> similarity_;
};

/// Two readings of each end, one end after the other.
std::vector<Probe> plan_start(std::span<Belief const> beliefs, std::size_t slots) {
  std::vector<Probe> probes;
  for (int reading = 0; reading < first_readings; ++reading)
    for (std::size_t series = 0; series < beliefs.size(); ++series)
      for (auto const end : {std::size_t{0}, beliefs[series].gaps()})
        if (beliefs[series].readings[end] <= reading && probes.size() < slots)
          probes.push_back({series, beliefs[series].positions[end]});
  return probes;
}

struct Choice {
  double worth = 0;  ///< information, by the second if that matters
  double seconds = 0;
  std::size_t series = 0;
  std::size_t candidate = 0;
};

/// What to read at a candidate. A build that has to be made is of use to all series, a reading of
/// one that is there to its own.
Choice judge(std::span<Information const> information, std::size_t candidate, bool is_there) {
  Choice choice{0, 0, 0, candidate};
  double best = 0;
  double sum = 0;
  for (std::size_t series = 0; series < information.size(); ++series) {
    double const gain = information[series].gain(candidate);
    sum += gain;
    if (gain <= best) continue;
    best = gain;
    choice.series = series;
  }
  choice.worth = is_there ? best : sum;
  return choice;
}

}  // namespace

std::vector<Probe> plan(std::span<Belief const> beliefs,
                        std::span<double const> prior,
                        Costs const& costs,
                        std::size_t slots) {
  auto probes = plan_start(beliefs, slots);
  if (!probes.empty()) return probes;
  Candidates const candidates{beliefs, prior, costs, slots};
  auto const& positions = candidates.positions();
  std::vector<Information> information;
  for (auto const& belief : beliefs)
    information.emplace_back(list_truths(belief, candidates),
                             belief.noise * belief.noise * (1 + belief.drift));
  double longest = 0;
  while (probes.size() < slots) {
    Choice best;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      bool const is_chosen =
          std::ranges::find(probes, positions[i], &Probe::position) != probes.end();
      double const build = is_chosen ? 0 : costs.build(positions[i]);
      double const seconds = costs.reading + build;
      if (!std::isfinite(seconds) || (!probes.empty() && seconds > longest)) continue;
      auto choice = judge(information, i, build == 0);
      choice.seconds = seconds;
      if (build > 0) choice.worth *= costs.chance(positions[i]);
      if (probes.empty()) choice.worth /= seconds;
      if (choice.worth > best.worth) best = choice;
    }
    if (best.worth <= 0) break;
    if (probes.empty()) longest = best.seconds;
    probes.push_back({best.series, positions[best.candidate]});
    information[best.series].add(best.candidate);
  }
  return probes;
}

}  // namespace torchwatch::bisect
