#include <sstream>

#include <gmock/gmock.h>

#include "tests/e2e/expect.h"

// Builds on which some benchmarks crash, hang, print garbage or use too much memory.
namespace torchwatch::e2e {
namespace {

std::string eval_of(std::string const& model) {
  return "test_eval[" + model + "-cpu-eager]";
}

/// Returns the options of a world in which four benchmarks misbehave. dcgan works, and has a
/// culprit.
WorldOptions with_four_bad_benchmarks() {
  WorldOptions options;
  options.history = {{"suite",
                      {{"models", {"lennard_jones", "resnet18", "tts_angular", "dlrm", "dcgan"}},
                       {"tests", {"eval"}}}}};
  auto& benchmarks = options.script["benchmarks"];
  benchmarks[eval_of("lennard_jones")] = {{"behave", "crash"}};
  benchmarks[eval_of("resnet18")] = {{"behave", "hang"}};
  benchmarks[eval_of("tts_angular")] = {{"behave", "garbage"}};
  benchmarks[eval_of("dlrm")] = {{"behave", "hog"}};
  options.settings = {{"measure", {{"timeout_s", 5}, {"memory_mib", 128}, {"attempts", 2}}},
                      {"decide", {{"sweep_pairs", 1}}}};
  return options;
}

/// Returns the lines of `log` that report a failure of `model`.
std::vector<std::string> failures_of(std::string const& log, std::string const& model) {
  std::vector<std::string> lines;
  std::istringstream stream{log};
  for (std::string line; std::getline(stream, line);)
    if (line.find("job_failed") != std::string::npos &&
        line.find("benchmark=" + eval_of(model)) != std::string::npos)
      lines.push_back(line);
  return lines;
}

TEST(Misbehaviour, OfSomeBenchmarksDoesNotHideTheCulpritOfAnother) {
  World world{with_four_bad_benchmarks()};
  auto const check = world.run({"check", "--json"});
  expect_truth(world, check);
  expect_no_process_left(world);

  using testing::AllOf;
  using testing::Each;
  using testing::HasSubstr;
  using testing::SizeIs;
  auto const expect_failures = [&](char const* model, char const* code, char const* reason) {
    auto const lines = failures_of(check.err, model);
    EXPECT_FALSE(lines.empty()) << model << "\n" << check.err;
    EXPECT_THAT(lines, Each(AllOf(HasSubstr(code), HasSubstr(reason))));
  };
  expect_failures("lennard_jones", "code=crashed", "SIGSEGV");
  expect_failures("resnet18", "code=timeout", "no answer after 5 s");
  expect_failures("tts_angular", "code=protocol", "Downloading weights");
  expect_failures("dlrm", "code=memory", "allowed are 128 MiB");
  EXPECT_TRUE(failures_of(check.err, "dcgan").empty());
  // The first nightly is measured alone, the second together with the first. A crash is retried
  // once, a timeout is not retried.
  EXPECT_THAT(failures_of(check.err, "lennard_jones"), SizeIs(2 + 2 * 2));
  EXPECT_THAT(failures_of(check.err, "resnet18"), SizeIs(1 + 2));
}

TEST(Misbehaviour, OfAllBenchmarksFailsTheNightly) {
  WorldOptions options;
  options.history = {{"suite", {{"models", {"dcgan"}}, {"tests", {"eval"}}}}};
  options.script["benchmarks"][eval_of("dcgan")] = {{"behave", "exit"}};
  options.settings = {{"measure", {{"attempts", 1}}}};
  World world{options};
  auto const check = world.run({"check"});
  EXPECT_EQ(check.status, 2) << check.out << check.err;
  EXPECT_THAT(check.err, testing::HasSubstr("nightly failed: none of 2 jobs gave a result"));
}

}  // namespace
}  // namespace torchwatch::e2e
