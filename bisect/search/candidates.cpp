#include "bisect/search/candidates.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace torchwatch::bisect {

namespace {

/// The number of gaps of a question that get candidates inside.
constexpr std::size_t most_cut = 12;

/// The gaps that may hold a change, the likeliest first.
std::vector<std::size_t> suspected(Belief const& belief) {
  std::vector<std::pair<double, std::size_t>> gaps;
  for (std::size_t gap = 0; gap < belief.gaps(); ++gap)
    if (double const changed = belief.changed_in(gap); changed >= negligible)
      gaps.emplace_back(changed, gap);
  std::ranges::stable_sort(gaps, std::ranges::greater{}, &std::pair<double, std::size_t>::first);
  std::vector<std::size_t> ordered;
  for (auto const& [changed, gap] : gaps)
    ordered.push_back(gap);
  return ordered;
}

}  // namespace

double weight(Question const& question, std::size_t begin, std::size_t end) {
  auto const at = question.prior.begin();
  return std::accumulate(
      at + static_cast<std::ptrdiff_t>(begin), at + static_cast<std::ptrdiff_t>(end), 0.0);
}

Candidates::Candidates(std::span<Question const> questions,
                       StepCosts const& costs,
                       std::size_t slots) {
  for (auto const& question : questions) {
    auto const& belief = question.belief;
    positions_.insert(positions_.end(), {belief.positions.front(), belief.positions.back()});
    auto const gaps = suspected(belief);
    for (auto const gap : gaps)
      positions_.insert(positions_.end(), {belief.positions[gap], belief.positions[gap + 1]});
    for (std::size_t i = 0; i < std::min(gaps.size(), most_cut); ++i)
      split(question, gaps[i], costs, slots + 1);
  }
  std::ranges::sort(positions_);
  auto const repeated = std::ranges::unique(positions_);
  positions_.erase(repeated.begin(), repeated.end());
}

/// Divides a gap into `parts` of equal weight. At each border, adds the nearest readable position
/// on both sides, and the nearest one that is already built.
void Candidates::split(Question const& question,
                       std::size_t gap,
                       StepCosts const& costs,
                       std::size_t parts) {
  auto const begin = question.belief.positions[gap];
  auto const end = question.belief.positions[gap + 1];
  auto const add_nearest = [&](std::size_t cut, auto const& is_wanted) {
    auto below = cut;
    while (below > begin && !is_wanted(below))
      --below;
    if (below > begin) positions_.push_back(below);
    auto above = cut;
    while (above < end && !is_wanted(above))
      ++above;
    if (above < end) positions_.push_back(above);
  };
  auto const can_be_read = [&](std::size_t position) {
    return !question.lost.contains(position);
  };
  auto const is_there = [&](std::size_t position) {
    return can_be_read(position) && costs.build(position) == 0;
  };
  double const part = weight(question, begin, end) / static_cast<double>(parts);
  double sum = 0;
  double next = part;
  for (auto position = begin + 1; position < end; ++position) {
    sum += question.prior[position - 1];
    if (sum + question.prior[position] / 2 < next) continue;  // the next one is nearer
    next = part * (std::floor(sum / part + 0.5) + 1);
    add_nearest(position, can_be_read);
    add_nearest(position, is_there);
  }
  add_middles(question, begin, end);
}

/// Adds the middle of each stretch between positions that cannot be read. Their neighbours are
/// often unreadable too, so the middle is the safest choice.
void Candidates::add_middles(Question const& question, std::size_t begin, std::size_t end) {
  auto lost = question.lost.upper_bound(begin);
  if (lost == question.lost.end() || *lost >= end) return;
  for (auto before = begin; before < end; ++lost) {
    auto const after = lost == question.lost.end() ? end : std::min(*lost, end);
    if (after - before > 1) positions_.push_back((before + after) / 2);
    before = after;
    if (after == end) break;
  }
}

std::vector<Candidates::Cell> Candidates::cells(Question const& question, std::size_t gap) const {
  auto before = question.belief.positions[gap];
  auto const end = question.belief.positions[gap + 1];
  double const total = weight(question, before, end);
  std::vector<Cell> all;
  for (auto at = std::ranges::upper_bound(positions_, before); before < end; ++at) {
    all.push_back(
        {static_cast<std::size_t>(at - positions_.begin()), weight(question, before, *at) / total});
    before = *at;
  }
  return all;
}

}  // namespace torchwatch::bisect
