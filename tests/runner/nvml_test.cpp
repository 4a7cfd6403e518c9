#include "runner/nvml.h"

#include <string>

#include "with_fake_nvml.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::runner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using NvmlTest = tests::WithFakeNvml;

constexpr auto two_gpus = R"({"gpus": [
  {"uuid": "GPU-8932f937", "mig_mode": 0, "power_limit_mw": 700000, "sm_mhz": 1980,
   "memory_mhz": 2619, "temperature_c": 41, "throttling": 0, "uncorrected_errors": 0},
  {"uuid": "GPU-1b2c3d4e", "mig_mode": 1, "power_limit_mw": 400000, "sm_mhz": 1410,
   "throttling": 64, "uncorrected_errors": 3, "instances": ["MIG-67bd5cb1", "MIG-a0b1c2d3"]}]})";

TEST_F(NvmlTest, IdentifiesAGpu) {
  say(two_gpus);
  auto const nvml = load();
  auto const first = nvml.identity_of("").value();
  EXPECT_EQ(first.uuid, "GPU-8932f937");
  EXPECT_EQ(first.is_partitioned, false);
  EXPECT_EQ(first.power_limit_w, 700);
  EXPECT_EQ(nvml.identity_of("1").value().uuid, "GPU-1b2c3d4e");
  EXPECT_EQ(nvml.identity_of("GPU-1b2c").value().uuid, "GPU-1b2c3d4e") << "as CUDA takes it";
  auto const instance = nvml.identity_of("MIG-a0b1c2d3").value();
  EXPECT_EQ(instance.uuid, "MIG-a0b1c2d3");
  EXPECT_EQ(instance.is_partitioned, true);
}

TEST_F(NvmlTest, ReadsTheStateOfAGpu) {
  say(two_gpus);
  auto const nvml = load();
  auto const calm = nvml.state_of("0").value();
  EXPECT_EQ(calm.sm_mhz, 1980);
  EXPECT_EQ(calm.memory_mhz, 2619);
  EXPECT_EQ(calm.temperature_c, 41);
  EXPECT_EQ(calm.throttling, 0U);
  EXPECT_EQ(calm.uncorrected_errors, 0U);
  auto const hot = nvml.state_of("1").value();
  EXPECT_TRUE(*hot.throttling & Throttle::any);
  EXPECT_EQ(hot.uncorrected_errors, 3U);
  EXPECT_FALSE(hot.temperature_c) << "not supported";
}

TEST_F(NvmlTest, ReadsTheGpuOfAMigInstance) {
  say(two_gpus);
  auto const nvml = load();
  EXPECT_EQ(nvml.state_of("MIG-a0b1c2d3").value().sm_mhz, 1410);
  EXPECT_EQ(nvml.identity_of("MIG-a0b1c2d3").value().power_limit_w, 400);
}

TEST_F(NvmlTest, ListsGpusOrTheirMigInstances) {
  say(two_gpus);
  EXPECT_THAT(load().gpus().value(), ElementsAre("GPU-8932f937", "MIG-67bd5cb1", "MIG-a0b1c2d3"));
  say(R"({"gpus": []})");
  EXPECT_THAT(load().gpus().value(), IsEmpty());
}

TEST_F(NvmlTest, ReadsMemoryByProcess) {
  say(R"({"gpus": [{"uuid": "GPU-1", "processes": {"41": 1048576, "42": null, "43": 7}},
                   {"uuid": "GPU-2", "processes": {}}, {"uuid": "GPU-3"}]})");
  auto const nvml = load();
  EXPECT_THAT(nvml.memory_by_process("0"), ElementsAre(Pair(41, 1048576), Pair(43, 7)))
      << "the other's memory is unavailable";
  EXPECT_THAT(nvml.memory_by_process("GPU-2"), IsEmpty());
  EXPECT_THAT(nvml.memory_by_process("2"), IsEmpty()) << "not supported";
  EXPECT_THAT(nvml.memory_by_process("3"), IsEmpty()) << "no such GPU";
}

TEST_F(NvmlTest, ReadsTheProcessorsNearAGpu) {
  say(R"({"gpus": [{"uuid": "GPU-1", "processors": [0, 63, 64, 130], "instances": ["MIG-1"]},
                   {"uuid": "GPU-2"}]})");
  auto const nvml = load();
  EXPECT_THAT(nvml.processors_near("GPU-1"), ElementsAre(0, 63, 64, 130));
  EXPECT_THAT(nvml.processors_near("MIG-1"), ElementsAre(0, 63, 64, 130));
  EXPECT_THAT(nvml.processors_near("1"), IsEmpty()) << "not supported";
  EXPECT_THAT(nvml.processors_near("GPU-3"), IsEmpty());
}

TEST_F(NvmlTest, FailsForAnUnknownGpu) {
  say(two_gpus);
  auto const nvml = load();
  auto const unknown = nvml.state_of("GPU-ffff");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
  EXPECT_EQ(unknown.error().message, "NVML: no GPU is named GPU-ffff");
  EXPECT_EQ(nvml.state_of("7").error().message, "NVML: find GPU 7: Invalid Argument");
}

TEST_F(NvmlTest, FailsForALostGpu) {
  say(R"({"gpus": [{"uuid": "GPU-1"}]})");
  auto const nvml = load();
  EXPECT_TRUE(nvml.state_of("GPU-1"));
  say(R"({"gpus": [{"uuid": "GPU-1", "lost": true}]})");
  auto const state = nvml.state_of("0");
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, ErrorCode::unavailable);
  EXPECT_THAT(state.error().message, HasSubstr("GPU is lost"));
}

TEST_F(NvmlTest, FailsToLoadWithTheReason) {
  auto const missing = Nvml::load("libno-such-library.so.1");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::unavailable);
  EXPECT_THAT(missing.error().message, HasSubstr("libno-such-library.so.1"));
  say(R"({"init": 18, "gpus": []})");
  EXPECT_EQ(Nvml::load(FAKE_NVML).error().message,
            "NVML: initialise: Driver/library version mismatch");
}

}  // namespace
}  // namespace torchwatch::runner
