#include "daemon/measure/launcher.h"

#include <string>

#include <gtest/gtest.h>

namespace torchwatch::measure {
namespace {

constexpr char const* queued = "srun: job 12 queued and waiting for resources\n";
constexpr char const* allocated = "srun: job 12 has been allocated resources\n";

TEST(LauncherStage, FollowsTheMessagesOfSrun) {
  EXPECT_EQ(launcher_stage(""), LauncherStage::starting);
  EXPECT_EQ(launcher_stage(queued), LauncherStage::queued);
  EXPECT_EQ(launcher_stage(std::string{queued} + allocated), LauncherStage::allocated);
  EXPECT_EQ(launcher_stage(std::string{allocated} + queued), LauncherStage::queued);
}

TEST(LauncherStage, IsQueuedWhileNodesAreDrained) {
  EXPECT_EQ(
      launcher_stage(
          std::string{"srun: Required node not available (down, drained or reserved)\n"} + queued),
      LauncherStage::queued);
}

TEST(LauncherStage, FollowsTheMessagesOfSalloc) {
  std::string errors = "salloc: Pending job allocation 7\n";
  EXPECT_EQ(launcher_stage(errors), LauncherStage::queued);
  errors += "salloc: Granted job allocation 7\n";
  EXPECT_EQ(launcher_stage(errors), LauncherStage::allocated);
}

TEST(LauncherStage, IgnoresOtherPrograms) {
  EXPECT_EQ(launcher_stage("warning: job 12 queued and waiting for resources\n"),
            LauncherStage::starting);
}

/// The standard error of srun 22.05 in one situation.
struct Situation {
  char const* name;
  char const* errors;
  LauncherEnd end;
};

void PrintTo(Situation const& situation, std::ostream* stream) {
  *stream << situation.name;
}

class LauncherEndTest : public testing::TestWithParam<Situation> {};

TEST_P(LauncherEndTest, IsReadFromTheMessages) {
  EXPECT_EQ(to_string(launcher_end(GetParam().errors)), to_string(GetParam().end));
}

TEST_P(LauncherEndTest, IsNotChangedByTheWaitBefore) {
  auto const errors = std::string{queued} + allocated + GetParam().errors;
  EXPECT_EQ(to_string(launcher_end(errors)), to_string(GetParam().end));
}

INSTANTIATE_TEST_SUITE_P(
    Of,
    LauncherEndTest,
    testing::Values(
        Situation{"Nothing", "", LauncherEnd::unknown},
        Situation{"Preemption",
                  "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n"
                  "slurmstepd-n1: error: *** STEP 19.0 ON n1 CANCELLED AT 2026-11-28T19:38:36 DUE "
                  "TO PREEMPTION ***\n"
                  "srun: error: n1: task 0: Terminated\n",
                  LauncherEnd::preempted},
        Situation{"PreemptionOfADeafRunner",
                  "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n"
                  "slurmstepd-n2: error: *** STEP 20.0 ON n2 CANCELLED AT 2026-11-28T19:38:36 DUE "
                  "TO PREEMPTION ***\n"
                  "srun: error: Timed out waiting for job step to complete\n",
                  LauncherEnd::preempted},
        Situation{"Requeue",
                  "slurmstepd: error: *** STEP 4.0 ON n2 CANCELLED AT 2026-11-28T19:38:36 DUE TO "
                  "JOB REQUEUE ***\n",
                  LauncherEnd::requeued},
        Situation{"NodeFailure",
                  "srun: error: Node failure on n1\nsrun: error: Node failure on n1\n",
                  LauncherEnd::node_failed},
        Situation{"NodeFailureOfTheStep",
                  "slurmstepd: error: *** STEP 4.0 ON n2 CANCELLED AT 2026-11-28T19:38:36 DUE TO "
                  "NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***\n",
                  LauncherEnd::node_failed},
        Situation{"TimeLimit",
                  "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n"
                  "slurmstepd-n1: error: *** STEP 11.0 ON n1 CANCELLED AT 2026-11-28T19:35:32 DUE "
                  "TO TIME LIMIT ***\n"
                  "srun: error: n1: task 0: Terminated\n",
                  LauncherEnd::time_limit},
        Situation{"Cancel",
                  "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n"
                  "slurmstepd-n2: error: *** STEP 3.0 ON n2 CANCELLED AT 2026-11-28T19:23:47 ***\n"
                  "srun: error: n2: task 0: Terminated\n",
                  LauncherEnd::cancelled},
        Situation{"AnEndWithoutAReason",
                  "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n"
                  "srun: error: n2: task 0: Terminated\n",
                  LauncherEnd::cancelled},
        Situation{"ACrashThatAbortsTheStep",
                  "srun: error: n2: task 0: Killed\n"
                  "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n",
                  LauncherEnd::unknown},
        Situation{"CancelInTheQueue",
                  "srun: job 5 queued and waiting for resources\n"
                  "srun: Job has been cancelled\n"
                  "srun: error: Unable to allocate resources: Job/step already completing or "
                  "completed\n",
                  LauncherEnd::cancelled},
        Situation{"NoController",
                  "srun: error: Unable to allocate resources: Unable to contact slurm controller "
                  "(connect failure)\n",
                  LauncherEnd::controller_lost},
        Situation{"ImpossibleRequest",
                  "srun: error: Unable to allocate resources: Requested node configuration is not "
                  "available\n",
                  LauncherEnd::refused},
        Situation{"UnknownPartition",
                  "srun: error: invalid partition specified: nopart\n"
                  "srun: error: Unable to allocate resources: Invalid partition name specified\n",
                  LauncherEnd::refused},
        Situation{"MemoryLimit",
                  "slurmstepd: error: Detected 1 oom_kill event in StepId=8.0. Some of the step "
                  "tasks have been OOM Killed.\n"
                  "srun: error: n1: task 0: Out Of Memory\n",
                  LauncherEnd::out_of_memory},
        Situation{"MemoryLimitOfOlderSlurm",
                  "slurmstepd: error: Step 8.0 exceeded memory limit (90 > 64), being killed\n"
                  "slurmstepd: error: *** STEP 8.0 ON n1 CANCELLED AT 2026-11-28T19:38:36 ***\n",
                  LauncherEnd::out_of_memory},
        Situation{"ACrashOfTheRunner",
                  "srun: error: n2: task 0: Killed\nsrun: Force Terminated StepId=13.0\n",
                  LauncherEnd::unknown},
        Situation{"AnExitOfTheRunner",
                  "srun: error: n2: task 0: Exited with exit code 7\n",
                  LauncherEnd::unknown},
        Situation{"AnotherProgramsWords",
                  "ssh: Node failure on n1\nworker: srun: error: Node failure on n1\n",
                  LauncherEnd::unknown}),
    [](auto const& test) { return std::string{test.param.name}; });

TEST(LauncherEnd, HasWordsForEachEnd) {
  for (auto const end : {LauncherEnd::preempted,
                         LauncherEnd::requeued,
                         LauncherEnd::node_failed,
                         LauncherEnd::time_limit,
                         LauncherEnd::cancelled,
                         LauncherEnd::controller_lost,
                         LauncherEnd::refused,
                         LauncherEnd::out_of_memory}) {
    EXPECT_NE(to_string(end), "unknown");
    EXPECT_NE(describe(end), "");
  }
}

}  // namespace
}  // namespace torchwatch::measure
