#include "daemon/measure/gpu_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/with_fake_nvml.h"

namespace torchwatch::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class GpusTest : public tests::WithFakeNvml {
 protected:
  Result<> find() { return find_gpus(fleets, FAKE_NVML); }

  std::vector<config::FleetOptions> fleets{1};
};

TEST_F(GpusTest, HaveASlotEachWhenAFleetTakesThemAll) {
  say(R"({"gpus": [{"uuid": "GPU-1"}, {"uuid": "GPU-2", "instances": ["MIG-1", "MIG-2"]}]})");
  fleets[0].devices = {config::all_devices};
  ASSERT_TRUE(find());
  EXPECT_EQ(fleets[0].slots, 3);
  EXPECT_THAT(fleets[0].devices, ElementsAre("GPU-1", "MIG-1", "MIG-2"));
}

TEST_F(GpusTest, AreNotLookedForWhereTheyAreNamedOrElsewhere) {
  say(R"({"init": 18, "gpus": []})");
  fleets = std::vector<config::FleetOptions>(3);
  fleets[1].devices = {"0", "GPU-2"};
  fleets[1].slots = 2;
  fleets[2].devices = {config::all_devices};
  fleets[2].launcher = {"srun"};
  fleets[2].slots = 4;
  ASSERT_TRUE(find());
  EXPECT_EQ(fleets[0].slots, 1);
  EXPECT_THAT(fleets[1].devices, ElementsAre("0", "GPU-2"));
  EXPECT_THAT(fleets[2].devices, ElementsAre(config::all_devices));
  EXPECT_EQ(fleets[2].slots, 4);
}

TEST_F(GpusTest, ThatAreNotThereAreAnErrorOfTheirFleet) {
  fleets[0].name = "gpus";
  fleets[0].devices = {config::all_devices};
  say(R"({"gpus": []})");
  EXPECT_EQ(find().error().message, "fleet gpus wants all GPUs of this host: NVML finds none");
  say(R"({"init": 18, "gpus": []})");
  EXPECT_THAT(find().error().message, HasSubstr("Driver/library version mismatch"));
  EXPECT_EQ(fleets[0].slots, 1) << "as it was";
}

}  // namespace
}  // namespace torchwatch::measure
