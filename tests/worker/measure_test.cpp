#include "runner/worker/measure.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "scripted_device.h"
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <torch/torch.h>

#include "runner/worker/counting_allocator.h"
#include "runner/worker/failure.h"
#include "runner/worker/gpu.h"
#include "runner/worker/host.h"
#include "runner/worker/job.h"
#include "runner/worker/operator_profile.h"
#include "runner/worker/statistics.h"
#include "runner/worker/time_split.h"
#include "runner/worker/trace.h"
#include "runner/worker/warm_up.h"

namespace torchwatch::worker {
namespace {

constexpr std::int64_t kibi = 1024;

Devices const& devices() {
  static auto const of_host = devices_of_host();
  return of_host;
}

torch::Tensor make_bytes(std::int64_t count) {
  return torch::empty({count}, torch::kByte);
}

TEST(Statistics, TakesTheMiddleOrTheMeanOfBothMiddles) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Statistics, SlopeIgnoresAFewOutliers) {
  EXPECT_EQ(slope({5, 5, 5, 5}), 0);
  EXPECT_EQ(slope({0, 4, 8, 12, 16}), 4);
  EXPECT_EQ(slope({0, 4, 8, 1000, 16, 20, 24, 28}), 4);
}

TEST(Statistics, OutliersAreFarFromWhatMostValuesAreNear) {
  using Places = std::vector<int>;
  EXPECT_EQ(outliers({10, 10.2, 9.9, 14, 10.1, 9.8, 10, 10.3, 7, 10.1}), (Places{3, 8}));
  EXPECT_EQ(outliers({10, 11, 12, 13, 14, 15, 16, 17, 18, 19}), Places{}) << "all are spread";
  EXPECT_EQ(outliers({10, 10, 10, 10, 10.05, 10.2}), Places{5}) << "within 1% is near";
  EXPECT_EQ(outliers({10}), Places{});
}

TEST(Statistics, ATrendIsUnlikelyByChance) {
  EXPECT_TRUE(has_trend({0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(has_trend({7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_FALSE(has_trend({0, 1, 2, 3, 4, 5, 6})) << "one in 5040 by chance, twice";
  EXPECT_FALSE(has_trend({5, 5, 5, 5, 5, 5, 5, 5, 5, 5}));
  EXPECT_FALSE(has_trend({5, 9, 5, 9, 5, 9, 5, 9, 5, 9, 5, 9, 5, 9, 5, 9})) << "it breathes";
  EXPECT_FALSE(has_trend({0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3})) << "it fills once";
  EXPECT_TRUE(has_trend({0, 0, 0, 0, 6, 6, 6, 6, 9, 9, 9, 9, 12, 12, 12, 12})) << "by blocks";
}

/// Returns the number of these steps after which `warming` is over.
int steps_until_over(WarmUp warming, std::vector<double> const& durations) {
  for (double const duration : durations) {
    if (warming.is_over()) break;
    warming.add(duration);
  }
  EXPECT_TRUE(warming.is_over());
  return warming.steps();
}

TEST(WarmUp, EndsWhenStepsGetNoFaster) {
  EXPECT_EQ(steps_until_over(WarmUp{3}, {900, 12, 10, 10.1, 9.95, 10.2, 10}), 6);
  EXPECT_EQ(steps_until_over(WarmUp{3}, {10, 10, 10, 10}), 4) << "the first may have been slow";
  EXPECT_EQ(steps_until_over(WarmUp{3}, {10, 50, 80, 12, 10}), 4) << "disturbed, not cold";
  EXPECT_EQ(steps_until_over(WarmUp{3}, {10, 9.95, 9.91, 9.88, 9.86, 9.9, 9.87}), 7)
      << "small gains add up";
  WarmUp warming(3);
  warming.add(7);
  warming.add(5);
  warming.add(6);
  EXPECT_EQ(warming.fastest(), 5);
}

TEST(WarmUp, LastsAsLongAsTheClocksOfADeviceNeed) {
  WarmUp warming(3, 100);
  for (int step = 0; step < 9; ++step)
    warming.add(10);
  EXPECT_FALSE(warming.is_over());
  for (int step = 9; step < 2 * WarmUp::most_steps; ++step)
    warming.add(0.01);
  EXPECT_FALSE(warming.is_over()) << "many steps that take no time";
  warming.add(10);
  EXPECT_TRUE(warming.is_over());
}

TEST(WarmUp, EndsEvenIfStepsGetFasterForever) {
  WarmUp warming(3);
  double duration = 1e6;
  while (!warming.is_over())
    warming.add(duration *= 0.9);
  EXPECT_EQ(warming.steps(), WarmUp::most_steps);
}

/// Returns the page faults of a step that allocates three buffers and frees them all.
long faults_of_a_step() {
  auto const faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  auto const before = faults();
  {
    std::vector<torch::Tensor> buffers;
    for (int i = 0; i < 3; ++i)
      buffers.push_back(torch::ones({24 * kibi * kibi}, torch::kByte));
  }
  return faults() - before;
}

TEST(Host, KeepsFreedMemoryAnywhereInTheHeap) {
  keep_freed_memory();
  // Aligned blocks leave gaps between them, so it takes a few steps until all blocks fit.
  for (int i = 0; i < 20; ++i)
    faults_of_a_step();
  EXPECT_LT(faults_of_a_step(), 100) << "of 18,432 pages";
}

TEST(AllocationCount, CountsLiveAndPeakToTheByte) {
  AllocationCount count;
  {
    auto const kept = make_bytes(1000);
    auto dropped = make_bytes(3 * kibi);
    dropped = torch::Tensor();
    EXPECT_EQ(count.live_bytes(), 1000);
    EXPECT_EQ(count.peak_bytes(), 1000 + 3 * kibi);
    count.reset_peak();
    EXPECT_EQ(count.peak_bytes(), 1000);
  }
  EXPECT_EQ(count.live_bytes(), 0);
}

TEST(AllocationCount, IgnoresOlderAndOutlivingMemory) {
  auto older = make_bytes(kibi);
  torch::Tensor survivor;
  {
    AllocationCount count;
    older = torch::Tensor();
    EXPECT_EQ(count.live_bytes(), 0);
    survivor = make_bytes(2 * kibi);
    EXPECT_EQ(count.live_bytes(), 2 * kibi);
  }
  survivor.fill_(7);
  AllocationCount count;
  survivor.resize_({4 * kibi});
  EXPECT_EQ(survivor[0].item<int>(), 7);
  survivor = torch::Tensor();
  EXPECT_EQ(count.live_bytes(), 0);
}

TEST(AllocationCount, ShowsALeakAsItsSlope) {
  AllocationCount count;
  std::vector<torch::Tensor> hoard;
  std::vector<double> live;
  for (int i = 0; i < 10; ++i) {
    hoard.push_back(make_bytes(4 * kibi));
    live.push_back(static_cast<double>(count.live_bytes()));
  }
  EXPECT_EQ(slope(live), 4 * kibi);
}

Trace trace_of(std::vector<DeviceEvent> events) {
  return {10, 20, std::move(events), {}};
}

TEST(TimeSplit, CountsOverlapsOnceAndLetsComputingHideMovement) {
  std::string const moves = "Memcpy HtoD (Pageable -> Device)";
  auto const split = split_time(trace_of({{"alone", 16, 18},
                                          {"one stream", 10, 13},
                                          {"another", 11, 14},
                                          {moves, 13, 15},  // half of it while the GPU computes
                                          {moves, 17, 17.5}}));  // all of it
  ASSERT_TRUE(split);
  EXPECT_DOUBLE_EQ(split->active, 0.6);
  EXPECT_DOUBLE_EQ(split->data_movement, 0.1);
  EXPECT_DOUBLE_EQ(split->idle, 0.3);
}

TEST(TimeSplit, IgnoresEventsOutsideOfTheStretch) {
  auto const split = split_time(trace_of({{"before", 1, 9},
                                          {"across its begin", 8, 11},
                                          {"across its end", 18, 25},
                                          {"after", 20, 30},
                                          {"nothing", 12, 12}}));
  ASSERT_TRUE(split);
  EXPECT_DOUBLE_EQ(split->active, 0.3);
  EXPECT_DOUBLE_EQ(split->idle, 0.7);
}

TEST(TimeSplit, IsEmptyWithoutEvents) {
  EXPECT_FALSE(split_time(trace_of({})));
  EXPECT_FALSE(split_time(trace_of({{"of the warm-up alone", 2, 9}})));
  EXPECT_FALSE(split_time({})) << "without a profiler";
}

TEST(DeviceCosts, AreThoseOfLaunchedWork) {
  auto trace = trace_of({{"gemm", 10, 13, 1},
                         {"gemm", 14, 16, 3},
                         {"add", 16, 17, 2},
                         {"unknown", 17, 18, 9},
                         {"before", 1, 9, 1}});
  trace.operators = {{"aten::mm", 1}, {"aten::add", 2}, {"aten::mm", 3}, {"aten::view", 4}};

  auto const costs = device_costs(trace, 2);

  ASSERT_EQ(costs.size(), 3U);
  EXPECT_EQ(costs[0].name, "(unknown)");
  EXPECT_EQ(costs[1].name, "aten::add");
  EXPECT_EQ(costs[2].name, "aten::mm");
  EXPECT_DOUBLE_EQ(costs[2].calls, 1);
  EXPECT_DOUBLE_EQ(costs[2].ms, 2.5);
  EXPECT_TRUE(device_costs(trace_of({}), 2).empty());
}

TEST(Trace, CountsTheOperationsOfMatrixProducts) {
  auto const left = torch::ones({20, 30});
  auto const right = torch::ones({30, 50});
  EXPECT_EQ(count_flops([&] { left.mm(right); }), 2 * 20 * 30 * 50);
}

TEST(Trace, ExcludesTheStepsBeforeTheStretch) {
  int before = 0;
  int runs = 0;
  auto const trace = trace_device(
      torch::kCUDA,
      [&before] { ++before; },
      [&runs] {
        torch::ones({10});
        ++runs;
      },
      true);
  EXPECT_EQ(before, 1);
  EXPECT_EQ(runs, 1);
  EXPECT_GT(trace.end, trace.begin);
  constexpr double a_day_ms = 86.4e6;
  EXPECT_LT(trace.end, a_day_ms) << "a double cannot resolve times since 1970";
  EXPECT_TRUE(trace.events.empty());
  EXPECT_EQ(std::ranges::count(trace.operators, "aten::ones", &OperatorCall::name), 1);
}

/// Returns the cost of an operator; zeros when it was not called.
protocol::OperatorCost cost_in(std::vector<protocol::OperatorCost> const& costs,
                               std::string const& name) {
  auto const found = std::ranges::find(costs, name, &protocol::OperatorCost::name);
  return found == costs.end() ? protocol::OperatorCost{} : *found;
}

TEST(OperatorProfile, CountsCallsAndMemoryAndLeavesCalleesOut) {
  AllocationCount const count;
  auto const ones = torch::ones({1000});
  std::vector<protocol::OperatorCost> costs;
  {
    OperatorProfile const profile(count);
    for (int i = 0; i < 4; ++i) {
      auto const sum = ones.add(ones);
      auto const twice = torch::ones_like(sum);
    }
    costs = profile.costs(2);
  }
  ones.add(ones);

  auto const add = cost_in(costs, "aten::add.Tensor");
  EXPECT_EQ(add.calls, 2) << "an iteration; none after the profile is gone";
  EXPECT_EQ(add.bytes, 8000);
  EXPECT_GT(add.ms, 0);
  EXPECT_EQ(cost_in(costs, "aten::ones_like").calls, 2);
  EXPECT_EQ(cost_in(costs, "aten::ones_like").bytes, 0) << "empty allocates for it";
  double const allocated =
      std::accumulate(costs.begin(), costs.end(), 0.0, [](double sum, auto const& cost) {
        return sum + cost.bytes;
      });
  EXPECT_EQ(allocated, 16000);
}

TEST(Measure, ProfilesWhenAskedTo) {
  auto job = job_for("test_train[lennard_jones-cpu-eager]");
  auto const ignore = [](auto&&...) {
  };
  EXPECT_TRUE(measure(job, devices(), ignore, [] {}).profile.empty());
  job.measure.profile = true;

  auto const outcome = measure(job, devices(), ignore, [] {});

  EXPECT_GT(cost_in(outcome.profile, "aten::addmm").calls, 0);
  double const spent = std::accumulate(
      outcome.profile.begin(), outcome.profile.end(), 0.0, [](double sum, auto const& cost) {
        return sum + cost.ms;
      });
  EXPECT_GT(spent, 0);
  EXPECT_LT(spent, 20 * outcome.metrics.at("latency").value) << "nothing is counted twice";
}

std::string refusal_of(protocol::Job const& job) {
  try {
    resolve(job, devices());
  } catch (Unsupported const& problem) {
    return problem.what();
  }
  return "none";
}

TEST(Job, RefusesUnknownPartsWithAReason) {
  EXPECT_EQ(refusal_of(job_for("test_eval[resnet18-cpu-eager]")), "none");
  EXPECT_EQ(refusal_of(job_for("test_eval[alexandria-cpu-eager]")),
            "test_eval[alexandria-cpu-eager]: model \"alexandria\" is not supported; torchwatch "
            "suite list shows all models");
  EXPECT_EQ(refusal_of(job_for("test_fly[resnet18-cpu-eager]")),
            "test_fly[resnet18-cpu-eager]: test \"fly\" is not supported; one of train, eval");
  EXPECT_EQ(refusal_of(job_for("test_train[squeezenet1_1-cpu-eager]")),
            "test_train[squeezenet1_1-cpu-eager]: test \"train\" is not supported; squeezenet1_1 "
            "has no such test");
  EXPECT_EQ(refusal_of(job_for("test_eval[resnet18-cpu-script]")),
            "test_eval[resnet18-cpu-script]: backend \"script\" is not supported; it needs "
            "a directory of models");
  EXPECT_EQ(refusal_of(job_for("test_eval[resnet18-tpu-eager]")),
            "test_eval[resnet18-tpu-eager]: device \"tpu\" is not supported; one of cpu, cuda");
  EXPECT_EQ(refusal_of(job_for("resnet18")),
            "resnet18: name \"resnet18\" is not supported; expected "
            "test_<test>[<model>-<device>-<backend>]");
}

TEST(Job, RefusesNamesOfAnotherForm) {
  for (std::string const name :
       {"", "test_", "test_eval[]", "test_eval[resnet18-cpu]", "test_eval[a-b-c-d]"})
    EXPECT_EQ(refusal_of(job_for(name)),
              name + ": name \"" + name +
                  "\" is not supported; expected test_<test>[<model>-<device>-<backend>]");
}

TEST(Job, TakesPrecisionAndBatch) {
  auto job = job_for("test_eval[resnet18-cpu-eager]");
  job.measure.precision = "bf16";
  job.measure.batch = 3;
  auto const target = resolve(job, devices());
  EXPECT_EQ(target.setup.batch, 3);

  auto const workload = build(target, job);
  workload->step();

  EXPECT_EQ(workload->results().at(0).scalar_type(), torch::kBFloat16);
  EXPECT_EQ(workload->results().at(0).size(0), 3);
  job.measure.precision = "fp8";
  EXPECT_EQ(refusal_of(job),
            "test_eval[resnet18-cpu-eager]: precision \"fp8\" is not supported; one of fp32, fp16, "
            "bf16, amp");
}

TEST(Job, KnowsThreeWaysToRoundFactors) {
  auto job = job_for("test_eval[resnet18-cpu-eager]");
  EXPECT_EQ(resolve(job, devices()).tf32, Tf32::as_pytorch);
  job.measure.tf32 = "off";
  EXPECT_EQ(resolve(job, devices()).tf32, Tf32::forbidden);
  job.measure.tf32 = "maybe";
  EXPECT_EQ(refusal_of(job),
            "test_eval[resnet18-cpu-eager]: tf32 \"maybe\" is not supported; one of default, on, "
            "off");

  auto const& context = at::globalContext();
  bool const products = context.allowTF32CuBLAS();
  bool const convolutions = context.allowTF32CuDNN();
  set_tf32(Tf32::as_pytorch);
  set_tf32(Tf32::allowed);
  EXPECT_TRUE(context.allowTF32CuBLAS() && context.allowTF32CuDNN());
  set_tf32(Tf32::forbidden);
  EXPECT_FALSE(context.allowTF32CuBLAS() || context.allowTF32CuDNN());
  set_tf32(Tf32::as_pytorch);
  EXPECT_EQ(context.allowTF32CuBLAS(), products);
  EXPECT_EQ(context.allowTF32CuDNN(), convolutions);
}

TEST(Job, RefusesCountsThatMeasureNothing) {
  auto job = job_for("test_eval[resnet18-cpu-eager]");
  job.measure.runs = 0;
  EXPECT_EQ(refusal_of(job),
            "test_eval[resnet18-cpu-eager]: runs \"0\" is not supported; at least 1");
}

TEST(Measure, KeepsEachRunAndReportsTheirMedian) {
  std::vector<std::string> phases;
  auto const listener = [&phases](std::string const& phase, int, int) {
    if (phases.empty() || phases.back() != phase) phases.push_back(phase);
  };

  int turns = 0;
  auto const outcome = measure(
      job_for("test_train[lennard_jones-cpu-eager]"), devices(), listener, [&turns] { ++turns; });

  auto const& latency = outcome.metrics.at("latency");
  ASSERT_EQ(latency.samples.size(), 3U);
  EXPECT_EQ(latency.value, median(latency.samples));
  EXPECT_EQ(outcome.metrics.at("leak").samples.size(), 19U);
  EXPECT_EQ(outcome.metrics.count("gmem"), 0U);
  EXPECT_GT(outcome.accounts.at("rss_peak_bytes"), 10 * kibi * kibi);
  EXPECT_EQ(turns, 1 + 3 + 1) << "before building, before every run, after the last";
  EXPECT_EQ(phases, (std::vector<std::string>{"build", "warmup", "latency", "memory", "leak"}));
}

TEST(Measure, RunsLastAtLeastAsLongAsAsked) {
  auto job = job_for("test_eval[lennard_jones-cpu-eager]");
  job.measure.runs = 2;
  job.measure.min_run_ms = 300;

  auto const outcome = measure(
      job, devices(), [](auto const&, int, int) {}, [] {});

  EXPECT_GT(outcome.seconds, 0.3);
}

TEST(Measure, ReportsGpuMemoryAndTimeOnAGpu) {
  if (!devices().by_name.contains("cuda")) GTEST_SKIP() << "no CUDA device";

  auto job = job_for("test_train[resnet18-cuda-eager]");
  job.measure.profile = true;
  auto const outcome = measure(
      job, devices(), [](auto const&, int, int) {}, [] {});

  auto const share = [&outcome](char const* of) {
    return outcome.accounts.at(std::string("gpu_") + of + "_share");
  };
  EXPECT_GT(share("active"), 0);
  EXPECT_DOUBLE_EQ(share("active") + share("data_movement") + share("idle"), 1);
  EXPECT_GT(outcome.accounts.at("tflops"), 0);
  EXPECT_GT(outcome.metrics.at("gmem").value, 0);
  EXPECT_GT(outcome.metrics.at("latency").value, 0);
  EXPECT_EQ(outcome.metrics.at("leak").value, 0);
  EXPECT_GE(outcome.accounts.at("gpu_reserved_peak_bytes"), outcome.metrics.at("gmem").value);
  EXPECT_FALSE(outcome.profile.empty());
}

}  // namespace
}  // namespace torchwatch::worker
