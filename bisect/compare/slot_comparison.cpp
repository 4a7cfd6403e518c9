#include "bisect/compare/slot_comparison.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <boost/math/distributions/binomial.hpp>

#include "bisect/compare/statistics.h"

namespace torchwatch::bisect {
namespace {

/// The limits beyond which a slot is slow or noisy, and within which it is good. Between them, a
/// slot stays as it is.
constexpr double slow_ratio = 1.05;
constexpr double good_level = 1.03;
constexpr double noisy_ratio = 2;
constexpr double good_noise = 1.5;

/// The largest probability of a test's signs at which a slot is slow or noisy.
constexpr double chance_of_each = 1.0 / 4000;

/// The largest probability of its signs at which a slot beyond the limit of good ones is not good.
constexpr double chance_of_doubt = 1.0 / 20;

/// The fewest rounds of a unit whose median replaces "no change" between its builds.
constexpr std::size_t rounds_that_know_a_change = 5;

/// The difference between two processes that counts as none. It keeps logarithms finite.
constexpr double least_difference = 1e-6;

/// Each step of the fit halves what is left, so this many are exact to 1 in a billion.
constexpr int steps_of_fit = 30;

/// One logarithm of one round.
struct Value {
  std::size_t unit = 0;
  std::size_t slot = 0;
  double logarithm = 0;
};

/// The values of one unit by slot, for at least two slots.
using Unit = std::map<std::size_t, double>;

/// Returns the units that several slots measured. Each slot of a unit gives the median of equally
/// many rounds, the first ones.
std::vector<Unit> units_of(std::vector<Value> const& values) {
  std::map<std::size_t, std::map<std::size_t, std::vector<double>>> rounds;
  for (auto const& value : values)
    rounds[value.unit][value.slot].push_back(value.logarithm);
  std::vector<Unit> units;
  for (auto& [number, of_slots] : rounds) {
    if (of_slots.size() < 2) continue;
    auto fewest = of_slots.begin()->second.size();
    for (auto const& [slot, its] : of_slots)
      fewest = std::min(fewest, its.size());
    auto& unit = units.emplace_back();
    for (auto& [slot, its] : of_slots) {
      its.resize(fewest);
      unit[slot] = median(std::move(its));
    }
  }
  return units;
}

/// Returns the median of a unit's values without the effects of their slots.
double middle_of(Unit const& unit, std::vector<double> const& effects) {
  std::vector<double> values;
  for (auto const& [slot, value] : unit)
    values.push_back(value - effects[slot]);
  return median(std::move(values));
}

/// Returns the effect of each slot, by median polish.
std::vector<double> fit(std::vector<Unit> const& units, std::size_t slots) {
  std::vector<double> effects(slots, 0.0);
  for (int step = 0; step < steps_of_fit; ++step) {
    std::vector<std::vector<double>> residuals(slots);
    for (auto const& unit : units) {
      double const middle = middle_of(unit, effects);
      for (auto const& [slot, value] : unit)
        residuals[slot].push_back(value - middle);
    }
    for (std::size_t slot = 0; slot < slots; ++slot)
      if (!residuals[slot].empty()) effects[slot] = median(std::move(residuals[slot]));
  }
  return effects;
}

/// Returns the probability that at least `high` of `all` signs are positive by chance.
double chance_of(std::size_t high, std::size_t all) {
  if (high == 0) return 1;
  boost::math::binomial_distribution<double> const binomial{static_cast<double>(all), 0.5};
  return boost::math::cdf(boost::math::complement(binomial, static_cast<double>(high) - 1));
}

/// Returns the signs of a slot: in how many units more slots are below it than above, and the
/// number of units where these numbers differ.
std::pair<std::size_t, std::size_t> signs_of(std::size_t slot, std::vector<Unit> const& units) {
  std::size_t high = 0;
  std::size_t all = 0;
  for (auto const& unit : units) {
    auto const its = unit.find(slot);
    if (its == unit.end()) continue;
    auto const below =
        std::ranges::count_if(unit, [&](auto const& other) { return other.second < its->second; });
    auto const above =
        std::ranges::count_if(unit, [&](auto const& other) { return other.second > its->second; });
    high += below > above ? 1U : 0U;
    all += below != above ? 1U : 0U;
  }
  return {high, all};
}

/// Returns the figure of a slot, whose ratio is not yet next to the middle slot.
SlotFigure figure_of(std::size_t slot, std::vector<Unit> const& units) {
  SlotFigure figure;
  figure.units = static_cast<std::size_t>(
      std::ranges::count_if(units, [slot](Unit const& unit) { return unit.contains(slot); }));
  auto const [high, all] = signs_of(slot, units);
  figure.chance = chance_of(high, all);
  return figure;
}

/// The slot that the others are compared with.
enum class Reference {
  middle,        ///< the median over the slots
  lower_middle,  ///< the lower one of the two middle slots: of two slots, the smaller
};

double reference_of(std::vector<double> effects, Reference reference) {
  if (reference == Reference::middle) return median(std::move(effects));
  auto const at = effects.begin() + (std::ssize(effects) - 1) / 2;
  std::ranges::nth_element(effects, at);
  return *at;
}

/// Returns one figure of each slot. Without `fewest_slots` slots of enough units, nothing can be
/// compared.
std::vector<SlotFigure> figures_of(std::vector<Value> const& values,
                                   std::size_t slots,
                                   std::size_t fewest_slots,
                                   Reference reference) {
  auto const units = units_of(values);
  auto const effects = fit(units, slots);
  std::vector<SlotFigure> figures;
  std::vector<double> compared;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    figures.push_back(figure_of(slot, units));
    if (figures.back().units >= fewest_slot_units) compared.push_back(effects[slot]);
  }
  if (compared.size() < fewest_slots) return std::vector<SlotFigure>(slots);
  double const zero = reference_of(std::move(compared), reference);
  for (std::size_t slot = 0; slot < slots; ++slot)
    if (figures[slot].units > 0) figures[slot].ratio = std::exp(effects[slot] - zero);
  return figures;
}

bool is_positive(double value) {
  return std::isfinite(value) && value > 0;
}

/// Returns the mean of the logarithms; nothing without any.
std::optional<double> mean_logarithm(std::vector<double> const& values) {
  double sum = 0;
  for (double const value : values)
    sum += std::log(value);
  if (values.empty()) return std::nullopt;
  return sum / static_cast<double>(values.size());
}

std::vector<Value> levels_in(std::span<SlotRound const> rounds) {
  std::vector<Value> values;
  for (auto const& round : rounds)
    if (auto const level = mean_logarithm(round.costs);
        level && std::ranges::all_of(round.costs, is_positive))
      values.push_back({round.unit, round.slot, *level});
  return values;
}

std::vector<Value> spreads_within(std::span<SlotRound const> rounds) {
  std::vector<Value> values;
  for (auto const& round : rounds) {
    std::vector<double> known;
    std::ranges::copy_if(round.run_spreads, std::back_inserter(known), is_positive);
    if (auto const spread = mean_logarithm(known))
      values.push_back({round.unit, round.slot, *spread});
  }
  return values;
}

/// Returns the logarithm of the difference between the first and the last process of each round,
/// without the usual difference of the unit's builds. A unit of a few rounds has no change: one
/// that may have changed is measured more often.
std::vector<Value> differences_between(std::span<SlotRound const> rounds) {
  std::vector<Value> values;
  std::map<std::size_t, std::vector<double>> of_units;
  for (auto const& round : rounds) {
    if (round.costs.size() < 2 || !std::ranges::all_of(round.costs, is_positive)) continue;
    double const difference = std::log(round.costs.back() / round.costs.front());
    values.push_back({round.unit, round.slot, difference});
    of_units[round.unit].push_back(difference);
  }
  std::map<std::size_t, double> usual;
  for (auto& [unit, differences] : of_units)
    usual[unit] =
        differences.size() < rounds_that_know_a_change ? 0 : median(std::move(differences));
  for (auto& [unit, slot, value] : values)
    value = std::log(std::max(std::abs(value - usual[unit]), least_difference));
  return values;
}

bool is_known(SlotFigure const& figure) {
  return figure.units >= fewest_slot_units;
}

/// True when the figure is above the limit, and its signs have at most that probability by chance.
bool exceeds(SlotFigure const& figure, double limit, double chance) {
  return is_known(figure) && figure.ratio > limit && figure.chance <= chance;
}

}  // namespace

std::vector<SlotFigures> compare_slots(std::span<SlotRound const> rounds, std::size_t slots) {
  auto const levels =
      figures_of(levels_in(rounds), slots, fewest_slots_of_level, Reference::middle);
  auto const within = figures_of(spreads_within(rounds), slots, 2, Reference::lower_middle);
  auto const between = figures_of(differences_between(rounds), slots, 2, Reference::lower_middle);
  std::vector<SlotFigures> figures;
  for (std::size_t slot = 0; slot < slots; ++slot)
    figures.push_back({levels[slot], within[slot], between[slot]});
  return figures;
}

SlotFinding finding_of(SlotFigures const& figures) {
  auto const& [level, within, between] = figures;
  if (exceeds(level, slow_ratio, chance_of_each)) return SlotFinding::slow;
  bool const is_noisy =
      exceeds(within, noisy_ratio, chance_of_each) || exceeds(between, noisy_ratio, chance_of_each);
  if (is_noisy) return SlotFinding::noisy;
  bool const is_any_known = is_known(level) || is_known(within) || is_known(between);
  bool const is_in_doubt = exceeds(level, good_level, chance_of_doubt) ||
                           exceeds(within, good_noise, chance_of_doubt) ||
                           exceeds(between, good_noise, chance_of_doubt);
  return is_any_known && !is_in_doubt ? SlotFinding::good : SlotFinding::unknown;
}

}  // namespace torchwatch::bisect
