#include "daemon/builds/pruning.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace torchwatch::builds {
namespace {

constexpr std::chrono::hours just_used{1};

std::int64_t bytes_of(std::vector<KeptBuild> const& builds) {
  return std::transform_reduce(
      builds.begin(), builds.end(), std::int64_t{0}, std::plus<>{}, [](KeptBuild const& build) {
        return build.bytes;
      });
}

/// What is left as builds go.
class Space {
 public:
  Space(std::int64_t kept, Room const& room) : room_{room}, kept_{kept}, free_{room.free} {}

  void gain(std::int64_t bytes) {
    kept_ -= bytes;
    free_ += bytes;
  }

  /// Why something has to go; empty: there is room.
  std::string lack() const {
    auto const ahead = room_.coming == 0 ? "" : ", with one more";
    if (room_.quota > 0 && kept_ + room_.coming > room_.quota)
      return fmt::format(
          "quota: {} of {}{}", size_text(kept_ + room_.coming), size_text(room_.quota), ahead);
    if (free_ - room_.coming < room_.keep_free)
      return fmt::format("disk: {} of {} free{}",
                         size_text(std::max<std::int64_t>(free_ - room_.coming, 0)),
                         size_text(room_.keep_free),
                         ahead);
    return {};
  }

 private:
  Room room_;
  std::int64_t kept_;
  std::int64_t free_;
};

}  // namespace

bool has_room(std::vector<KeptBuild> const& builds, Room const& room) {
  return Space{bytes_of(builds), room}.lack().empty();
}

Pruning plan_pruning(std::vector<KeptBuild> builds,
                     Holds const& holds,
                     Room const& room,
                     Timestamp now) {
  Space space{bytes_of(builds), room};
  std::erase_if(builds, [&](KeptBuild const& build) {
    return holds.contains(build.name) || now - build.used_at < just_used;
  });
  std::ranges::stable_sort(builds, {}, &KeptBuild::used_at);
  Pruning pruning;
  for (auto& build : builds) {
    auto reason = space.lack();
    if (reason.empty()) break;
    space.gain(build.bytes);
    pruning.removals.push_back({std::move(build), std::move(reason)});
  }
  pruning.lack = space.lack();
  return pruning;
}

std::string size_text(std::int64_t bytes) {
  constexpr double mib = 1 << 20;
  constexpr double gib = 1 << 30;
  auto const size = static_cast<double>(bytes);
  return size < gib ? fmt::format("{:.1f} MiB", size / mib) : fmt::format("{:.1f} GiB", size / gib);
}

}  // namespace torchwatch::builds
