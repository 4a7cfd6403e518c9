#include "storage/domain/bisection.h"

#include <algorithm>
#include <array>

namespace torchwatch {
namespace {

template <class Enum, std::size_t N>
std::optional<Enum> parse_one_of(std::array<Enum, N> const& all, std::string_view text) {
  for (auto const value : all)
    if (text == to_string(value)) return value;
  return std::nullopt;
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
    case BisectionOutcome::undecided:
      return "undecided";
  }
  return "unknown";
}

std::string_view to_string(SearchStage stage) {
  switch (stage) {
    case SearchStage::nightlies:
      return "nightlies";
    case SearchStage::commits:
      return "commits";
  }
  return "unknown";
}

std::optional<SearchStage> parse_search_stage(std::string_view text) {
  return parse_one_of(std::array{SearchStage::nightlies, SearchStage::commits}, text);
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
  return parse_one_of(std::array{culprit, range, environment, not_reproduced, undecided}, text);
}

bool is_active(BisectionState state) {
  return state == BisectionState::queued || state == BisectionState::running;
}

bool is_proved(Effect const& effect) {
  return effect.proof && (effect.proof->verdict == Verdict::regression ||
                          effect.proof->verdict == Verdict::improvement);
}

bool is_cured(Effect const& effect) {
  if (!effect.proof || !effect.cure) return false;
  auto const proof = effect.proof->verdict;
  auto const cure = effect.cure->verdict;
  return (proof == Verdict::regression && cure == Verdict::improvement) ||
         (proof == Verdict::improvement && cure == Verdict::regression);
}

bool is_culprit(Finding const& finding) {
  return finding.suspects.size() == 1 && std::ranges::any_of(finding.effects, is_proved);
}

}  // namespace torchwatch
