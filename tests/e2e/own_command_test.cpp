#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/expect.h"

// A user's own command as a benchmark: on the system's PyTorch, and on two nightlies of the lab.
namespace torchwatch::e2e {
namespace {

/// The suite of docs/own-benchmarks.md with the benchmark in tests/data/own_command.
nlohmann::json own_suite() {
  auto const program = std::string{OWN_COMMAND_FOLDER} + "/bench.py";
  return {{"name", "mine"},
          {"command", {"python3", program, "--model", "{model}"}},
          {"models", {"convnet"}},
          {"metrics",
           {{"images_per_s", {{"unit", "1/s"}, {"better", "higher"}}},
            {"ttft", {{"unit", "ms"}, {"better", "lower"}}}}}};
}

class OwnCommand : public testing::Test {
 protected:
  OwnCommand() {
    auto fleet = nlohmann::json{{"name", "local"}, {"suites", {"mine"}}};
    world_.configure({{"suites", {own_suite()}}, {"fleets", {std::move(fleet)}}});
  }

  World world_{[] {
    WorldOptions options;
    options.real = true;
    return options;
  }()};
};

TEST_F(OwnCommand, IsMeasuredOnTheSystemsPyTorch) {
  auto const bench = world_.run({"bench", "--suite", "mine", "--json"});
  ASSERT_EQ(bench.status, 0) << bench.err;
  auto const results = nlohmann::json::parse(bench.out);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results.at(0).at("benchmark"), "test_run[convnet-cpu-mine]");
  for (auto const* const metric : {"images_per_s", "ttft"})
    EXPECT_GT(results.at(0).at("metrics").at(metric).at("value"), 0) << results;
}

// Runs of both builds alternate. Without that, processes of 0.2 s each differ by 30% here.
TEST_F(OwnCommand, ThatASlowerConvolutionSlowsDownIsReportedWithItsCommit) {
  auto suite = own_suite();
  suite["command"].push_back("--waits");
  suite["waits"] = true;
  world_.configure({{"suites", {suite}}});
  auto const check = world_.start({"check", "--json"}).wait(std::chrono::seconds{1150});
  ASSERT_EQ(check.status, 1) << check.err;
  auto const answer = expect_answer(check);
  auto const slower = "test_run[convnet-cpu-mine]_images_per_s";
  EXPECT_THAT(answer.moved, testing::Contains(slower));
  EXPECT_EQ(answer.verdicts.at(slower), "regression");
  ASSERT_EQ(answer.bisections.size(), 1U);
  expect_culprit(world_, answer.bisections.front());
  auto const report = nlohmann::json::parse(check.out).at("incidents").at(0).at("report");
  EXPECT_THAT(text_of(report.get<std::string>()), testing::HasSubstr("1/s"));
  expect_no_process_left(world_);
}

}  // namespace
}  // namespace torchwatch::e2e
