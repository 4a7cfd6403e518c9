// The disk is full for a while: writes fail, and the same process continues when they succeed.

#include <exception>
#include <memory>

#include <gmock/gmock.h>

#include "tests/fakes/memory/executioner.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::nightly {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::unique_ptr<fakes::World> two_nightlies() {
  auto world = std::make_unique<fakes::World>(4);
  world->options.suite.models = {"alpha"};
  world->change(2, "alpha", 1.25, Metric::cmem);
  world->release("2026-01-01", 0);
  world->release("2026-01-02", 3);
  world->parts->rounds.noise = 0;
  return world;
}

/// Makes passes while the disk is full, and one more afterwards. False when no write failed.
bool recovers(fakes::World& world, int writes) {
  fakes::Executioner executioner{world.folder.path() / "torchwatch.sqlite"};
  executioner.grant(writes);
  bool has_failed = false;
  for (int passes = 0; passes < 2; ++passes) {
    try {
      world.run(world.parts->pass()).value();
    } catch (std::exception const&) {
      has_failed = true;
    }
  }
  executioner.grant(1'000'000);
  EXPECT_TRUE(world.run(world.parts->pass()));
  return has_failed;
}

TEST(DiskFull, AtAnyWriteOfANightLosesNothingAndFilesNothingTwice) {
  constexpr int stride = 7;  // kill_test tries every write
  bool has_failed = true;
  for (int writes = 0; has_failed && writes < 2000; writes += stride) {
    auto const world = two_nightlies();
    has_failed = recovers(*world, writes);
    auto& store = world->parts->store;
    SCOPED_TRACE(writes);
    EXPECT_EQ(world->newest().state, NightlyState::done);
    EXPECT_THAT(store.incidents().all(), SizeIs(1));
    EXPECT_THAT(store.outbox().unfinished(), IsEmpty());
  }
}

}  // namespace
}  // namespace torchwatch::nightly
