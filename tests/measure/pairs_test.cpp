#include "daemon/measure/pairs.h"

#include <gmock/gmock.h>

#include "tests/storage/samples.h"

namespace torchwatch::measure {
namespace {

using tests::latency_of;
using tests::sha_of;

JobOutcome outcome(char digit, int round, double ms) {
  auto outcome = tests::outcome_of(Campaign::of(NightlyId{3}), round, ms);
  outcome.key.commit = sha_of(digit);
  outcome.values = {{Metric::latency, {ms, {ms}}}, {Metric::cmem, {ms, {ms}}}};
  return outcome;
}

Series memory_of(std::string const& model) {
  auto series = latency_of(model);
  series.metric = Metric::cmem;
  return series;
}

class PairsOfNightlyTest : public testing::Test {
 protected:
  std::vector<JobOutcome> jobs{outcome('a', 0, 10),
                               outcome('b', 0, 20),
                               outcome('c', 0, 30),
                               outcome('b', 1, 21),
                               outcome('c', 1, 31),
                               outcome('b', 2, 22),
                               outcome('c', 2, 32)};
};

TEST_F(PairsOfNightlyTest, TakeTheBaselineOfEachSeries) {
  BaselineCommits const baselines{sha_of('b'), {{latency_of("dlrm"), sha_of('a')}}};
  auto const pairs = pairs_of(jobs, sha_of('c'), baselines, 2);
  ASSERT_EQ(pairs.size(), 2U);
  auto const& latency = pairs.at(latency_of("dlrm"));
  ASSERT_EQ(latency.size(), 1U);
  EXPECT_EQ(latency[0].before, 10);
  EXPECT_EQ(latency[0].after, 30);
  auto const& memory = pairs.at(memory_of("dlrm"));
  ASSERT_EQ(memory.size(), 2U) << "of the first two rounds";
  EXPECT_EQ(memory[1].before, 21);
  EXPECT_EQ(memory[1].after, 31);
}

TEST_F(PairsOfNightlyTest, AreNoneWhereTheBaselineHasItsCommit) {
  BaselineCommits const baselines{sha_of('c'), {{latency_of("dlrm"), sha_of('a')}}};
  auto const pairs = pairs_of(jobs, sha_of('c'), baselines, 2);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs.begin()->first, latency_of("dlrm"));
}

}  // namespace
}  // namespace torchwatch::measure
