#include "tests/years/keep_build.h"

#include <algorithm>

#include <fmt/format.h>

#include "tests/years/night_writer.h"

namespace torchwatch::years {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t nightlies_kept = 30;

bool is_end_of_incident(Plan const& plan, std::size_t night) {
  return std::ranges::any_of(plan.incidents, [night](PlannedIncident const& incident) {
    return incident.night == night || incident.night == night + 1;
  });
}

}  // namespace

void keep_build(storage::Store& store,
                std::filesystem::path const& state_dir,
                std::string const& name,
                Timestamp made_at,
                Chance& chance) {
  std::filesystem::create_directories(state_dir / "builds" / name);
  KeptBuild build;
  build.name = name;
  build.bytes = static_cast<std::int64_t>(chance.between(0.9, 1.6) * (1U << 30U));
  build.made_at = made_at;
  build.used_at = made_at + std::chrono::hours{chance.below(10)};
  store.kept_builds().record(build);
}

void keep_builds(History const& history,
                 storage::Store& store,
                 std::filesystem::path const& state_dir) {
  Chance chance{history.request.seed, "kept builds"};
  std::string pinned;
  for (std::size_t night = 0; night < history.nights.size(); ++night) {
    auto const ago = history.nights.size() - night;
    bool const is_held = ago <= raw_nights && is_end_of_incident(history.plan, night);
    if (ago > nightlies_kept && !is_held) continue;
    pinned = fmt::format("nightly-{}", id_of(night).value);
    keep_build(store, state_dir, pinned, history.nights[night].announced_at + 10min, chance);
  }
  store.kept_builds().pin(pinned,
                          Pin{history.texts.of("ada", chance),
                              history.texts.of("profiling convolutions on it this week", chance),
                              history.nights.back().announced_at + 2h});
}

}  // namespace torchwatch::years
