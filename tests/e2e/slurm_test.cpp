#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/slurm_cluster.h"
#include "tests/e2e/stored.h"

// A real Slurm cluster starts the runners and loses the node of one runner.
namespace torchwatch::e2e {
namespace {

/// Returns the options of a world with two slots and jobs that last long enough to be interrupted.
/// There is little noise, so that all runs confirm the same series.
WorldOptions two_slots() {
  WorldOptions options;
  for (auto const* const name : {"test_train[dcgan-cpu-eager]",
                                 "test_eval[dcgan-cpu-eager]",
                                 "test_train[lennard_jones-cpu-eager]",
                                 "test_eval[lennard_jones-cpu-eager]"})
    options.script["benchmarks"][name] = {{"seconds", 0.3}, {"noise", 0.0002}};
  options.settings = {{"fleets", {{{"name", "cluster"}, {"slots", 2}, {"launcher", {"nice"}}}}}};
  return options;
}

/// The parameter determines when the node is lost: at the first line of the log with this event.
class Slurm : public testing::TestWithParam<char const*> {
 protected:
  static Answer undisturbed() {
    World world{two_slots()};
    return expect_answer(world.run({"check", "--json"}));
  }
};

TEST_P(Slurm, LosesANodeAndFindsTheSameVerdicts) {
  auto const expected = undisturbed();
  World world{two_slots()};
  SlurmCluster cluster{world.directory() / "slurm"};
  world.configure(
      {{"fleets", {{{"name", "cluster"}, {"slots", 2}, {"launcher", cluster.launcher()}}}}});

  auto check = world.start({"check", "--json"});
  ASSERT_TRUE(eventually([&] { return check.err().find(GetParam()) != std::string::npos; },
                         std::chrono::minutes{2}));
  auto const nodes = cluster.busy_nodes();
  ASSERT_EQ(nodes.size(), 2U) << check.err();
  cluster.crash(nodes.front());
  auto const ended = check.wait(std::chrono::minutes{5});

  EXPECT_EQ(ended.status, 1) << ended.err;
  EXPECT_EQ(expect_answer(ended), expected);
  expect_culprit(world, expected.bisections.front());
  EXPECT_NE(ended.err.find("alarm_raised kind=runner_lost"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("job_failed"), std::string::npos) << ended.err;
  EXPECT_EQ(keys_stored_twice(world.state()), 0);
  EXPECT_TRUE(eventually([&] { return cluster.queue().empty(); })) << cluster.queue();
  cluster.stop();
  expect_no_process_left(world);
}

INSTANTIATE_TEST_SUITE_P(LostIn,
                         Slurm,
                         testing::Values("sweep_progress", "bisection_step"),
                         [](auto const& test) {
                           std::string const word{test.param};
                           return word.substr(0, word.find('_'));
                         });

}  // namespace
}  // namespace torchwatch::e2e
