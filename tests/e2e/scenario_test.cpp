#include <gtest/gtest.h>

#include "tests/e2e/expect.h"
#include "tests/lab/scenario_names.h"

// The whole pipeline from two nightlies to a culprit, on histories with known culprits.
namespace torchwatch::e2e {
namespace {

class Scenario : public testing::TestWithParam<char const*> {};

TEST_P(Scenario, EndsWithWhatTheLabPlanted) {
  WorldOptions options;
  options.scenario = GetParam();
  World world{options};

  auto const first = world.run({"check", "--json"});
  expect_truth(world, first);
  EXPECT_EQ(expect_answer(first).moved, planted_series(world.truth()));

  auto const second = world.run({"check", "--json"});
  EXPECT_EQ(second.status, first.status);
  EXPECT_EQ(second.out, first.out) << "a second check prints another answer";
  expect_no_process_left(world);
}

INSTANTIATE_TEST_SUITE_P(Scripted,
                         Scenario,
                         testing::ValuesIn(lab::scenario_names),
                         [](auto const& test) { return lab::scenario_test_name(test); });

TEST(Check, PrintsTheCulpritAndItsPullRequestAsText) {
  World world;
  auto const check = world.run({"check"});
  EXPECT_EQ(check.status, 1) << check.err;
  auto const& culprit = world.truth().at("culprits").at(0);
  EXPECT_NE(check.out.find("Culprit (proved against its parent): " +
                           culprit.at("commit").get<std::string>()),
            std::string::npos)
      << check.out;
  EXPECT_NE(check.out.find("/pull/" + culprit.at("pull_request").dump()), std::string::npos)
      << check.out;
  for (auto const* const part : {"% of the regression; ", "; during the bisection "})
    EXPECT_NE(check.out.find(part), std::string::npos) << check.out;
}

}  // namespace
}  // namespace torchwatch::e2e
