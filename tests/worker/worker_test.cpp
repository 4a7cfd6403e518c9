#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "worker_process.h"
#include <gtest/gtest.h>

#include "runner/protocol.h"
#include "runner/suite/registry.h"

namespace torchwatch {
namespace {

using protocol::Failure;
using protocol::Hello;
using protocol::Job;
using protocol::Outcome;

Job smoke_job(std::string const& benchmark) {
  Job job;
  job.id = "job of " + benchmark;
  job.benchmark = benchmark;
  job.measure.scale = "smoke";
  job.measure.runs = 1;
  job.measure.warmup = 2;
  job.measure.min_run_ms = 1;
  job.measure.leak_iterations = 8;
  return job;
}

std::vector<std::string> all_models() {
  std::vector<std::string> names;
  for (auto const& model : suite::models())
    names.emplace_back(model.name);
  return names;
}

std::vector<std::string> benchmarks_of(std::string const& model) {
  auto const& batch = suite::find_entry(model)->full;
  std::vector<std::string> names;
  if (batch.train > 0) names.push_back("test_train[" + model + "-cpu-eager]");
  if (batch.eval > 0) names.push_back("test_eval[" + model + "-cpu-eager]");
  return names;
}

std::map<std::string, Outcome> measure(WorkerProcess& worker,
                                       std::vector<std::string> const& benchmarks) {
  std::map<std::string, Outcome> outcomes;
  for (auto const& benchmark : benchmarks) {
    auto const answer = worker.ask(smoke_job(benchmark));
    if (auto const* failure = std::get_if<Failure>(&answer))
      ADD_FAILURE() << failure->code << ": " << failure->text;
    else
      outcomes[benchmark] = std::get<Outcome>(answer);
  }
  return outcomes;
}

TEST(Worker, SendsHelloFirst) {
  WorkerProcess worker;

  auto const hello = std::get<Hello>(worker.read_message());

  EXPECT_EQ(hello.role, "worker");
  EXPECT_EQ(hello.protocol, protocol::version);
  EXPECT_FALSE(hello.pytorch_version.empty());
  EXPECT_EQ(hello.devices.at(0), "cpu");
  EXPECT_FALSE(hello.fingerprint.at("host").get<std::string>().empty());
  EXPECT_EQ(hello.fingerprint.at("libtorch_config").get<std::string>().size(), 16U);
}

/// Two workers measure all models, since it takes longer to start one than to measure most.
class WorkerModel : public testing::TestWithParam<std::string> {
 protected:
  static void TearDownTestSuite() {
    for (auto& worker : workers()) {
      if (worker) {
        EXPECT_EQ(worker->finish(), 0);
      }
      worker.reset();
    }
  }

  void SetUp() override {
    for (auto& worker : workers()) {
      if (worker) continue;
      worker = std::make_unique<WorkerProcess>();
      worker->read_message();
    }
  }

  /// Replaces a worker after a failed model.
  void TearDown() override {
    if (!HasFailure()) return;
    for (auto& worker : workers())
      worker.reset();
  }

  static std::array<std::unique_ptr<WorkerProcess>, 2>& workers() {
    static std::array<std::unique_ptr<WorkerProcess>, 2> both;
    return both;
  }
};

TEST_P(WorkerModel, LeaksNothingAndAgreesOnMemoryWhateverTheOrder) {
  auto benchmarks = benchmarks_of(GetParam());
  auto const first = measure(*workers()[0], benchmarks);
  std::ranges::reverse(benchmarks);
  auto const second = measure(*workers()[1], benchmarks);

  ASSERT_EQ(first.size(), benchmarks.size());
  ASSERT_EQ(second.size(), benchmarks.size());
  for (auto const& [benchmark, outcome] : first) {
    EXPECT_EQ(outcome.id, "job of " + benchmark);
    EXPECT_EQ(outcome.benchmark, benchmark);
    EXPECT_GT(outcome.metrics.at("latency").value, 0) << benchmark;
    EXPECT_GT(outcome.metrics.at("cmem").value, 0) << benchmark;
    EXPECT_EQ(outcome.metrics.at("leak").value, 0) << benchmark;
    EXPECT_EQ(outcome.metrics.at("cmem").value, second.at(benchmark).metrics.at("cmem").value)
        << benchmark;
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, WorkerModel, testing::ValuesIn(all_models()), [](auto const& name) {
  return name.param;
});

TEST(Worker, FindsAKibibyteThatAnOperatorKeeps) {
  // The discriminator ends in the only sigmoid of an iteration.
  auto const job = smoke_job("test_eval[dcgan-cpu-eager]");
  WorkerProcess worker(TORCHWATCH_LEAKY_LIBRARY);
  worker.read_message();

  auto const outcome = std::get<Outcome>(worker.ask(job));

  EXPECT_EQ(outcome.metrics.at("leak").value, 1024);
}

TEST(Worker, WaitsForItsTurns) {
  auto job = smoke_job("test_eval[lennard_jones-cpu-eager]");
  job.takes_turns = true;
  WorkerProcess worker;
  worker.read_message();
  worker.write_line(protocol::encode(job));
  int turns = 0;
  for (;;) {
    auto const message = worker.read_message();
    if (auto const* ready = std::get_if<protocol::Ready>(&message)) {
      EXPECT_EQ(ready->id, job.id);
      worker.write_line(protocol::encode(protocol::Turn{job.id}));
      ++turns;
    } else if (!std::holds_alternative<protocol::Progress>(message)) {
      EXPECT_TRUE(std::holds_alternative<Outcome>(message)) << protocol::encode(message);
      break;
    }
  }
  EXPECT_EQ(turns, 1 + job.measure.runs + 1);
}

TEST(Worker, ContinuesAfterUnsupportedJobs) {
  WorkerProcess worker;
  worker.read_message();

  auto const unknown = std::get<Failure>(worker.ask(smoke_job("test_train[resnet9000-cpu-eager]")));
  EXPECT_EQ(unknown.code, "unsupported");
  EXPECT_EQ(unknown.id, "job of test_train[resnet9000-cpu-eager]");

  worker.write_line("{\"type\": \"jo");
  auto const garbage = std::get<Failure>(worker.read_message());
  EXPECT_EQ(garbage.code, "protocol");
  EXPECT_EQ(garbage.id, "");

  auto const misplaced = std::get<Failure>(worker.ask(Hello{}));
  EXPECT_EQ(misplaced.code, "protocol");

  auto const outcome = worker.ask(smoke_job("test_eval[lennard_jones-cpu-eager]"));
  EXPECT_TRUE(std::holds_alternative<Outcome>(outcome));
}

TEST(Worker, NamesAModelItWasBuiltWithout) {
  WorkerProcess worker({}, {}, TORCHWATCH_EMPTY_WORKER_PATH);
  worker.read_message();

  auto const failure = std::get<Failure>(worker.ask(smoke_job("test_eval[vgg16-cpu-eager]")));
  EXPECT_EQ(failure.code, "unsupported");
  EXPECT_EQ(failure.text,
            "test_eval[vgg16-cpu-eager]: model \"vgg16\" is not supported; this worker was built "
            "without it");
  auto const unknown = std::get<Failure>(worker.ask(smoke_job("test_eval[vgg17-cpu-eager]")));
  EXPECT_EQ(unknown.code, "unsupported");
  EXPECT_EQ(unknown.text,
            "test_eval[vgg17-cpu-eager]: model \"vgg17\" is not supported; torchwatch suite list "
            "shows all models");
}

TEST(Worker, RunsUntilItsInputEnds) {
  WorkerProcess worker;
  worker.read_message();
  worker.ask(smoke_job("test_eval[lennard_jones-cpu-eager]"));

  EXPECT_TRUE(worker.is_running());
  EXPECT_EQ(worker.finish(), 0);
}

TEST(Worker, KeepsOutputOfLibrariesOutOfTheProtocol) {
  WorkerProcess worker(TORCHWATCH_CHATTY_LIBRARY);

  EXPECT_TRUE(std::holds_alternative<Hello>(worker.read_message()));
  auto const answer = worker.ask(smoke_job("test_eval[lennard_jones-cpu-eager]"));
  EXPECT_TRUE(std::holds_alternative<Outcome>(answer));
  EXPECT_EQ(worker.finish(), 0);
  EXPECT_EQ(worker.read_line(), "") << "printed at exit";
}

TEST(Worker, MeasuresNothingWithoutItsPreloadedLibrary) {
  WorkerProcess worker{"/nowhere/lost.so"};
  worker.read_message();

  auto const failure = std::get<Failure>(worker.ask(smoke_job("test_eval[vgg16-cpu-eager]")));
  EXPECT_EQ(failure.code, "failed");
  EXPECT_EQ(
      failure.text.find("test_eval[vgg16-cpu-eager]: /nowhere/lost.so could not be preloaded"), 0U)
      << failure.text;
}

TEST(Worker, RefusesUnknownOptions) {
  WorkerProcess worker({}, {"--lits"});
  EXPECT_EQ(worker.finish(), 2);
}

}  // namespace
}  // namespace torchwatch
