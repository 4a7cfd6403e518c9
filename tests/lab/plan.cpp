#include "tests/lab/plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "tests/lab/dice.h"

namespace torchwatch::lab {

namespace {

using Fixed = std::map<std::size_t, std::string>;

/// Numbers of commits that land together, repeated in this order. Most commits land alone, but each
/// day has stacks.
constexpr int landing_sizes[] = {1, 1, 2, 1, 1, 3, 1, 1, 1, 2, 1, 4};
/// A revert reverts one of this many steps before it.
constexpr std::size_t revert_reach = 7;
constexpr int first_pull_request = 161000;
constexpr std::size_t pull_request_stride = 23;

std::size_t index_of(Scenario const& scenario, int position) {
  return static_cast<std::size_t>(scenario.base_commits + position - 1);
}

/// Returns the changes whose index the scenario determines.
Fixed fixed_changes(Scenario const& scenario) {
  Fixed fixed;
  for (auto const& culprit : scenario.culprits) {
    fixed.emplace(index_of(scenario, culprit.at), culprit.change);
    if (culprit.reverted_at) {
      fixed.emplace(index_of(scenario, *culprit.reverted_at), culprit.change);
    }
  }
  if (scenario.broken) {
    fixed.emplace(index_of(scenario, scenario.broken->from), "build/break");
    fixed.emplace(index_of(scenario, scenario.broken->until), "build/repair");
  }
  return fixed;
}

Result<std::vector<Step>> choose_changes(Scenario const& scenario,
                                         Material const& material,
                                         Fixed const& fixed,
                                         Dice& dice) {
  std::vector<std::string> harmless;
  for (auto const& [name, change] : material.changes) {
    if (name.starts_with("harmless/")) harmless.push_back(name);
  }
  dice.shuffle(harmless);
  std::vector<Step> steps(
      static_cast<std::size_t>(scenario.base_commits + later_nightlies(scenario).back()));
  for (std::size_t index = 0; index < steps.size(); ++index) {
    if (auto const found = fixed.find(index); found != fixed.end()) {
      if (!material.changes.contains(found->second)) {
        return Error{ErrorCode::invalid_argument,
                     "scenario " + scenario.name + ": change " + found->second + " not found"};
      }
      steps[index].change = found->second;
    } else if (harmless.empty()) {
      return Error{
          ErrorCode::invalid_argument,
          "scenario " + scenario.name + ": has more commits than there are harmless changes"};
    } else {
      steps[index].change = std::move(harmless.back());
      harmless.pop_back();
    }
  }
  return steps;
}

/// Returns indices of reverts between the nightlies: not determined by the scenario, and late
/// enough to have a commit to revert.
std::vector<std::size_t> revert_places(Scenario const& scenario, Fixed const& fixed, Dice& dice) {
  std::vector<std::size_t> places;
  for (int position = static_cast<int>(revert_reach); position <= scenario.commits; ++position) {
    auto const index = index_of(scenario, position);
    if (!fixed.contains(index)) places.push_back(index);
  }
  dice.shuffle(places);
  places.resize(std::min(places.size(), static_cast<std::size_t>(scenario.reverts)));
  std::ranges::sort(places);
  return places;
}

/// Makes the step at each place revert a harmless step of the same day. No step is reverted twice.
void choose_reverts(std::vector<Step>& steps,
                    std::vector<std::size_t> const& places,
                    Material const& material,
                    Dice& dice) {
  std::set<std::size_t> unfit{places.begin(), places.end()};
  for (auto const place : places) {
    std::vector<std::size_t> candidates;
    for (auto index = place - revert_reach + 1; index < place; ++index) {
      if (steps[index].change.starts_with("harmless/") && !unfit.contains(index)) {
        candidates.push_back(index);
      }
    }
    if (candidates.empty()) continue;
    auto const reverted = dice.pick(candidates);
    unfit.insert(reverted);
    steps[place].reverts = reverted;
    steps[place].change = steps[reverted].change;
    steps[place].reason = dice.pick(material.revert_reasons);
  }
}

void revert_culprits(std::vector<Step>& steps,
                     Scenario const& scenario,
                     Material const& material,
                     Dice& dice) {
  for (auto const& culprit : scenario.culprits) {
    if (!culprit.reverted_at) continue;
    auto& step = steps[index_of(scenario, *culprit.reverted_at)];
    step.reverts = index_of(scenario, culprit.at);
    step.reason = dice.pick(material.revert_reasons);
  }
}

void choose_pull_requests(std::vector<Step>& steps, Dice& dice) {
  std::vector<std::size_t> slots(steps.size());
  std::iota(slots.begin(), slots.end(), std::size_t{0});
  dice.shuffle(slots);
  for (std::size_t index = 0; index < steps.size(); ++index) {
    auto const offset = slots[index] * pull_request_stride + dice.below(pull_request_stride);
    steps[index].pull_request = first_pull_request + static_cast<int>(offset);
  }
}

std::string stack_id(Dice& dice) {
  constexpr char digits[] = "0123456789abcdef";
  std::string id(40, '0');
  for (auto& digit : id)
    digit = digits[dice.below(16)];
  return id;
}

void sign(Step& step, Step const* below, Material const& material, Dice& dice) {
  using std::chrono::minutes;
  step.author = below != nullptr ? below->author : dice.pick(material.people);
  step.authored = step.committed - minutes{90 + dice.below(3 * 24 * 60)};
  auto const approvals = 1 + dice.below(2);
  while (step.approved_by.size() < approvals) {
    auto const& login = dice.pick(material.people).login;
    auto const known = std::ranges::find(step.approved_by, login);
    if (login != step.author.login && known == step.approved_by.end()) {
      step.approved_by.push_back(login);
    }
  }
}

/// The steps [begin, end), which land between `start` and a day later.
struct LandingDay {
  std::size_t begin = 0;
  std::size_t end = 0;
  Timestamp start;
};

/// Sets times and authors of a day's steps. All steps of a stack have one time and one author.
void land(std::vector<Step>& steps, LandingDay const& day, Material const& material, Dice& dice) {
  auto const& [begin, end, start] = day;
  auto const slot = std::chrono::seconds{std::chrono::hours{23}} / static_cast<int>(end - begin);
  auto landing = dice.below(std::size(landing_sizes));
  for (auto index = begin; index < end;) {
    auto const time = start + slot * static_cast<int>(index - begin) +
                      std::chrono::seconds{dice.below(static_cast<std::size_t>(slot.count()))};
    auto const size = landing_sizes[landing++ % std::size(landing_sizes)];
    Step* below = nullptr;
    for (int member = 0; member < size && index < end; ++member, ++index) {
      auto& step = steps[index];
      if (step.reverts && below != nullptr) break;
      step.committed = time;
      sign(step, below, material, dice);
      if (size > 1) step.stack = stack_id(dice);
      below = &step;
      if (step.reverts) {
        step.author = material.bot;
        step.authored = time;
        step.pull_request = steps[*step.reverts].pull_request;
        step.stack.clear();
        ++index;
        break;
      }
    }
  }
}

}  // namespace

Result<std::vector<Step>> plan_history(Scenario const& scenario,
                                       Material const& material,
                                       std::uint64_t seed) {
  Dice dice{seed};
  auto const fixed = fixed_changes(scenario);
  auto steps = choose_changes(scenario, material, fixed, dice);
  if (!steps) return steps;
  choose_reverts(*steps, revert_places(scenario, fixed, dice), material, dice);
  revert_culprits(*steps, scenario, material, dice);
  choose_pull_requests(*steps, dice);
  auto const first = release_time(scenario.first_nightly);
  auto const base = static_cast<std::size_t>(scenario.base_commits);
  constexpr std::chrono::hours a_day{24};
  land(*steps, {0, base, first - a_day}, material, dice);
  LandingDay day{base, base, first};
  for (auto const position : later_nightlies(scenario)) {
    day.end = base + static_cast<std::size_t>(position);
    land(*steps, day, material, dice);
    day.begin = day.end;
    day.start += a_day;
  }
  return steps;
}

Timestamp release_time(std::chrono::sys_days day) {
  return Timestamp{day} + std::chrono::hours{7} + std::chrono::minutes{30};
}

}  // namespace torchwatch::lab
