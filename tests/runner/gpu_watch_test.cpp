#include "runner/gpu_watch.h"

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "run.h"
#include "with_fake_nvml.h"
#include "workplace.h"
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/round.h"

namespace torchwatch::runner {
namespace {

using protocol::Failure;
using protocol::Message;
using protocol::Outcome;
using testing::HasSubstr;

constexpr auto calm_gpu = R"({"gpus": [{"uuid": "GPU-8932f937", "mig_mode": 0,
  "power_limit_mw": 700000, "sm_mhz": 1980, "memory_mhz": 2619, "temperature_c": 41,
  "throttling": 4, "uncorrected_errors": 2}]})";
constexpr auto hot_gpu = R"({"gpus": [{"uuid": "GPU-8932f937", "throttling": 64}]})";
constexpr auto broken_gpu = R"({"gpus": [{"uuid": "GPU-8932f937", "uncorrected_errors": 3}]})";
constexpr auto lost_gpu = R"({"gpus": [{"uuid": "GPU-8932f937", "lost": true}]})";

class GpuWatchTest : public tests::WithFakeNvml {
 protected:
  /// Returns the result of a round in which the GPU changes from `before` to `after`.
  Message noted(std::string const& before, std::string const& after) {
    say(before);
    GpuWatch watch{std::make_shared<Nvml const>(load()), "0"};
    watch.look();
    watch.look();
    say(after);
    watch.look();
    watch.look();
    Outcome outcome;
    outcome.id = "j1";
    outcome.benchmark = "test_eval[resnet18-cuda-eager]";
    Message answer = outcome;
    watch.note(answer);
    return answer;
  }

  /// Returns the reason why a result was rejected.
  std::string trouble(std::string const& before, std::string const& after) {
    auto const answer = noted(before, after);
    auto const* const failure = std::get_if<Failure>(&answer);
    if (failure == nullptr) return "none";
    EXPECT_EQ(failure->id, "j1");
    EXPECT_EQ(failure->code, "device");
    return failure->text;
  }
};

TEST_F(GpuWatchTest, AddsTheStateOfTheGpuToAResult) {
  auto const outcome = std::get<Outcome>(noted(calm_gpu, calm_gpu));
  EXPECT_EQ(outcome.accounts.at("gpu_sm_mhz"), 1980);
  EXPECT_EQ(outcome.accounts.at("gpu_memory_mhz"), 2619);
  EXPECT_EQ(outcome.accounts.at("gpu_temperature_c"), 41);
  EXPECT_EQ(outcome.fingerprint.at("gpu_uuid"), "GPU-8932f937");
  EXPECT_EQ(outcome.fingerprint.at("gpu_mig"), false);
  EXPECT_EQ(outcome.fingerprint.at("gpu_power_limit_w"), 700);
}

TEST_F(GpuWatchTest, RejectsResultsOfAThrottledOrBrokenGpu) {
  EXPECT_EQ(trouble(calm_gpu, hot_gpu),
            "test_eval[resnet18-cuda-eager]: the GPU was throttled during the round: heat "
            "(hardware limit)");
  EXPECT_THAT(trouble(hot_gpu, calm_gpu), HasSubstr("throttled")) << "at any time";
  EXPECT_THAT(trouble(calm_gpu, broken_gpu), HasSubstr("1 uncorrected errors of the GPU's memory"));
  EXPECT_EQ(trouble(broken_gpu, broken_gpu), "none") << "earlier errors do not count";
  EXPECT_THAT(trouble(calm_gpu, lost_gpu), HasSubstr("GPU is lost"));
}

/// Returns the state of a GPU with this clock.
std::string clock_of(int mhz, std::uint64_t throttling) {
  return R"({"gpus": [{"uuid": "GPU-1", "sm_mhz": )" + std::to_string(mhz) + R"(, "throttling": )" +
         std::to_string(throttling) + "}]}";
}

TEST_F(GpuWatchTest, RejectsResultsWhenTheClockChanged) {
  auto const fast = clock_of(1980, 0);
  EXPECT_EQ(trouble(fast, clock_of(1410, 0)),
            "test_eval[resnet18-cuda-eager]: the GPU's clock varied between 1410 and 1980 MHz "
            "during the round");
  EXPECT_EQ(trouble(fast, clock_of(1900, 0)), "none") << "boost depends on temperature";
  EXPECT_EQ(trouble(fast, clock_of(1410, Throttle::power_cap)), "none")
      << "a power cap is accepted";
  EXPECT_EQ(trouble(fast, clock_of(210, Throttle::idle)), "none") << "it is idle";
}

TEST_F(GpuWatchTest, IgnoresAClockSeenOnlyOnce) {
  GpuWatch watch{std::make_shared<Nvml const>((say(clock_of(1980, 0)), load())), "0"};
  for (int const mhz : {1980, 1980, 900, 1980, 1965}) {
    say(clock_of(mhz, 0));
    watch.look();
  }
  Message answer = Outcome{};
  watch.note(answer);
  EXPECT_EQ(std::get<Outcome>(answer).accounts.at("gpu_sm_mhz"), 1980);
}

TEST_F(GpuWatchTest, AddsNothingForAGpuThatWasNeverRead) {
  auto const outcome = std::get<Outcome>(noted(lost_gpu, lost_gpu));
  EXPECT_TRUE(outcome.accounts.empty());
  EXPECT_TRUE(outcome.fingerprint.empty());
  GpuWatch blind{nullptr, ""};
  blind.look();
  Message answer = Outcome{};
  blind.note(answer);
  EXPECT_TRUE(std::holds_alternative<Outcome>(answer));
}

/// Returns the CPUs on which the kernel lets us run.
std::string allowed_processors() {
  std::ifstream status{"/proc/self/status"};
  std::string const name = "Cpus_allowed_list:\t";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return line.substr(name.size());
  return {};
}

/// A round on a fake GPU.
class WatchedRoundTest : public tests::WithFakeNvml {
 protected:
  Message answer_to(std::string const& benchmark) {
    return answer_of(R"(echo '{"type":"hello","role":"worker"}'
        echo '{"type":"result","id":"ok","benchmark":")" +
                         benchmark + R"(","fingerprint":{"processors":"'$(
        grep Cpus_allowed_list /proc/self/status | cut -f 2)'"},"metrics":{"latency":{"value":7}}}')",
                     benchmark);
  }

  /// Runs a worker that is a shell script.
  Message answer_of(std::string const& worker, std::string const& benchmark) {
    auto job = workplace_.job("ok");
    job.benchmark = benchmark;
    job.build.launcher = {"sh", "-c", worker};
    WorkerEnvironment surroundings;
    surroundings.environment = {"TORCHWATCH_FAKE_NVML"};
    surroundings.nvml = std::make_shared<Nvml const>(load());
    return tests::run(loop_, run_round({{std::move(job)}}, surroundings, [](auto const&) {}))
        .front();
  }

 private:
  tests::Workplace workplace_;
  boost::asio::io_context loop_{1};
};

TEST_F(WatchedRoundTest, RejectsResultsOfAHotGpu) {
  say(hot_gpu);
  EXPECT_EQ(std::get<Failure>(answer_to("test_eval[ok-cuda-eager]")).code, "device");
  EXPECT_EQ(std::get<Outcome>(answer_to("test_eval[ok-cpu-eager]")).id, "ok")
      << "a CPU job does not depend on the GPU";
  say(calm_gpu);
  auto const outcome = std::get<Outcome>(answer_to("test_eval[ok-cuda-eager]"));
  EXPECT_EQ(outcome.fingerprint.at("gpu_uuid"), "GPU-8932f937");
}

TEST_F(WatchedRoundTest, RunsNearItsGpu) {
  auto const first = allowed_processors().substr(0, allowed_processors().find_first_of(",-"));
  say(R"({"gpus": [{"uuid": "GPU-1", "processors": [)" + first + "]}]}");
  auto const outcome = std::get<Outcome>(answer_to("test_eval[ok-cuda-eager]"));
  EXPECT_EQ(outcome.fingerprint.at("processors"), first);
}

/// Writes its memory to the fake, and waits until the runner has read it.
constexpr auto holding_worker = R"(
  hold() {
    printf '{"gpus": [{"uuid": "GPU-1", "processes": {"%d": %d, "1": 1}}]}' $$ $1 > $TORCHWATCH_FAKE_NVML
    echo '{"type":"progress","id":"ok","phase":"'$2'"}'
    sleep 0.2
  }
  echo '{"type":"hello","role":"worker"}'
  read job
  hold 7000000 latency
  hold 3000000 memory
  hold 5000000 leak
  hold 4000000 profile
  echo '{"type":"result","id":"ok","benchmark":"test_eval[ok-cuda-eager]","metrics":{"latency":{"value":7}}}'
)";

TEST_F(WatchedRoundTest, ReportsTheDriversMemoryOfAWorker) {
  say(R"({"gpus": [{"uuid": "GPU-1"}]})");
  auto const outcome = std::get<Outcome>(answer_of(holding_worker, "test_eval[ok-cuda-eager]"));
  EXPECT_EQ(outcome.accounts.at("gpu_process_peak_bytes"), 5000000)
      << "only in the memory phases, and only of this process";
  say(R"({"gpus": [{"uuid": "GPU-1"}]})");
  EXPECT_FALSE(std::get<Outcome>(answer_to("test_eval[ok-cuda-eager]"))
                   .accounts.contains("gpu_process_peak_bytes"))
      << "not supported by this driver";
}

TEST_F(WatchedRoundTest, ClaimsItsGpuByUuid) {
  say(calm_gpu);
  WorkerEnvironment surroundings;
  surroundings.gpu = "0";
  protocol::Round round;
  round.jobs.emplace_back().benchmark = "test_eval[ok-cuda-eager]";
  EXPECT_EQ(claim_of(round, surroundings).gpu, "0") << "without NVML";
  surroundings.nvml = std::make_shared<Nvml const>(load());
  EXPECT_EQ(claim_of(round, surroundings).gpu, "GPU-8932f937");
  EXPECT_TRUE(claim_of(round, surroundings).on_gpu);
  round.jobs.front().benchmark = "test_eval[ok-cpu-eager]";
  EXPECT_FALSE(claim_of(round, surroundings).on_gpu);
}

}  // namespace
}  // namespace torchwatch::runner
