#include "daemon/cli/check_result.h"

#include <chrono>

#include <gtest/gtest.h>

#include "tests/fakes/memory/world.h"

namespace torchwatch::cli {
namespace {

TEST(CheckResult, IsAnIncidentWhereThePassFoundOneOnAnEarlierNightly) {
  fakes::World world;
  world.deliver("2026-01-01", 0);
  ASSERT_TRUE(world.pass());
  world.clock.time += std::chrono::hours{48};
  world.change(3, "alpha", 1.2);
  world.deliver("2026-01-02", 4);
  world.deliver("2026-01-03", 8);
  auto const before = judged_nightlies(world.parts->store);
  auto const passed = world.pass();

  auto const now = world.clock.now();
  auto const judgement = newest_judgement(world.parts->store, world.options, before, now);
  ASSERT_TRUE(judgement);
  EXPECT_EQ(judgement->nightly.date, "2026-01-03");
  ASSERT_EQ(judgement->incidents.size(), 1U);
  EXPECT_EQ(judgement->incidents[0].nightly.date, "2026-01-02");
  EXPECT_EQ(result_of(passed, judgement, "").status, incident_found);

  auto const after = judged_nightlies(world.parts->store);
  auto const later = newest_judgement(world.parts->store, world.options, after, now);
  EXPECT_EQ(result_of(passed, later, "").status, nothing_found) << "in the same second";
}

}  // namespace
}  // namespace torchwatch::cli
