#include "runner/command/invocation.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace torchwatch::command {
namespace {

class InvocationTest : public testing::Test {
 protected:
  InvocationTest() {
    job_.benchmark = "test_run[nanogpt-cpu-mine]";
    job_.measure.threads = 4;
    job_.measure.seed = 7;
    name_ = {"run", "nanogpt", "cpu", "mine"};
    build_.prefix = "/tmp/work/build";
  }

  std::vector<std::string> filled(std::vector<std::string> command) {
    job_.command = std::move(command);
    return arguments_of(job_, name_, build_);
  }

  protocol::Job job_;
  Name name_;
  Build build_;
};

TEST_F(InvocationTest, ReadsTheNameOfTheBenchmark) {
  auto const name = parse_name(job_.benchmark);
  ASSERT_TRUE(name);
  EXPECT_EQ(name->test, "run");
  EXPECT_EQ(name->model, "nanogpt");
  EXPECT_EQ(name->device, "cpu");
  EXPECT_EQ(name->backend, "mine");
  EXPECT_EQ(parse_name("test_run[m-cpu-my-suite]")->backend, "my-suite");
}

TEST_F(InvocationTest, ReadsNoOtherName) {
  for (auto const* const name : {"",
                                 "[",
                                 "test_",
                                 "test_run[",
                                 "test_run[m]",
                                 "test_run[m-cpu]",
                                 "run[m-cpu-mine]",
                                 "test_run[m-cpu-mine] ",
                                 "test_run m-cpu-mine]"})
    EXPECT_FALSE(parse_name(name)) << name;
}

TEST_F(InvocationTest, FillsInTheJob) {
  std::vector<std::string> const filled_in{
      "bench", "--model=nanogpt", "run/cpu/mine", "/tmp/work/build/lib"};
  EXPECT_EQ(filled({"bench", "--model={model}", "{test}/{device}/{backend}", "{prefix}/lib"}),
            filled_in);
}

TEST_F(InvocationTest, KeepsOtherBraces) {
  std::vector<std::string> const kept{"{}", "{\"a\": 1}", "${HOME} {x", "{nanogpt}", "}{"};
  EXPECT_EQ(filled({"{}", "{\"a\": 1}", "${HOME} {x", "{{model}}", "}{"}), kept);
}

TEST_F(InvocationTest, DescribesTheJobInVariables) {
  auto const variables = environment_of(job_, name_, build_, {{"PATH", "/bin"}});

  EXPECT_EQ(variables.at("PATH"), "/bin");
  EXPECT_EQ(variables.at("TORCHWATCH_PREFIX"), "/tmp/work/build");
  EXPECT_EQ(variables.at("TORCHWATCH_BENCHMARK"), "test_run[nanogpt-cpu-mine]");
  EXPECT_EQ(variables.at("TORCHWATCH_MODEL"), "nanogpt");
  EXPECT_EQ(variables.at("TORCHWATCH_TEST"), "run");
  EXPECT_EQ(variables.at("TORCHWATCH_BACKEND"), "mine");
  EXPECT_EQ(variables.at("TORCHWATCH_DEVICE"), "cpu");
  EXPECT_EQ(variables.at("TORCHWATCH_THREADS"), "4");
  EXPECT_EQ(variables.at("TORCHWATCH_SEED"), "7");
  EXPECT_EQ(variables.at("OMP_NUM_THREADS"), "4");
  EXPECT_EQ(variables.at("MALLOC_MMAP_THRESHOLD_"), "33554432");
}

TEST_F(InvocationTest, KeepsAThreadCountThatIsSet) {
  EXPECT_EQ(environment_of(job_, name_, build_, {{"OMP_NUM_THREADS", "2"}}).at("OMP_NUM_THREADS"),
            "2");
}

TEST_F(InvocationTest, WantsTheMetricsOfTheJob) {
  job_.metrics = {"tokens_per_s", "kernels"};
  job_.exact = {"kernels"};
  auto const wanted = wanted_by(job_, name_);
  EXPECT_EQ(wanted.required, job_.metrics);
  EXPECT_EQ(wanted.allowed, job_.metrics);
  EXPECT_EQ(wanted.exact, job_.exact);
  EXPECT_EQ(wanted.model, "nanogpt");
}

TEST_F(InvocationTest, WantsTheNativeMetricsOfAJobWithoutMetrics) {
  auto const wanted = wanted_by(job_, name_);
  EXPECT_EQ(wanted.required, std::vector<std::string>{"latency"});
  EXPECT_EQ(wanted.allowed.size(), 4U);
}

}  // namespace
}  // namespace torchwatch::command
