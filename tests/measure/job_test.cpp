#include "daemon/measure/job.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "runner/catalogue/catalogue.h"
#include "tests/temporary_folder.h"

namespace torchwatch::measure {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::vector<std::string> names_of(config::SuiteOptions const& suite) {
  std::vector<std::string> names;
  for (auto const& benchmark : benchmarks_of(suite, Device::cpu))
    names.push_back(name_of(benchmark));
  return names;
}

TEST(Benchmarks, AreAllTestsThatTheSuiteHas) {
  auto const names = names_of({});

  std::size_t tests = 0;
  for (auto const& entry : suite::catalogue())
    tests += std::size_t{entry.full.train > 0} + std::size_t{entry.full.eval > 0};
  EXPECT_EQ(suite::catalogue().size(), 84U);
  EXPECT_EQ(names.size(), tests);
  EXPECT_THAT(names, Contains("test_eval[pyhpc_equation_of_state-cpu-eager]"));
  EXPECT_THAT(names, Not(Contains("test_train[pyhpc_equation_of_state-cpu-eager]")));
}

TEST(Benchmarks, AreOfTheNamedModelsAndTests) {
  config::SuiteOptions suite;
  suite.models = {"resnet50", "dlrm"};
  suite.tests = {torchwatch::Test::eval};

  EXPECT_THAT(names_of(suite),
              ElementsAre("test_eval[resnet50-cpu-eager]", "test_eval[dlrm-cpu-eager]"));
}

TEST(Benchmarks, OfUnknownModelsAreForTheWorkerToRefuse) {
  config::SuiteOptions suite;
  suite.models = {"tomorrow"};

  EXPECT_THAT(names_of(suite),
              ElementsAre("test_train[tomorrow-cpu-eager]", "test_eval[tomorrow-cpu-eager]"));
}

TEST(Benchmarks, OfOtherBackendsAreFilesWithBothTests) {
  config::SuiteOptions suite;
  suite.models = {"squeezenet1_1"};
  suite.backend = "script";

  EXPECT_THAT(
      names_of(suite),
      ElementsAre("test_train[squeezenet1_1-cpu-script]", "test_eval[squeezenet1_1-cpu-script]"));
}

TEST(JobFor, HasTheUsualWorkerWhereTheBuildsOwnLeadsNowhere) {
  tests::TemporaryFolder const folder;
  Build build;
  build.prefix = folder.path().string();
  std::filesystem::create_directories(folder.path() / "bin");
  std::filesystem::create_symlink("torchwatch-worker", folder.path() / "bin/torchwatch-worker");
  config::MeasureOptions options;
  options.worker = "/usr/lib/torchwatch/worker";

  EXPECT_EQ(job_for(options, {}, {"dlrm", torchwatch::Test::eval, Device::cpu, "eager"}, build)
                .build.worker,
            options.worker);
}

/// The native suite with one model, and a suite of a command with two.
config::Options options_with_a_command() {
  config::Options options;
  options.suite.models = {"dlrm"};
  options.suite.tests = {torchwatch::Test::eval};
  auto& suite = options.suites.emplace_back();
  suite.name = suite.backend = "mine";
  suite.worker = "/usr/bin/torchwatch-command";
  suite.command = {"/opt/mine/bench.py", "--input", "/data/{model}.json", "{test}"};
  suite.models = {"nanogpt", "llama"};
  suite.tests = {parse_test("run").value()};
  suite.environment = {{"OMP_PROC_BIND", "true"}, {"SHARED", "suite"}};
  suite.readable = {"/opt/tokens"};
  suite.metrics["test_job_rate"].unit = "1/s";
  suite.metrics["gmem"].unit = "bytes";
  suite.metrics["gmem"].kind = config::MetricNoise::exact;
  return options;
}

Benchmark nanogpt(Device device = Device::cpu) {
  return {"nanogpt", parse_test("run").value(), device, "mine"};
}

TEST(Benchmarks, OfAFleetAreThoseOfItsSuites) {
  auto const options = options_with_a_command();
  config::FleetOptions fleet;
  auto const names_on = [&] {
    std::vector<std::string> names;
    for (auto const& benchmark : benchmarks_of(options, fleet))
      names.push_back(name_of(benchmark));
    return names;
  };
  EXPECT_THAT(
      names_on(),
      ElementsAre(
          "test_eval[dlrm-cpu-eager]", "test_run[nanogpt-cpu-mine]", "test_run[llama-cpu-mine]"));
  fleet.suites = {"mine"};
  EXPECT_THAT(names_on(), ElementsAre("test_run[nanogpt-cpu-mine]", "test_run[llama-cpu-mine]"));
}

TEST(Benchmarks, OfASuiteHaveEachOfItsBackends) {
  config::SuiteOptions suite;
  suite.name = "torchbench";
  suite.models = {"resnet50"};
  suite.tests = {torchwatch::Test::eval};
  suite.backends = {"inductor", "cudagraphs"};
  EXPECT_THAT(
      names_of(suite),
      ElementsAre("test_eval[resnet50-cpu-inductor]", "test_eval[resnet50-cpu-cudagraphs]"));
}

TEST(SuiteOf, IsTheOneWithTheBenchmarkOrItsBackendOrElseTheNativeOne) {
  auto const options = options_with_a_command();
  EXPECT_EQ(suite_of(options, nanogpt()).name, "mine");
  EXPECT_EQ(suite_of(options, parse_benchmark("test_run[removed-cpu-mine]").value()).name, "mine");
  for (auto const* const name : {"test_eval[dlrm-cpu-eager]", "test_eval[net-cpu-script]"})
    EXPECT_EQ(suite_of(options, parse_benchmark(name).value()).name, "native") << name;
}

TEST(Suites, WithABenchmarkOfTheNativeOneAreAnError) {
  auto options = options_with_a_command();
  EXPECT_TRUE(check_suites_differ(options));
  options.suite.models = {config::all_models};
  options.suites.front().models = {"resnet18"};
  options.suites.front().tests = {torchwatch::Test::eval};
  options.suites.front().backend = "eager";
  auto const checked = check_suites_differ(options);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message,
            "suite mine: found test_eval[resnet18-cpu-eager], which the suite native also has, "
            "allowed is each benchmark in one suite; another backend makes another benchmark");
}

TEST(JobFor, HasTheCommandMetricsVariablesAndPathsOfItsSuite) {
  auto const options = options_with_a_command();
  Build build;
  build.prefix = "/builds/a";
  build.manifest.env = {{"SHARED", "build"}, {"OF_BUILD", "1"}};

  auto const job = job_for({}, options.suites.front(), nanogpt(), build);

  EXPECT_EQ(job.benchmark, "test_run[nanogpt-cpu-mine]");
  EXPECT_EQ(job.build.worker, "/usr/bin/torchwatch-command");
  EXPECT_EQ(job.command, options.suites.front().command);
  EXPECT_THAT(job.metrics, ElementsAre("test_job_rate")) << "a CPU has no GPU memory";
  EXPECT_THAT(job.readable, ElementsAre("/opt/tokens", "/opt/mine/bench.py", "/data"));
  EXPECT_EQ(job.build.env.at("SHARED"), "suite");
  EXPECT_EQ(job.build.env.at("OF_BUILD"), "1");
  auto const on_gpu = job_for({}, options.suites.front(), nanogpt(Device::cuda), build);
  EXPECT_THAT(on_gpu.metrics, ElementsAre("gmem", "test_job_rate"));
  EXPECT_THAT(on_gpu.exact, ElementsAre("gmem"));
  EXPECT_TRUE(job.exact.empty());
}

TEST(JobFor, HasTheCachesOfItsSuiteAndBuild) {
  auto options = options_with_a_command();
  options.suites.front().caches = {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"};
  Build build;
  build.caches = "/state/caches/nightly-1";
  auto const job = job_for({}, options.suites.front(), nanogpt(), build);
  EXPECT_THAT(job.caches.variables, ElementsAre("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"));
  EXPECT_EQ(job.caches.directory, "/state/caches/nightly-1");
  auto not_compiled = nanogpt();
  not_compiled.backend = "eager";
  auto const in_eager_mode = job_for({}, options.suites.front(), not_compiled, build);
  EXPECT_TRUE(in_eager_mode.caches.variables.empty());
}

TEST(JobFor, HasTheWorkerOfItsSuiteAlsoForABuildWithAWorkerOfItsOwn) {
  tests::TemporaryFolder const folder;
  Build build;
  build.prefix = folder.path().string();
  std::filesystem::create_directories(folder.path() / "bin");
  std::ofstream{folder.path() / "bin/torchwatch-worker"} << "";
  auto const options = options_with_a_command();
  EXPECT_EQ(job_for({}, options.suites.front(), nanogpt(), build).build.worker,
            "/usr/bin/torchwatch-command");
}

TEST(JobFor, NamesNoMetricsOrCommandForTheNativeSuite) {
  config::Options const options;
  Benchmark const dlrm{"dlrm", torchwatch::Test::eval, Device::cpu, "eager"};
  auto const job = job_for({}, suite_of(options, dlrm), dlrm, {});
  EXPECT_TRUE(job.metrics.empty() && job.command.empty() && job.readable.empty());
}

std::vector<JobOutcome> outcomes_with(std::vector<std::string> const& fingerprints) {
  std::vector<JobOutcome> outcomes;
  for (auto const& fingerprint : fingerprints) {
    auto& outcome = outcomes.emplace_back();
    outcome.fingerprint = fingerprint;
    outcome.values[Metric::latency] = MetricValue{1, {1}, {}};
  }
  return outcomes;
}

TEST(ModelsThatMoved, FailAllProcessesOfTheRound) {
  auto outcomes = outcomes_with({R"({"torchbench": "aaa"})", R"({"torchbench": "bbb"})"});
  fail_if_models_moved(outcomes);
  for (auto const& outcome : outcomes) {
    EXPECT_EQ(outcome.error_code, JobError::failed);
    EXPECT_THAT(outcome.error, testing::HasSubstr("found the commits aaa and bbb, allowed is one"));
    EXPECT_TRUE(outcome.values.empty());
  }
}

TEST(ModelsThatMoved, AreNotModelsOfOneCommitOrWithoutCheckout) {
  for (auto const& same : {R"({"torchbench": "aaa"})", R"({"host": "a"})", "{}"}) {
    auto outcomes = outcomes_with({same, same});
    fail_if_models_moved(outcomes);
    for (auto const& outcome : outcomes)
      EXPECT_TRUE(outcome.ok()) << outcome.error;
  }
}

}  // namespace
}  // namespace torchwatch::measure
