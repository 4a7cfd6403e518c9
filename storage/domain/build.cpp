#include "storage/domain/build.h"

#include <algorithm>
#include <array>

namespace torchwatch {

bool is_commit_sha(std::string_view text) {
  auto const is_hex = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  };
  return text.size() == 40 && std::ranges::all_of(text, is_hex);
}

std::string_view to_string(RecipeKind kind) {
  switch (kind) {
    case RecipeKind::program:
      return "program";
    case RecipeKind::artifacts:
      return "artifacts";
  }
  return "unknown";
}

std::optional<RecipeKind> parse_recipe_kind(std::string_view text) {
  for (auto const kind : {RecipeKind::program, RecipeKind::artifacts})
    if (text == to_string(kind)) return kind;
  return std::nullopt;
}

std::string_view to_string(NightlyState state) {
  switch (state) {
    case NightlyState::announced:
      return "announced";
    case NightlyState::prepared:
      return "prepared";
    case NightlyState::swept:
      return "swept";
    case NightlyState::screened:
      return "screened";
    case NightlyState::confirmed:
      return "confirmed";
    case NightlyState::bisected:
      return "bisected";
    case NightlyState::done:
      return "done";
    case NightlyState::failed:
      return "failed";
  }
  return "unknown";
}

std::optional<NightlyState> parse_nightly_state(std::string_view text) {
  using enum NightlyState;
  for (auto const state :
       std::array{announced, prepared, swept, screened, confirmed, bisected, done, failed})
    if (text == to_string(state)) return state;
  return std::nullopt;
}

}  // namespace torchwatch
