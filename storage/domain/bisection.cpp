#include "storage/domain/bisection.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace torchwatch {
namespace {

template <class Enum, std::size_t N>
std::optional<Enum> parse_one_of(std::array<Enum, N> const& all, std::string_view text) {
  for (auto const value : all)
    if (text == to_string(value)) return value;
  return std::nullopt;
}

bool shows(Effect const& effect, Verdict verdict) {
  return effect.proof && effect.proof->verdict == verdict && !effect.is_doubted &&
         (!effect.rebuilt || effect.rebuilt->verdict == verdict);
}

bool made_better(Effect const& effect) {
  return shows(effect, Verdict::improvement);
}

bool looks_better(Effect const& effect) {
  bool const is_higher_better = effect.series.metric.kind().is_higher_better;
  return is_higher_better ? effect.after > effect.before : effect.after < effect.before;
}

}  // namespace

std::string_view to_string(Direction direction) {
  switch (direction) {
    case Direction::increase:
      return "increase";
    case Direction::decrease:
      return "decrease";
    case Direction::both:
      return "both";
  }
  return "unknown";
}

std::string_view to_string(Prior prior) {
  switch (prior) {
    case Prior::uniform:
      return "uniform";
    case Prior::paths:
      return "paths";
  }
  return "unknown";
}

std::string_view to_string(BisectionState state) {
  switch (state) {
    case BisectionState::queued:
      return "queued";
    case BisectionState::running:
      return "running";
    case BisectionState::paused:
      return "paused";
    case BisectionState::cancelled:
      return "cancelled";
    case BisectionState::done:
      return "done";
    case BisectionState::failed:
      return "failed";
  }
  return "unknown";
}

std::string_view to_string(BisectionOutcome outcome) {
  switch (outcome) {
    case BisectionOutcome::culprit:
      return "culprit";
    case BisectionOutcome::range:
      return "range";
    case BisectionOutcome::environment:
      return "environment";
    case BisectionOutcome::not_reproduced:
      return "not_reproduced";
    case BisectionOutcome::layout:
      return "layout";
    case BisectionOutcome::undecided:
      return "undecided";
  }
  return "unknown";
}

std::string_view to_string(BisectionStage stage) {
  switch (stage) {
    case BisectionStage::nightlies:
      return "nightlies";
    case BisectionStage::commits:
      return "commits";
  }
  return "unknown";
}

std::optional<BisectionStage> parse_bisection_stage(std::string_view text) {
  return parse_one_of(std::array{BisectionStage::nightlies, BisectionStage::commits}, text);
}

std::optional<Direction> parse_direction(std::string_view text) {
  return parse_one_of(std::array{Direction::increase, Direction::decrease, Direction::both}, text);
}

std::optional<Prior> parse_prior(std::string_view text) {
  return parse_one_of(std::array{Prior::uniform, Prior::paths}, text);
}

std::optional<BisectionState> parse_bisection_state(std::string_view text) {
  using enum BisectionState;
  return parse_one_of(std::array{queued, running, paused, cancelled, done, failed}, text);
}

std::optional<BisectionOutcome> parse_bisection_outcome(std::string_view text) {
  using enum BisectionOutcome;
  return parse_one_of(std::array{culprit, range, environment, not_reproduced, layout, undecided},
                      text);
}

bool has_ended(BisectionState state) {
  return state == BisectionState::done || state == BisectionState::failed ||
         state == BisectionState::cancelled;
}

bool is_active(BisectionState state) {
  return state == BisectionState::queued || state == BisectionState::running;
}

std::string_view to_string(FindingKind kind) {
  switch (kind) {
    case FindingKind::improvement:
      return "improvement";
    case FindingKind::culprit:
      return "culprit";
    case FindingKind::range:
      return "range";
    case FindingKind::gradual:
      return "gradual";
    case FindingKind::layout:
      return "layout";
  }
  return "unknown";
}

bool is_proved(Effect const& effect) {
  return made_worse(effect) || made_better(effect);
}

bool made_worse(Effect const& effect) {
  return shows(effect, Verdict::regression);
}

bool is_layout(Effect const& effect) {
  if (!effect.proof || !effect.rebuilt || effect.is_doubted || is_proved(effect)) return false;
  auto const first = effect.proof->verdict;
  bool const is_change = first == Verdict::regression || first == Verdict::improvement;
  return is_change && effect.rebuilt->verdict != Verdict::inconclusive;
}

double ratio_per_suspect(Finding const& finding, Effect const& effect) {
  return std::pow(effect.after / effect.before, 1 / static_cast<double>(finding.suspects.size()));
}

bool is_undone_by_revert(Effect const& effect) {
  if (!effect.revert_check) return false;
  auto const reverted = effect.revert_check->verdict;
  return (made_worse(effect) && reverted == Verdict::improvement) ||
         (made_better(effect) && reverted == Verdict::regression);
}

bool is_culprit(Finding const& finding) {
  return finding.suspects.size() == 1 && std::ranges::any_of(finding.effects, is_proved);
}

FindingKind kind_of(Finding const& finding) {
  auto const& effects = finding.effects;
  if (is_culprit(finding))
    return std::ranges::any_of(effects, made_worse) ? FindingKind::culprit
                                                    : FindingKind::improvement;
  if (finding.suspects.size() == 1 && std::ranges::any_of(effects, is_layout))
    return FindingKind::layout;
  if (std::ranges::all_of(effects, looks_better)) return FindingKind::improvement;
  return finding.is_gradual ? FindingKind::gradual : FindingKind::range;
}

bool is_to_blame(Finding const& finding) {
  return kind_of(finding) == FindingKind::culprit && finding.missing == 0;
}

bool measured_nightlies_alone(Bisection const& bisection) {
  return !bisection.steps.empty() &&
         std::ranges::all_of(bisection.steps, [](BisectionStep const& step) {
           return step.stage == BisectionStage::nightlies;
         });
}

}  // namespace torchwatch
