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

/// The space that is left while builds are removed.
class SpaceLeft {
 public:
  SpaceLeft(std::int64_t kept, DiskSpace const& space)
      : space_{space},
        kept_{kept},
        free_{space.free} {}

  void gain(std::int64_t bytes) {
    kept_ -= bytes;
    free_ += bytes;
  }

  /// Returns the limit that is exceeded; empty: none.
  std::string shortage() const {
    auto const ahead = space_.next_build == 0 ? "" : ", with one more";
    if (space_.quota > 0 && kept_ + space_.next_build > space_.quota)
      return fmt::format("quota: {} of {}{}",
                         size_text(kept_ + space_.next_build),
                         size_text(space_.quota),
                         ahead);
    if (free_ - space_.next_build < space_.keep_free)
      return fmt::format("disk: {} of {} free{}",
                         size_text(std::max<std::int64_t>(free_ - space_.next_build, 0)),
                         size_text(space_.keep_free),
                         ahead);
    return {};
  }

 private:
  DiskSpace space_;
  std::int64_t kept_;
  std::int64_t free_;
};

}  // namespace

bool has_space(std::vector<KeptBuild> const& builds, DiskSpace const& space) {
  return SpaceLeft{bytes_of(builds), space}.shortage().empty();
}

Pruning plan_pruning(std::vector<KeptBuild> builds,
                     BuildUsers const& users,
                     DiskSpace const& space,
                     Timestamp now) {
  SpaceLeft left{bytes_of(builds), space};
  std::erase_if(builds, [&](KeptBuild const& build) {
    return users.contains(build.name) || now - build.used_at < just_used;
  });
  std::ranges::stable_sort(builds, {}, &KeptBuild::used_at);
  Pruning pruning;
  for (auto& build : builds) {
    auto reason = left.shortage();
    if (reason.empty()) break;
    left.gain(build.bytes);
    pruning.removals.push_back({std::move(build), std::move(reason)});
  }
  pruning.shortage = left.shortage();
  return pruning;
}

std::string size_text(std::int64_t bytes) {
  constexpr double mib = 1 << 20;
  constexpr double gib = 1 << 30;
  auto const size = static_cast<double>(bytes);
  return size < gib ? fmt::format("{:.1f} MiB", size / mib) : fmt::format("{:.1f} GiB", size / gib);
}

}  // namespace torchwatch::builds
