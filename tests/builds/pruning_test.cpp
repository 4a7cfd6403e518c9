#include "daemon/builds/pruning.h"

#include <gmock/gmock.h>

#include "tests/storage/samples.h"

namespace torchwatch::builds {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t one_gib = 1 << 30;
constexpr Timestamp tonight = tests::early;

KeptBuild build(std::string name, int days_unused, std::int64_t bytes = one_gib) {
  KeptBuild kept;
  kept.name = std::move(name);
  kept.bytes = bytes;
  kept.made_at = tonight - hours{24 * days_unused + 2};
  kept.used_at = kept.made_at;
  return kept;
}

std::vector<std::string> names_of(Pruning const& pruning) {
  std::vector<std::string> names;
  for (auto const& [kept, reason] : pruning.removals)
    names.push_back(kept.name);
  return names;
}

std::vector<KeptBuild> four() {
  return {build("a", 3), build("b", 9), build("c", 1), build("d", 5)};
}

DiskSpace with_quota(std::int64_t quota) {
  DiskSpace space;
  space.quota = quota;
  return space;
}

TEST(Pruning, RemovesTheLeastRecentlyMeasuredFirst) {
  auto const pruning = plan_pruning(four(), {}, with_quota(2 * one_gib), tonight);
  EXPECT_THAT(names_of(pruning), ElementsAre("b", "d"));
  EXPECT_EQ(pruning.removals[0].reason, "quota: 4.0 GiB of 2.0 GiB");
  EXPECT_EQ(pruning.shortage, "");
}

TEST(Pruning, RemovesNothingWhileAllBuildsFit) {
  EXPECT_THAT(plan_pruning(four(), {}, with_quota(4 * one_gib), tonight).removals, IsEmpty());
  EXPECT_THAT(plan_pruning(four(), {}, DiskSpace{}, tonight).removals, IsEmpty());
}

TEST(Pruning, MakesSpaceForTheNextBuild) {
  auto space = with_quota(4 * one_gib);
  space.next_build = 2 * one_gib;
  auto const pruning = plan_pruning(four(), {}, space, tonight);
  EXPECT_THAT(names_of(pruning), ElementsAre("b", "d"));
  EXPECT_EQ(pruning.removals[0].reason, "quota: 6.0 GiB of 4.0 GiB, with one more");
}

TEST(Pruning, KeepsDiskSpaceFree) {
  DiskSpace space;
  space.keep_free = 3 * one_gib;
  space.free = 2 * one_gib;
  auto const pruning = plan_pruning(four(), {}, space, tonight);
  EXPECT_THAT(names_of(pruning), ElementsAre("b"));
  EXPECT_EQ(pruning.removals[0].reason, "disk: 2.0 GiB of 3.0 GiB free");
}

TEST(Pruning, KeepsBuildsInUse_AndReportsTheShortage) {
  BuildUsers const users{{"b", {"incident 1"}}, {"a", {"ada: why"}}, {"c", {"bisection 2"}}};
  auto const pruning = plan_pruning(four(), users, with_quota(2 * one_gib), tonight);
  EXPECT_THAT(names_of(pruning), ElementsAre("d"));
  EXPECT_EQ(pruning.shortage, "quota: 3.0 GiB of 2.0 GiB");
}

TEST(Pruning, KeepsBuildsMeasuredWithinTheHour) {
  auto builds = four();
  for (auto& kept : builds)
    kept.used_at = tonight - std::chrono::minutes{59};
  auto const pruning = plan_pruning(builds, {}, with_quota(one_gib), tonight);
  EXPECT_THAT(pruning.removals, IsEmpty());
  EXPECT_THAT(pruning.shortage, HasSubstr("quota"));
}

TEST(Pruning, PrintsSizesInMibAndGib) {
  EXPECT_EQ(size_text(0), "0.0 MiB");
  EXPECT_EQ(size_text(3 << 19), "1.5 MiB");
  EXPECT_EQ(size_text(5 * one_gib / 2), "2.5 GiB");
}

}  // namespace
}  // namespace torchwatch::builds
