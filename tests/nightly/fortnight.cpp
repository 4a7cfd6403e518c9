#include "tests/nightly/fortnight.h"

#include <utility>

#include "tests/lab/dice.h"

namespace torchwatch::nightly {
namespace {

constexpr std::size_t hundred = 100;

bool happens(lab::Dice& dice, std::size_t percent) {
  return dice.below(hundred) < percent;
}

std::string date_of(std::size_t night) {
  auto const day = std::to_string(night + 1);
  return "2026-01-" + std::string(2 - day.size(), '0') + day;
}

void plan_failures(PlannedNight& night, lab::Dice& dice) {
  for (auto const& model : planned_models()) {
    auto const drawn = dice.below(hundred);
    if (drawn < 10)
      night.failing[model] = JobError::crashed;
    else if (drawn < 15)
      night.failing[model] = JobError::timeout;
    else if (drawn < 25)
      night.undecided.insert(model);
  }
  night.is_unbuildable = happens(dice, 5);
}

void plan_regressions(PlannedNight& night, lab::Dice& dice) {
  for (auto const& model : planned_models()) {
    bool const is_undecided = night.undecided.contains(model);
    bool const is_hidden = is_undecided || night.failing.contains(model) || night.is_unbuildable;
    if (!happens(dice, is_hidden ? 60 : 20)) continue;
    PlantedRegression planted;
    planted.commit = night.commit - dice.below(commits_a_night);
    planted.model = model;
    bool const is_memory = happens(dice, 50);
    planted.metric = is_memory && !is_undecided ? Metric::cmem : Metric::latency;
    planted.ratio = 1.2 + 0.05 * static_cast<double>(dice.below(5));
    night.regressions.push_back(std::move(planted));
  }
}

void plan_passing_troubles(PlannedNight& night, lab::Dice& dice) {
  if (happens(dice, 15)) night.fails_once.insert(night.commit);
  if (happens(dice, 30) && night.commit > 0)
    night.fails_once.insert(night.commit - 1 - dice.below(commits_a_night - 1));
  night.no_recipe_starts = happens(dice, 10);
  if (happens(dice, 25)) night.rounds_until_no_worker_starts = static_cast<int>(dice.below(30));
}

}  // namespace

std::vector<std::string> const& planned_models() {
  static std::vector<std::string> const models{"alpha", "beta"};
  return models;
}

std::vector<PlannedNight> plan_nights(std::uint64_t seed, std::size_t nights) {
  lab::Dice dice{seed};
  std::vector<PlannedNight> plan;
  for (std::size_t i = 0; i < nights; ++i) {
    PlannedNight night;
    night.date = date_of(i);
    night.commit = i * commits_a_night;
    if (i > 0 && i + 1 < nights) plan_failures(night, dice);
    if (i > 0) plan_regressions(night, dice);
    plan_passing_troubles(night, dice);
    plan.push_back(std::move(night));
  }
  return plan;
}

}  // namespace torchwatch::nightly
