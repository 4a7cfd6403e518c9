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
  auto const began = world.clock.now();
  auto const passed = world.pass();

  auto const judgement = newest_judgement(world.parts->store, world.options, began);
  ASSERT_TRUE(judgement);
  EXPECT_EQ(judgement->nightly.date, "2026-01-03");
  ASSERT_EQ(judgement->incidents.size(), 1U);
  EXPECT_EQ(judgement->incidents[0].nightly.date, "2026-01-02");
  EXPECT_EQ(result_of(passed, judgement, "").status, incident_found);

  auto const later =
      newest_judgement(world.parts->store, world.options, began + std::chrono::hours{1});
  EXPECT_EQ(result_of(passed, later, "").status, nothing_found) << "of a check that found nothing";
}

}  // namespace
}  // namespace torchwatch::cli
