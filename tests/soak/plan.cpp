#include "tests/soak/plan.h"

#include <algorithm>
#include <cmath>

#include "tests/lab/dice.h"

namespace torchwatch::soak {
namespace {

constexpr std::size_t hundred = 100;
constexpr std::size_t days_between_changes = 5;
constexpr std::size_t shortest_change = 4;
constexpr std::size_t longest_change = 12;
/// The days at both ends of a plan without faults.
constexpr std::size_t quiet_start = 3;
constexpr std::size_t quiet_end = 10;
/// The threshold of `decide.threshold`.
constexpr double threshold = 1.07;

bool happens(lab::Dice& dice, std::size_t percent) {
  return dice.below(hundred) < percent;
}

/// True on days on which faults may happen.
bool may_be_faulty(std::size_t day, std::size_t days) {
  return day >= quiet_start && day + quiet_end < days;
}

void draw_kind(Planted& planted, lab::Dice& dice) {
  auto const kind = dice.below(10);
  auto const percent = 8 + dice.below(43);
  planted.ratio = 1 + 0.01 * static_cast<double>(percent);
  if (kind < 2) planted.ratio = dice.below(2) == 0 ? 1.05 : 1.06;
  if (kind >= 6) planted.metric = kind < 8 ? Metric::cmem : Metric::leak;
  if (planted.metric == Metric::leak) planted.ratio = 2 + static_cast<double>(dice.below(4));
}

std::vector<Planted> draw_changes(lab::Dice& dice, std::size_t days) {
  auto const& models = changing_models();
  std::vector<Planted> all;
  for (auto begins = quiet_start; begins + longest_change + quiet_end <= days;
       begins += days_between_changes) {
    Planted planted;
    planted.model = models[all.size() % models.size()];
    planted.begins = begins;
    planted.ends = begins + shortest_change + dice.below(longest_change - shortest_change + 1);
    planted.is_reverted = !happens(dice, 25);
    draw_kind(planted, dice);
    all.push_back(std::move(planted));
  }
  return all;
}

Habit draw_habit(lab::Dice& dice) {
  auto const drawn = dice.below(hundred);
  if (drawn < 3) return Habit::broken;
  if (drawn < 6) return Habit::late;
  return drawn < 10 ? Habit::twice : Habit::on_time;
}

void draw_nightlies(std::vector<PlannedDay>& days, lab::Dice& dice) {
  std::size_t missing = 0;
  for (std::size_t i = 0; i < days.size(); ++i) {
    auto& day = days[i];
    day.quiet_commits = 1 + dice.below(3);
    if (missing == 0 && happens(dice, 2)) missing = 1 + dice.below(3);
    auto const habit = draw_habit(dice);
    bool const is_missing = missing > 0;
    if (is_missing) --missing;
    if (!may_be_faulty(i, days.size())) continue;
    // A late nightly arrives when the next one was judged.
    bool const is_after_late = days[i - 1].habit == Habit::late;
    if (is_after_late) continue;
    day.habit = is_missing ? Habit::missing : habit;
  }
}

/// Draws runs of one to `longest` days that begin with this chance. Sets a member of each day.
void draw_runs(std::vector<PlannedDay>& days,
               lab::Dice& dice,
               std::size_t percent,
               std::size_t longest,
               bool PlannedDay::*member) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < days.size(); ++i) {
    if (left == 0 && happens(dice, percent)) left = 1 + dice.below(longest);
    if (left == 0) continue;
    --left;
    days[i].*member = may_be_faulty(i, days.size());
  }
}

void draw_slots(std::vector<PlannedDay>& days, lab::Dice& dice) {
  for (std::size_t i = 0; i < days.size(); ++i) {
    auto const rounds = static_cast<int>(dice.below(30));
    bool const is_dying = happens(dice, 8);
    bool const is_losing = happens(dice, 4);
    auto const& model = dice.pick(changing_models());
    if (!may_be_faulty(i, days.size())) continue;
    if (is_dying) days[i].rounds_until_slots_die = rounds;
    if (is_losing) days[i].lost_model = model;
  }
}

bool shows(PlannedDay const& day, std::string const& model) {
  bool const is_judged = day.habit == Habit::on_time || day.habit == Habit::twice;
  return is_judged && !day.is_disk_full && day.lost_model != model;
}

/// Makes each change visible on at least one nightly: its third.
void show_changes(Plan& plan) {
  for (auto const& planted : plan.planted) {
    auto const third = planted.begins + 2;
    // The nightly before must not be late, because it would arrive after this one.
    for (auto const day : {third - 1, third})
      if (plan.days[day].habit != Habit::twice) plan.days[day].habit = Habit::on_time;
    plan.days[third].lost_model.clear();
  }
}

}  // namespace

bool is_to_be_filed(Planted const& planted) {
  return planted.ratio > threshold;
}

std::vector<std::string> const& changing_models() {
  static std::vector<std::string> const models{
      "alpha", "beta", "gamma", "delta", "epsilon", "zeta"};
  return models;
}

bool is_drift_to_be_found(Plan const& plan) {
  constexpr double clearly_above = 1.08;
  constexpr std::size_t days_to_find = 21;
  if (plan.days.size() < days_to_find) return false;
  auto const steps = (plan.days.size() - days_to_find) / days_between_steps;
  return std::pow(step_of_drift, static_cast<double>(steps)) > clearly_above;
}

Plan draw_plan(std::uint64_t seed, std::size_t days) {
  lab::Dice dice{seed};
  Plan plan;
  plan.days.resize(std::max(days, fewest_days));
  plan.planted = draw_changes(dice, plan.days.size());
  draw_nightlies(plan.days, dice);
  draw_runs(plan.days, dice, 3, 4, &PlannedDay::is_github_down);
  draw_runs(plan.days, dice, 2, 3, &PlannedDay::is_disk_full);
  draw_runs(plan.days, dice, 3, 1, &PlannedDay::has_no_space_for_a_build);
  draw_slots(plan.days, dice);
  show_changes(plan);
  return plan;
}

std::size_t day_that_shows(Plan const& plan,
                           std::string const& model,
                           std::size_t day,
                           std::size_t skipped) {
  for (; day < plan.days.size(); ++day)
    if (shows(plan.days[day], model) && skipped-- == 0) break;
  return day;
}

}  // namespace torchwatch::soak
