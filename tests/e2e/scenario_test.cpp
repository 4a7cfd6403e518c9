#include <gtest/gtest.h>

#include "tests/e2e/expect.h"
#include "tests/lab/scenario_names.h"

// The whole way from two nightlies to a culprit, on histories whose truth is known.
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
  EXPECT_EQ(second.out, first.out) << "another answer to the same question";
  expect_no_process_left(world);
}

INSTANTIATE_TEST_SUITE_P(Scripted,
                         Scenario,
                         testing::ValuesIn(lab::scenario_names),
                         [](auto const& test) { return lab::scenario_test_name(test); });

TEST(Check, TellsPeopleWhatItTellsPrograms) {
  World world;
  auto const told = world.run({"check"});
  EXPECT_EQ(told.status, 1) << told.err;
  auto const& culprit = world.truth().at("culprits").at(0);
  EXPECT_NE(told.out.find("Culprit (proved against its parent): " +
                          culprit.at("commit").get<std::string>()),
            std::string::npos)
      << told.out;
  EXPECT_NE(told.out.find("/pull/" + culprit.at("pull_request").dump()), std::string::npos)
      << told.out;
  for (auto const* const part : {"% of the regression; ", "; during the bisection "})
    EXPECT_NE(told.out.find(part), std::string::npos) << told.out;
}

}  // namespace
}  // namespace torchwatch::e2e
