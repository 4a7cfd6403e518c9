#include "runner/worker/device.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "scripted_device.h"
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "runner/suite/description/description.h"
#include "runner/worker/failure.h"
#include "runner/worker/gpu.h"
#include "runner/worker/job.h"
#include "runner/worker/measure.h"

namespace torchwatch::worker {
namespace {

constexpr auto benchmark = "test_eval[lennard_jones-cuda-eager]";

protocol::Outcome measured(protocol::Job const& job, ScriptedDevice::Script script) {
  return measure(
      job, devices_with(std::move(script)), [](auto const&, int, int) {}, [] {});
}

protocol::Job profiled_job() {
  auto job = job_for(benchmark);
  job.measure.profile = true;
  return job;
}

TEST(Device, ReportsItsMemory) {
  auto const outcome = measured(job_for(benchmark), {.memory = [] {
                                  return DeviceMemory{100, 300, 2048, 90, 250, 4096};
                                }});
  EXPECT_EQ(outcome.metrics.at("gmem").value, 300);
  EXPECT_EQ(outcome.metrics.at("leak").value, 0);
  EXPECT_GT(outcome.metrics.at("cmem").value, 0) << "memory of the host counts separately";
  EXPECT_EQ(outcome.accounts.at("gpu_reserved_peak_bytes"), 2048);
  EXPECT_EQ(outcome.accounts.at("gpu_requested_peak_bytes"), 250);
  EXPECT_EQ(outcome.accounts.at("gpu_device_used_bytes"), 4096);
}

TEST(Device, LeavesOutUnavailableValues) {
  auto const outcome = measured(profiled_job(), {});
  EXPECT_FALSE(outcome.accounts.contains("gpu_requested_peak_bytes"));
  EXPECT_FALSE(outcome.accounts.contains("gpu_device_used_bytes"));
  EXPECT_EQ(outcome.accounts.at("gpu_trace_events"), 0) << "the reason for missing shares";
  EXPECT_FALSE(outcome.accounts.contains("gpu_idle_share"));
  EXPECT_TRUE(outcome.profile.empty()) << "the host's times are not the device's";
  EXPECT_GT(outcome.accounts.at("tflops"), 0);
}

TEST(Device, ShowsALeakOfItsMemory) {
  std::int64_t held = 0;
  auto const outcome = measured(job_for(benchmark), {.memory = [&held] {
                                  return DeviceMemory{held += 512};
                                }});
  EXPECT_EQ(outcome.metrics.at("leak").value, 512);
}

TEST(Device, DoesNotReportAllocatorBlocksAsALeak) {
  std::int64_t block = 1000;
  std::int64_t asked_for = 1000;
  auto const leak = [&](std::int64_t growth) {
    auto const outcome =
        measured(job_for(benchmark), {.memory = [&block, &asked_for, growth] {
                   return DeviceMemory{block += 512, 0, 0, asked_for += growth, 0, {}};
                 }});
    return outcome.metrics.at("leak").value;
  };
  EXPECT_EQ(leak(0), 0);
  EXPECT_EQ(leak(8), 8);
}

TEST(Device, ReportsSharesOfItsTime) {
  ScriptedDevice::Script script;
  script.device_work = {0, 10, {{"kernel", 0, 4}, {"Memcpy DtoH", 5, 7}}, {}};
  script.operators = {0, 10, {{"kernel", 0, 6, 1}}, {{"aten::mm", 1}}};
  auto const outcome = measured(profiled_job(), std::move(script));
  EXPECT_EQ(outcome.accounts.at("gpu_trace_events"), 2);
  EXPECT_DOUBLE_EQ(outcome.accounts.at("gpu_active_share"), 0.4);
  EXPECT_DOUBLE_EQ(outcome.accounts.at("gpu_data_movement_share"), 0.2);
  EXPECT_DOUBLE_EQ(outcome.accounts.at("gpu_idle_share"), 0.4);
  ASSERT_EQ(outcome.profile.size(), 1U);
  EXPECT_EQ(outcome.profile[0].name, "aten::mm");
  EXPECT_DOUBLE_EQ(outcome.profile[0].ms, 2);
}

TEST(Device, GetsRunsAsLongAsAskedThoughStepsOverlap) {
  using namespace std::chrono_literals;
  using Clock = std::chrono::steady_clock;
  auto job = job_for(benchmark);
  job.measure.min_run_ms = 40;
  job.measure.runs = 1;
  auto last = Clock::now();
  std::vector<double> waited;
  // Waiting costs as much as many steps: each one alone seems to take 20 ms
  measured(
      job, {.synchronize = [&] {
        std::this_thread::sleep_for(20ms);
        waited.push_back(std::chrono::duration<double, std::milli>(Clock::now() - last).count());
        last = Clock::now();
      }});
  EXPECT_GE(*std::ranges::max_element(waited), 40);
}

TEST(Device, IsInTheFingerprint) {
  auto const outcome = measured(job_for(benchmark), {.description = {{"gpu", "Scripted 9000"}}});
  EXPECT_EQ(outcome.fingerprint.at("gpu"), "Scripted 9000");
  EXPECT_FALSE(outcome.fingerprint.at("host").empty());
}

/// Returns the worker's failure for a job on a missing GPU.
protocol::Failure refusal_without_gpu(Devices const& devices) {
  auto const job = job_for(benchmark);
  try {
    resolve(job, devices);
  } catch (std::exception const& problem) {
    return failure_of(job, problem);
  }
  return {};
}

TEST(Device, ThatIsMissingIsReportedWithTheReason) {
  Devices devices;
  devices.by_name["cpu"] = host_device();
  devices.why_no_gpu = "this LibTorch was built without CUDA";
  auto const never = refusal_without_gpu(devices);
  EXPECT_EQ(never.code, "unsupported");
  EXPECT_EQ(never.text,
            "test_eval[lennard_jones-cuda-eager]: device \"cuda\" is not supported; this LibTorch "
            "was built without CUDA");

  devices.wants_a_gpu = true;
  devices.why_no_gpu = "CUDA reports: no CUDA-capable device is detected";
  auto const lost = refusal_without_gpu(devices);
  EXPECT_EQ(lost.code, "device") << "another slot may have a GPU";
  EXPECT_EQ(lost.text,
            "test_eval[lennard_jones-cuda-eager]: there is no GPU; CUDA reports: no CUDA-capable "
            "device is detected");
}

TEST(Device, OfAHostIsFoundOrHasAReason) {
  auto const devices = devices_of_host();
  EXPECT_TRUE(devices.by_name.contains("cpu"));
  EXPECT_EQ(devices.by_name.contains("cuda"), devices.why_no_gpu.empty());
}

std::string code_of(protocol::Job const& job, std::exception const& problem) {
  return failure_of(job, problem).code;
}

std::string code_of(protocol::Job const& job, std::string const& text) {
  return code_of(job, c10::Error({"f", "file.cpp", 1}, text));
}

TEST(Failure, HasCodesForTemporaryProblems) {
  auto const job = job_for(benchmark);
  EXPECT_EQ(code_of(job, c10::OutOfMemoryError({"f", "file.cpp", 1}, "CUDA out of memory. Tried")),
            "device_memory");
  EXPECT_EQ(code_of(job, "CUDA error: out of memory"), "device_memory");
  for (auto const* const text : {"CUDA error: uncorrectable ECC error encountered",
                                 "CUDA error: CUDA-capable device(s) is/are busy or unavailable",
                                 "CUDA error: the launch timed out and was terminated"})
    EXPECT_EQ(code_of(job, text), "device") << text;
  for (auto const* const text : {"CUDA error: an illegal memory access was encountered",
                                 "CUDA error: unspecified launch failure"})
    EXPECT_EQ(code_of(job, text), "failed") << "a kernel's own fault: " << text;
  EXPECT_EQ(code_of(job, std::runtime_error("CUDA error: uncorrectable ECC error encountered")),
            "failed")
      << "only LibTorch's errors are about the device";
}

TEST(Failure, HasACodeForUnsupportedOperations) {
  auto job = job_for(benchmark);
  c10::NotImplementedError const no_operator(
      {"f", "file.cpp", 1},
      "Could not run 'quantized::linear' with arguments from the 'QuantizedCUDA' backend.");
  EXPECT_EQ(code_of(job, no_operator), "unsupported");
  EXPECT_EQ(code_of(job_for("test_eval[lennard_jones-cpu-eager]"), no_operator), "failed")
      << "a CPU has all operators";
  std::string const bans = "binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.";
  EXPECT_EQ(code_of(job, bans), "failed");
  job.measure.precision = "amp";
  for (auto const& text :
       {bans,
        std::string("value cannot be converted to type c10::Half without overflow"),
        std::string(
            "Expected tensor for argument #1 'grad_output' to have the same type as tensor"),
        std::string("CUDA error: device-side assert triggered"),
        std::string("a policy is no distribution")})
    EXPECT_EQ(code_of(job, text), "unsupported") << text;
  EXPECT_EQ(code_of(job, Unsupported("x")), "unsupported");
  EXPECT_EQ(code_of(job, suite::BadDescription("x")), "unsupported");
}

TEST(Failure, OfAKernelIsReportedAtAnyWaitOfTheHost) {
  for (std::string const fatal : {"warmup", "latency", "memory", "leak", "profile"}) {
    std::string now;
    ScriptedDevice::Script script;
    script.synchronize = [&] {
      TORCH_CHECK(now != fatal, "CUDA error: uncorrectable ECC error encountered");
    };
    auto const listener = [&now](std::string const& phase, int, int) {
      now = phase;
    };
    try {
      measure(profiled_job(), devices_with(std::move(script)), listener, [] {});
      ADD_FAILURE() << "measured in spite of " << fatal;
    } catch (std::exception const& problem) {
      EXPECT_EQ(code_of(profiled_job(), problem), "device") << fatal;
    }
  }
}

TEST(Failure, AdvisesOnABusyDevice) {
  auto const text = failure_of(job_for(benchmark),
                               c10::Error({"f", "file.cpp", 1},
                                          "CUDA error: CUDA-capable device(s) is/are busy or "
                                          "unavailable"))
                        .text;
  EXPECT_TRUE(text.ends_with("its compute mode must be Default: two workers share it")) << text;
}

TEST(Failure, NamesTheBenchmarkInOneLine) {
  auto const failure = failure_of(job_for(benchmark), std::runtime_error("first\nof a backtrace"));
  EXPECT_EQ(failure.id, "j1");
  EXPECT_EQ(failure.text, std::string(benchmark) + ": first");
}

}  // namespace
}  // namespace torchwatch::worker
