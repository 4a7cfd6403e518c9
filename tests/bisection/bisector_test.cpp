#include "daemon/bisection/bisector.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "daemon/bisection/build_variation.h"
#include "storage/domain/words.h"
#include "tests/fakes/memory/world.h"
#include "tests/lab/repository.h"

namespace torchwatch::bisection {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;
using testing::SizeIs;

class BisectorTest : public testing::Test {
 protected:
  Bisection ask(BisectionRequest const& request) {
    return world.parts->store.bisections().ask(request, std::nullopt, world.clock.now());
  }

  Result<Bisection> run(Bisection bisection) {
    return world.run(world.parts->bisector.run(std::move(bisection)));
  }

  /// The series of all commits, unless a test changes them.
  Bisection bisect(std::size_t start = 0, std::size_t end = 8) {
    return run(ask(world.request(start, end))).value();
  }

  /// Runs a bisection that had to wait, to its end.
  Bisection go_on(Bisection const& asked) {
    return run(world.parts->store.bisections().find(asked.id).value()).value();
  }

  std::size_t culprit_of(Finding const& finding) {
    return world.trunk.number_of(finding.suspects.front().sha);
  }

  std::vector<std::size_t> built() {
    std::vector<std::size_t> numbers;
    for (auto const& commit : world.parts->builder.made)
      if (!world.parts->builder.reverted.contains(commit))
        numbers.push_back(world.trunk.number_of(commit));
    return numbers;
  }

  fakes::World world;
};

TEST_F(BisectorTest, ProvesInTwoLayouts) {
  world.change_layout(9, "alpha", 1);
  world.change(5, "alpha", 1.2);
  auto const done = bisect();

  EXPECT_EQ(done.outcome, BisectionOutcome::culprit);
  ASSERT_THAT(done.findings, SizeIs(1));
  auto const& effect = done.findings[0].effects.at(0);
  EXPECT_EQ(effect.rebuilt.value().verdict, Verdict::regression);
  EXPECT_NEAR(effect.rebuilt->ratio->ratio, 1.2, 0.05);
  EXPECT_FALSE(effect.is_doubted);
  auto const numbers = built();
  for (std::size_t const commit : {4U, 5U})
    EXPECT_EQ(std::ranges::count(numbers, commit), 2) << commit;
  EXPECT_THAT(effect.revert_check, Not(testing::Eq(std::nullopt)));
}

TEST_F(BisectorTest, NamesNoCulpritForALayout) {
  world.change_layout(5, "alpha", 1.2);
  auto const done = bisect();

  EXPECT_EQ(done.outcome, BisectionOutcome::layout);
  ASSERT_THAT(done.findings, SizeIs(1));
  EXPECT_EQ(kind_of(done.findings[0]), FindingKind::layout);
  EXPECT_EQ(done.findings[0].effects.at(0).rebuilt.value().verdict, Verdict::unchanged);
  auto const stored = world.parts->store.bisections().find(done.id).value();
  EXPECT_EQ(kind_of(stored.findings.at(0)), FindingKind::layout);
}

TEST_F(BisectorTest, LearnsFromProofsHowMuchBuildsDiffer) {
  world.change_layout(5, "alpha", 1.06);
  world.change(5, "alpha", 1.2);
  auto& store = world.parts->store;
  for (int i = 0; i < 7; ++i)
    ASSERT_EQ(bisect().outcome, BisectionOutcome::culprit);
  EXPECT_THAT(read_build_variation(store), IsEmpty()) << "too few";
  bisect();
  // Proofs of 27% and 20%: half of what four builds differ by is above 6%, so 4.3% a build.
  EXPECT_NEAR(read_build_variation(store).at("local"), 0.043, 0.015);
}

/// Bisections of alpha that teach that builds differ by 10%, and one of beta.
class BisectorThatLearns : public BisectorTest {
 protected:
  BisectorThatLearns() {
    world.change_layout(5, "alpha", 1.15);
    world.change(5, "alpha", 1.2);
    world.change(3, "beta", 1.08);
  }

  Bisection ask_of_beta() {
    auto request = world.request(0, 8);
    request.series = {world.series("beta")};
    return ask(request);
  }

  void learn_of_builds() {
    for (int i = 0; i < 8; ++i)
      bisect();
    ASSERT_THAT(read_build_variation(world.parts->store), SizeIs(1));
  }
};

std::size_t builds_read(Bisection const& bisection) {
  std::set<CommitSha> commits;
  for (auto const& step : bisection.steps)
    commits.insert(step.commits.begin(), step.commits.end());
  return commits.size();
}

TEST_F(BisectorThatLearns, AsksForMoreBuildsWhereTheyDiffer) {
  auto const unlearnt = builds_read(run(ask_of_beta()).value());
  EXPECT_LT(unlearnt, 6U);
  learn_of_builds();
  EXPECT_GT(builds_read(run(ask_of_beta()).value()), unlearnt)
      << "builds differ by 10% here, so one of each shows little";
}

TEST_F(BisectorThatLearns, GoesOnWithWhatABisectionBeganWith) {
  auto const asked = ask_of_beta();
  world.parts->rounds.before = [](measure::RoundKey const&) {
    throw std::runtime_error("killed");
  };
  EXPECT_THROW(run(asked), std::runtime_error);
  world.restart();
  learn_of_builds();
  auto const done = run(world.parts->store.bisections().find(asked.id).value()).value();
  EXPECT_LT(builds_read(done), builds_read(run(ask_of_beta()).value()));
}

TEST_F(BisectorTest, ProvesMemoryInOneLayout) {
  world.change_layout(9, "alpha", 1);
  world.change(5, "alpha", 1.2, Metric::cmem);
  auto request = world.request(0, 8);
  request.series = {world.series("alpha", Metric::cmem)};
  auto const done = run(ask(request)).value();

  EXPECT_EQ(done.outcome, BisectionOutcome::culprit);
  EXPECT_EQ(done.findings.at(0).effects.at(0).rebuilt, std::nullopt);
}

TEST_F(BisectorTest, ProvesOfTimeAndMemoryOnlyTheTimeInTwoLayouts) {
  world.change_layout(9, "alpha", 1);
  world.change(5, "alpha", 1.2);
  world.change(5, "alpha", 1.2, Metric::cmem);
  auto request = world.request(0, 8);
  request.series = {world.series("alpha"), world.series("alpha", Metric::cmem)};
  auto const done = run(ask(request)).value();

  EXPECT_EQ(done.outcome, BisectionOutcome::culprit);
  ASSERT_THAT(done.findings.at(0).effects, SizeIs(2));
  for (auto const& effect : done.findings[0].effects)
    EXPECT_EQ(effect.rebuilt.has_value(), effect.series.metric == Metric::latency);
}

TEST_F(BisectorTest, ProvesInAsManyLayoutsAsItIsTold) {
  world.options.bisect.layouts = 1;
  world.change_layout(9, "alpha", 1);
  world.change(5, "alpha", 1.2);
  auto const done = bisect();

  EXPECT_EQ(done.outcome, BisectionOutcome::culprit);
  EXPECT_EQ(done.findings.at(0).effects.at(0).rebuilt, std::nullopt);
}

TEST_F(BisectorTest, NamesTheCulpritAndProvesIt) {
  world.change(5, "alpha", 1.2);
  auto const done = bisect();

  EXPECT_EQ(done.state, BisectionState::done);
  EXPECT_EQ(done.outcome, BisectionOutcome::culprit);
  ASSERT_THAT(done.findings, SizeIs(1));
  EXPECT_EQ(culprit_of(done.findings[0]), 5);
  auto const& effect = done.findings[0].effects.at(0);
  EXPECT_EQ(effect.proof->verdict, Verdict::regression);
  EXPECT_EQ(effect.revert_check->verdict, Verdict::improvement);
  EXPECT_NEAR(effect.share, 1, 0.2);
  EXPECT_FALSE(done.packages);
  EXPECT_THAT(done.steps, Each(testing::Field(&BisectionStep::is_done, true)));
}

/// A trunk on which more lands while commits 0 to 8 are bisected.
class BisectorOnAMovingTrunk : public BisectorTest {
 protected:
  void land(std::string message) {
    lab::Person const ada{"Ada Author", "ada@example.org", "ada"};
    auto const now = world.clock.time;
    lab::CommitText const text{std::move(message), ada, now, ada, now};
    world.trunk.land({text});
  }

  void revert(std::size_t commit) {
    auto const number = std::to_string(1000 + commit);
    land("Revert \"Commit " + std::to_string(commit) + " (#" + number +
         ")\"\n\nThis reverts commit " + world.sha(commit).hex + ".\n");
  }

  Finding stored_finding(Bisection const& bisection) {
    return world.parts->store.bisections().find(bisection.id).value().findings.at(0);
  }
};

TEST_F(BisectorOnAMovingTrunk, SaysThatTrunkHasRevertedTheCulprit) {
  world.change(5, "alpha", 1.2);
  land("More docs (#1009)");
  revert(5);
  auto const done = bisect();

  EXPECT_EQ(culprit_of(done.findings.at(0)), 5);
  EXPECT_EQ(done.findings.at(0).reverted_by, world.sha(10));
  EXPECT_EQ(stored_finding(done).reverted_by, world.sha(10));
}

TEST_F(BisectorOnAMovingTrunk, SaysNothingOfARevertOfAnotherCommitOrOneThatWasReverted) {
  world.change(5, "alpha", 1.2);
  revert(4);
  EXPECT_EQ(bisect().findings.at(0).reverted_by, std::nullopt);
  revert(5);
  EXPECT_EQ(bisect().findings.at(0).reverted_by, world.sha(10));
  land("Revert \"Revert it\"\n\nThis reverts commit " + world.sha(10).hex + ".\n");
  EXPECT_EQ(bisect().findings.at(0).reverted_by, std::nullopt);
}

TEST_F(BisectorOnAMovingTrunk, NamesApproversOfTheCulprit) {
  land("Commit 9 (#1009)\n\nApproved by: https://github.com/ada, https://github.com/carl-c\n");
  land("Commit 10 (#1010)");
  world.change(9, "alpha", 1.2);
  auto const done = bisect(0, 10);

  EXPECT_EQ(culprit_of(done.findings.at(0)), 9);
  EXPECT_THAT(stored_finding(done).approvers, testing::ElementsAre("ada", "carl-c"));
}

TEST_F(BisectorOnAMovingTrunk, KeepsAnAnswerOfWhichTrunkSaysNothing) {
  world.change(5, "alpha", 1.2);
  auto const done = bisect();

  EXPECT_EQ(done.outcome, BisectionOutcome::culprit);
  EXPECT_EQ(done.findings.at(0).reverted_by, std::nullopt);
  EXPECT_THAT(done.findings.at(0).approvers, IsEmpty());
  EXPECT_FALSE(done.findings.at(0).earlier);
}

TEST_F(BisectorTest, FindsTwoCulprits) {
  world.change(2, "alpha", 1.15);
  world.change(6, "alpha", 1.15);
  auto const done = bisect();

  ASSERT_THAT(done.findings, SizeIs(2));
  EXPECT_EQ(culprit_of(done.findings[0]) + culprit_of(done.findings[1]), 8);
}

TEST_F(BisectorTest, NeedsNoRevertOfTheNewestCommit) {
  world.change(8, "alpha", 1.2);
  auto const done = bisect();

  EXPECT_EQ(done.outcome, BisectionOutcome::culprit);
  EXPECT_THAT(done.findings.at(0).no_revert_check, HasSubstr("newest commit"));
}

TEST_F(BisectorTest, SaysWhyARevertCannotBeChecked) {
  world.change(3, "alpha", 1.2);
  world.parts->builder.reverts_apply = false;
  auto const done = bisect();

  EXPECT_THAT(done.findings.at(0).no_revert_check, HasSubstr("git revert does not apply"));
  EXPECT_FALSE(done.findings.at(0).effects.at(0).revert_check);
}

TEST_F(BisectorTest, AnswersWithARangeWhereCommitsCannotBeBuilt) {
  world.change(4, "alpha", 1.2);
  world.parts->builder.broken = {world.sha(3), world.sha(4)};
  auto const done = bisect();

  EXPECT_EQ(done.outcome, BisectionOutcome::range);
  ASSERT_THAT(done.findings, SizeIs(1));
  EXPECT_EQ(done.findings[0].suspects.size(), 3U);
  EXPECT_EQ(culprit_of(done.findings[0]), 3);
  EXPECT_FALSE(done.findings[0].effects.at(0).proof);
}

TEST_F(BisectorTest, RepeatsTheReasonOfAKnownUnbuildableCommit) {
  world.change(4, "alpha", 1.2);
  world.parts->builder.broken = {world.sha(3), world.sha(4)};
  bisect();
  auto const again = bisect();

  EXPECT_EQ(again.outcome, BisectionOutcome::range);
  EXPECT_EQ(again.findings.at(0).suspects.size(), 3U);
  for (auto const commit : {3U, 4U})
    EXPECT_THAT(again.steps,
                Contains(AllOf(testing::Field(&BisectionStep::skipped, world.sha(commit)),
                               testing::Field(&BisectionStep::note, HasSubstr("status 125")))));
}

TEST_F(BisectorTest, NamesACulpritWhoseRecipeFailedOnce) {
  world.change(5, "alpha", 1.2);
  world.parts->builder.failures_left[world.sha(5)] = 1;
  auto const asked = ask(world.request(0, 8));
  auto const stopped = run(asked);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::unavailable);

  auto const done = go_on(asked);
  EXPECT_EQ(done.outcome, BisectionOutcome::culprit);
  EXPECT_EQ(culprit_of(done.findings.at(0)), 5);
}

TEST_F(BisectorTest, GoesOnOverARestartWhereARecipeFailedOnceForTheRevert) {
  world.change(5, "alpha", 1.2);
  CommitSha const without{world.sha(8).hex.substr(0, 20) + world.sha(5).hex.substr(0, 20)};
  world.parts->builder.failures_left[without] = 1;
  auto const asked = ask(world.request(0, 8));
  ASSERT_FALSE(run(asked));
  world.restart();

  auto const done = go_on(asked);
  EXPECT_TRUE(done.findings.at(0).effects.at(0).revert_check);
}

TEST_F(BisectorTest, AsksForABuildThatFailedForADayForNoOtherBenchmark) {
  world.change(5, "alpha", 1.2);
  world.change(5, "beta", 1.2);
  world.parts->builder.fails_now = {world.sha(4)};
  auto request = world.request(0, 8);
  request.series = {world.series("alpha"), world.series("beta")};
  auto const asked = ask(request);
  ASSERT_FALSE(run(asked));
  world.clock.time += std::chrono::hours{24};
  auto const done = go_on(asked);

  EXPECT_EQ(done.outcome, BisectionOutcome::range);
  ASSERT_THAT(done.findings, SizeIs(1));
  EXPECT_THAT(done.findings[0].effects, SizeIs(2));
  EXPECT_THAT(done.findings[0].suspects, SizeIs(2));
  EXPECT_EQ(std::ranges::count(world.parts->builder.tried, world.sha(4)), 2) << "on both days";
}

TEST_F(BisectorTest, SkipsACommitThatCannotBeMeasured) {
  world.change(5, "alpha", 1.2);
  world.parts->rounds.failures[{"alpha", world.sha(4)}] = JobError::crashed;
  auto const done = bisect();

  EXPECT_EQ(done.findings.at(0).suspects.size(), 2U);
  EXPECT_THAT(
      done.steps,
      Contains(testing::Field(&BisectionStep::note, HasSubstr("could not be measured: crashed"))));
}

TEST_F(BisectorTest, FindsNothingWhereNothingChanged) {
  auto const done = bisect();

  EXPECT_EQ(done.outcome, BisectionOutcome::not_reproduced);
  EXPECT_THAT(done.findings, IsEmpty());
}

TEST_F(BisectorTest, BuildsTheEndsAgainBeforeItSaysThatNothingChanged) {
  world.change_layout(9, "alpha", 1);
  EXPECT_EQ(bisect().outcome, BisectionOutcome::not_reproduced);
  EXPECT_THAT(built(), testing::UnorderedElementsAre(0, 8, 0, 8));
}

/// The usual build of the end is as fast as the start's because of its layout.
TEST_F(BisectorTest, DoesNotTakeALuckyBuildForNoChange) {
  world.change(5, "alpha", 1.2);
  world.change_layout(8, "alpha", 1 / 1.2);
  EXPECT_NE(bisect().outcome, BisectionOutcome::not_reproduced);
}

TEST_F(BisectorTest, IsFooledByALuckyBuildInOneLayout) {
  world.options.bisect.layouts = 1;
  world.change(5, "alpha", 1.2);
  world.change_layout(8, "alpha", 1 / 1.2);
  EXPECT_EQ(bisect().outcome, BisectionOutcome::not_reproduced);
  EXPECT_THAT(built(), testing::UnorderedElementsAre(0, 8));
}

TEST_F(BisectorTest, HasTheSameResultWhereverItIsKilledWhileTheEndsAreRebuilt) {
  world.change(5, "alpha", 1.2);
  world.change_layout(8, "alpha", 1 / 1.2);
  world.parts->rounds.noise = 0;
  auto const asked = ask(world.request(0, 8));
  int kills = 0;
  for (int rounds = 1;; ++rounds) {
    world.parts->rounds.before = [left =
                                      std::min(rounds, 2)](measure::RoundKey const& key) mutable {
      bool const is_of_ends = key.campaign.name.ends_with("/rebuilt/ends");
      if (is_of_ends && --left == 0) throw std::runtime_error("killed");
    };
    try {
      run(world.parts->store.bisections().find(asked.id).value()).value();
      break;
    } catch (std::runtime_error const&) {
      ++kills;
      world.restart();
      world.parts->rounds.noise = 0;
    }
  }
  EXPECT_EQ(kills, 6) << "as often as there were pairs";
  auto const done = world.parts->store.bisections().find(asked.id).value();
  EXPECT_EQ(done.outcome, bisect().outcome);
}

TEST_F(BisectorTest, LetsAnAnswerStandWhereTheEndsCannotBeBuiltAgain) {
  world.change_layout(9, "alpha", 1);
  world.parts->builder.breaks_other_layouts = true;
  EXPECT_EQ(bisect().outcome, BisectionOutcome::not_reproduced);
  EXPECT_THAT(built(), testing::UnorderedElementsAre(0, 8));
}

TEST_F(BisectorTest, LetsAnAnswerStandWhereTheRecipeDoesNotSayWhichLayoutItMakes) {
  world.change_layout(9, "alpha", 1);
  world.parts->builder.forgets_layouts = true;
  EXPECT_EQ(bisect().outcome, BisectionOutcome::not_reproduced);
  EXPECT_THAT(built(), testing::UnorderedElementsAre(0, 8));
}

TEST_F(BisectorTest, FailsWhenAnEndCannotBeBuilt) {
  world.parts->builder.broken = {world.sha(8)};
  auto const failed = bisect();

  EXPECT_EQ(failed.state, BisectionState::failed);
  EXPECT_THAT(failed.failure,
              AllOf(HasSubstr("end " + world.sha(8).hex), HasSubstr("exit status 125")));
}

TEST_F(BisectorTest, FailsWhenTheRecipeFailsForAnEndForADay) {
  world.parts->builder.fails_now = {world.sha(8)};
  auto const asked = ask(world.request(0, 8));
  ASSERT_FALSE(run(asked));
  world.clock.time += std::chrono::hours{23};
  ASSERT_FALSE(run(world.parts->store.bisections().find(asked.id).value()));
  world.clock.time += std::chrono::hours{1};
  auto const failed = go_on(asked);

  EXPECT_EQ(failed.state, BisectionState::failed);
  EXPECT_THAT(failed.failure,
              AllOf(HasSubstr("end " + world.sha(8).hex), HasSubstr("exit status 1")));
}

TEST_F(BisectorTest, NamesAnImprovementThatAnOlderEndLacks) {
  world.change(4, "alpha", 1 / 1.2);
  auto const done = bisect(7, 2);

  EXPECT_EQ(done.state, BisectionState::done);
  EXPECT_EQ(done.outcome, BisectionOutcome::culprit);
  EXPECT_EQ(done.ancestry, (Ancestry{world.sha(2), 5, 0}));
  ASSERT_THAT(done.findings, SizeIs(1));
  auto const& finding = done.findings[0];
  EXPECT_EQ(culprit_of(finding), 4);
  EXPECT_EQ(finding.missing, 1);
  EXPECT_EQ(finding.effects.at(0).proof->verdict, Verdict::regression);
  EXPECT_FALSE(finding.effects.at(0).revert_check);
  EXPECT_THAT(finding.no_revert_check, HasSubstr("does not have this commit"));
  auto const stored = world.parts->store.bisections().find(done.id).value();
  EXPECT_EQ(stored.ancestry, done.ancestry);
  EXPECT_EQ(stored.findings.at(0).missing, 1);
}

TEST_F(BisectorTest, GoesOnAlongCommitsThatTheEndLacks) {
  world.change(4, "alpha", 1 / 1.2);
  auto const asked = ask(world.request(7, 2));
  int rounds = 0;
  world.parts->rounds.before = [&](measure::RoundKey const&) {
    if (++rounds == 3) throw std::runtime_error("killed");
  };
  EXPECT_THROW(run(asked), std::runtime_error);
  world.restart();
  auto const done = run(world.parts->store.bisections().find(asked.id).value()).value();
  EXPECT_EQ(culprit_of(done.findings.at(0)), 4);
}

TEST_F(BisectorTest, FindsNothingMissingWhereTheEndIsNewer) {
  world.change(5, "alpha", 1.2);
  auto const done = bisect();
  EXPECT_EQ(done.ancestry, std::nullopt);
  EXPECT_EQ(done.findings.at(0).missing, 0);
  EXPECT_EQ(done.findings.at(0).merged, 0);
}

/// A side branch of three commits left the trunk after commit 3. Builds of `slow` take longer.
class BisectorOnASideBranch : public BisectorTest {
 protected:
  BisectorOnASideBranch() : side{world.trunk.branch_off(3, 3)} {
    world.parts->rounds.level = [this](Series const&, Build const& build) {
      return slow.contains(build.manifest.commit) ? 1.2 : 1.0;
    };
  }

  Bisection bisect_from(CommitSha const& start, CommitSha const& end) {
    auto request = world.request(0, 8);
    request.start = start;
    request.end = end;
    return run(ask(request)).value();
  }

  std::vector<CommitSha> side;
  std::set<CommitSha> slow;
};

TEST_F(BisectorOnASideBranch, NamesACulpritOfTheBranch) {
  slow = {side[1], side[2]};
  auto const done = bisect_from(world.sha(8), side.back());

  EXPECT_EQ(done.outcome, BisectionOutcome::culprit);
  EXPECT_EQ(done.ancestry, (Ancestry{world.sha(3), 5, 3}));
  ASSERT_THAT(done.findings, SizeIs(1));
  EXPECT_EQ(done.findings[0].suspects.front().sha, side[1]);
  EXPECT_EQ(done.findings[0].missing, 0);
  EXPECT_EQ(done.findings[0].effects.at(0).revert_check.value().verdict, Verdict::improvement);
}

TEST_F(BisectorOnASideBranch, NamesAnImprovementThatTheBranchLacks) {
  slow = {world.sha(3), world.sha(4), side[0], side[1], side[2]};
  auto const done = bisect_from(world.sha(8), side.back());

  EXPECT_EQ(done.outcome, BisectionOutcome::culprit);
  ASSERT_THAT(done.findings, SizeIs(1));
  EXPECT_EQ(culprit_of(done.findings[0]), 5);
  EXPECT_EQ(done.findings[0].missing, 1);
}

TEST_F(BisectorOnASideBranch, SaysHowManyCommitsACulpritMerged) {
  world.trunk.merge(side.back());
  slow = {world.sha(9)};
  auto const done = bisect_from(world.sha(0), world.sha(9));

  EXPECT_EQ(culprit_of(done.findings.at(0)), 9);
  EXPECT_EQ(done.findings[0].merged, 3);
  EXPECT_EQ(done.ancestry, std::nullopt);
  EXPECT_EQ(world.parts->store.bisections().find(done.id)->findings.at(0).merged, 3);
}

/// The branch was merged: commit 9.
class BisectorIntoAMerge : public BisectorOnASideBranch {
 protected:
  BisectorIntoAMerge() { world.trunk.merge(side.back()); }

  /// Returns the only waiting bisection.
  Bisection queued() {
    auto const waiting = world.parts->store.bisections().unfinished();
    EXPECT_THAT(waiting, SizeIs(1));
    return waiting.at(0);
  }

  bool is_any_queued() { return !world.parts->store.bisections().unfinished().empty(); }
};

TEST_F(BisectorIntoAMerge, NamesTheCommitThatCameWithIt) {
  slow = {side[1], side[2], world.sha(9)};
  auto const outer = bisect_from(world.sha(0), world.sha(9));
  EXPECT_EQ(culprit_of(outer.findings.at(0)), 9);
  auto const asked = queued();
  EXPECT_EQ(asked.inside, (SearchedMerge{outer.id, world.sha(9), 3}));
  EXPECT_EQ(asked.request.start, world.sha(3));
  EXPECT_EQ(asked.request.end, side.back());
  EXPECT_EQ(asked.request.series, outer.request.series);
  EXPECT_EQ(asked.request.threshold, outer.request.threshold);
  auto const done = run(asked).value();

  EXPECT_EQ(done.outcome, BisectionOutcome::culprit);
  EXPECT_EQ(done.findings.at(0).suspects.front().sha, side[1]);
  EXPECT_EQ(words::summary(done).reason,
            "the change came with merge " + short_of(world.sha(9)) + ": culprit " +
                short_of(side[1]) + ", one of the 3 commits that it brought");
  EXPECT_EQ(world.parts->store.bisections().find(outer.id)->findings.at(0).searched_by, asked.id);
  EXPECT_FALSE(is_any_queued());
}

TEST_F(BisectorIntoAMerge, SaysThatItWasTheMergeItself) {
  slow = {world.sha(9)};
  bisect_from(world.sha(0), world.sha(9));
  auto const done = run(queued()).value();

  EXPECT_EQ(done.outcome, BisectionOutcome::not_reproduced);
  EXPECT_EQ(words::summary(done).headline, "The merge itself");
  EXPECT_FALSE(is_any_queued());
}

TEST_F(BisectorIntoAMerge, SearchesAMergeThatCameWithIt) {
  auto const nested = world.trunk.branch_off(side[0], 2);
  auto const merge = world.trunk.merge(side.back(), nested.back());
  world.trunk.merge(merge);
  slow = {nested[1], merge, world.sha(10)};
  bisect_from(world.sha(9), world.sha(10));
  auto const outer = run(queued()).value();
  EXPECT_EQ(outer.findings.at(0).suspects.front().sha, merge);
  auto const asked = queued();
  EXPECT_EQ(asked.inside, (SearchedMerge{outer.id, merge, 2}));
  EXPECT_EQ(asked.request.start, side[0]);
  auto const done = run(asked).value();

  EXPECT_EQ(done.findings.at(0).suspects.front().sha, nested[1]);
  EXPECT_FALSE(is_any_queued());
}

TEST_F(BisectorIntoAMerge, SearchesOneThatTheEndLacksTheOtherWayRound) {
  slow = {side[0], world.sha(3), world.sha(8)};
  auto const outer = bisect_from(world.sha(9), world.sha(8));
  EXPECT_EQ(outer.findings.at(0).missing, 1);
  auto const asked = queued();
  EXPECT_EQ(asked.request.start, side.back());
  EXPECT_EQ(asked.request.end, world.sha(3));
  auto const done = run(asked).value();

  EXPECT_EQ(done.findings.at(0).suspects.front().sha, side[1]);
  EXPECT_EQ(done.findings[0].missing, 1);
}

TEST_F(BisectorIntoAMerge, IsNotAskedForWithoutAMergeAsCulprit) {
  slow = {world.sha(8), world.sha(9)};
  bisect_from(world.sha(0), world.sha(9));
  EXPECT_FALSE(is_any_queued());
}

TEST_F(BisectorIntoAMerge, IsAskedForOnceWhereverTheOtherWasCutOff) {
  slow = {side[1], side[2], world.sha(9)};
  auto request = world.request(0, 8);
  request.end = world.sha(9);
  auto const asked = ask(request);
  world.parts->rounds.before = [](measure::RoundKey const& key) {
    if (key.campaign.name.find("/revert-check/") != std::string::npos ||
        key.campaign.name.find("/proof/") != std::string::npos)
      throw std::runtime_error("killed");
  };
  EXPECT_THROW(run(asked), std::runtime_error);
  EXPECT_EQ(queued().id, asked.id) << "it did not end";
  world.parts->rounds.before = [](measure::RoundKey const&) {
  };
  go_on(asked);
  EXPECT_EQ(queued().inside->outer, asked.id);
  EXPECT_EQ(go_on(asked).state, BisectionState::done);
  EXPECT_EQ(queued().inside->outer, asked.id);
}

TEST_F(BisectorOnASideBranch, SearchesThroughTheMergeThatBroughtTheStartIn) {
  world.trunk.merge(side.back());
  slow = {side[2], world.sha(9)};
  auto const done = bisect_from(side.front(), world.sha(9));

  EXPECT_EQ(done.findings.at(0).suspects.front().sha, side[2]);
  EXPECT_EQ(done.ancestry, std::nullopt);
}

/// A clone that has commits 0 to 8, of a trunk on which more land.
class BisectorInALaggingClone : public BisectorTest {
 protected:
  BisectorInALaggingClone() {
    auto const clone = (world.folder.path() / "clone.git").string();
    git("clone --quiet --bare '" + world.trunk.path() + "' '" + clone + "'");
    world.options.source.repository = clone;
    lab::Person const ada{"Ada Author", "ada@example.org", "ada"};
    auto const now = world.clock.time;
    lab::CommitText const text{"Commit 9 (#1009)", ada, now, ada, now};
    world.trunk.land({text});
    world.change(9, "alpha", 1.2);
    world.restart();
  }

  static void git(std::string const& arguments) {
    auto const command = "git " + arguments;
    if (std::system(command.c_str()) != 0) throw std::runtime_error{command};
  }

  /// Fetches into the clone, as another program does that keeps it up to date.
  void catch_up() const {
    git("-C '" + world.options.source.repository +
        "' fetch --quiet origin '+refs/heads/*:refs/heads/*'");
  }

  std::string expect_waits(Bisection const& asked) {
    auto const stopped = run(world.parts->store.bisections().find(asked.id).value());
    EXPECT_FALSE(stopped);
    if (stopped) return {};
    EXPECT_EQ(stopped.error().code, ErrorCode::unavailable);
    return stopped.error().message;
  }
};

TEST_F(BisectorInALaggingClone, FindsTheCulpritWhenItsCommitHasCome) {
  auto const asked = ask(world.request(0, 9));
  EXPECT_THAT(expect_waits(asked), HasSubstr(" are not all in the repository"));
  catch_up();
  auto const done = go_on(asked);
  EXPECT_EQ(culprit_of(done.findings.at(0)), 9);
  EXPECT_FALSE(world.parts->store.retries().find(retry_subject(asked.id)));
}

TEST_F(BisectorInALaggingClone, IsAskedForACommitLessAndLessOften) {
  auto const asked = ask(world.request(0, 9));
  expect_waits(asked);
  world.clock.time += std::chrono::minutes{20};
  EXPECT_THAT(expect_waits(asked), Not(HasSubstr("next attempt")));
  world.clock.time += std::chrono::minutes{5};
  EXPECT_THAT(expect_waits(asked), HasSubstr("; the next attempt is in 5 min"));
  catch_up();
  EXPECT_THAT(expect_waits(asked), HasSubstr("; the next attempt is in 5 min"));
  world.clock.time += std::chrono::minutes{5};
  EXPECT_EQ(go_on(asked).state, BisectionState::done);
}

TEST_F(BisectorInALaggingClone, FailsWhenACommitHasNotComeForADayOverRestarts) {
  auto const asked = ask(world.request(0, 9));
  for (int hour = 0; hour < 24; hour += 6) {
    expect_waits(asked);
    world.clock.time += std::chrono::hours{6};
    world.restart();
  }
  auto const failed = go_on(asked);
  EXPECT_EQ(failed.state, BisectionState::failed);
  EXPECT_THAT(failed.failure,
              AllOf(HasSubstr(world.sha(9).hex + " are not all in the repository"),
                    Not(HasSubstr(world.folder.path().string()))));
  EXPECT_EQ(run(ask(world.request(0, 8))).value().state, BisectionState::done) << "others go on";
}

TEST_F(BisectorInALaggingClone, CountsADayThatARestartCutsOffFromItsFirstAttempt) {
  auto const asked = ask(world.request(0, 9));
  expect_waits(asked);
  world.clock.time += std::chrono::hours{24};
  // As if killed between the last attempt and the bisection's new state.
  world.parts->store.retries().note(retry_subject(asked.id), world.clock.now(), "away");
  world.restart();
  EXPECT_EQ(go_on(asked).state, BisectionState::failed);
}

/// The history between the ends may come with `git fetch --unshallow`.
TEST_F(BisectorTest, WaitsForWhatAShallowCloneLacks) {
  auto const clone = (world.folder.path() / "shallow.git").string();
  auto const command =
      "git clone --quiet --bare --depth 2 'file://" + world.trunk.path() + "' '" + clone + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  world.options.source.repository = clone;
  world.restart();
  auto const asked = ask(world.request(0, 8));
  ASSERT_FALSE(run(asked));
  world.clock.time += std::chrono::hours{24};
  EXPECT_EQ(go_on(asked).state, BisectionState::failed);
}

TEST_F(BisectorTest, CountsNoAttemptOfAHostThatCanStartNoProgram) {
  world.change(5, "alpha", 1.2);
  world.parts->builder.host_failure =
      Error{ErrorCode::unavailable, "start git: Resource temporarily unavailable", true};
  auto const asked = ask(world.request(0, 8));
  ASSERT_FALSE(run(asked));
  world.clock.time += std::chrono::hours{24 * 7};
  auto const stopped = run(world.parts->store.bisections().find(asked.id).value());
  ASSERT_FALSE(stopped);
  EXPECT_TRUE(stopped.error().is_of_host);

  world.parts->builder.host_failure.reset();
  EXPECT_EQ(culprit_of(go_on(asked).findings.at(0)), 5);
}

TEST_F(BisectorTest, FailsWithoutPathsOrGitsWordsWhereTheRepositoryIsGoneForADay) {
  auto const asked = ask(world.request(0, 8));
  std::filesystem::rename(world.trunk.path(), world.trunk.path() + ".away");
  ASSERT_FALSE(run(asked));
  world.clock.time += std::chrono::hours{24};
  auto const failed = go_on(asked);

  EXPECT_EQ(failed.state, BisectionState::failed);
  EXPECT_THAT(failed.failure, Not(HasSubstr(world.folder.path().string())));
  EXPECT_THAT(failed.failure, Not(HasSubstr("git ")));
}

TEST_F(BisectorTest, FailsOnAFleetThatIsNotConfigured) {
  auto request = world.request(0, 8);
  request.series[0].fleet = "gpu";
  EXPECT_EQ(run(ask(request)).value().failure, "no fleet is named gpu");
}

TEST_F(BisectorTest, WeighsCommitsByTheirPaths) {
  world.change(5, "alpha", 1.2);
  auto request = world.request(0, 8);
  request.prior = Prior::paths;
  EXPECT_EQ(culprit_of(run(ask(request)).value().findings.at(0)), 5);
}

TEST_F(BisectorTest, WeighsAllCommitsAlikeInATreelessClone) {
  auto const clone = (world.folder.path() / "treeless.git").string();
  auto const trunk = world.trunk.path();
  auto const commands = "git -C '" + trunk + "' config uploadpack.allowFilter true && " +
                        "git clone --quiet --bare --filter=tree:0 'file://" + trunk + "' '" +
                        clone + "'";
  ASSERT_EQ(std::system(commands.c_str()), 0);
  world.options.source.repository = clone;
  world.restart();
  world.change(5, "alpha", 1.2);
  auto request = world.request(0, 8);
  request.prior = Prior::paths;
  EXPECT_EQ(culprit_of(run(ask(request)).value().findings.at(0)), 5);
}

TEST_F(BisectorTest, GoesOnWhenTheFleetIsBack) {
  world.change(5, "alpha", 1.2);
  world.parts->rounds.out_of_service = {"local"};
  auto const asked = ask(world.request(0, 8));
  auto const stopped = run(asked);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::unavailable);
  EXPECT_EQ(world.parts->store.bisections().find(asked.id)->state, BisectionState::running);

  world.parts->rounds.out_of_service.clear();
  auto const done = run(world.parts->store.bisections().find(asked.id).value()).value();
  EXPECT_EQ(culprit_of(done.findings.at(0)), 5);
}

TEST_F(BisectorTest, StartsOverWhenTheRecipeChanges) {
  world.change(5, "alpha", 1.2);
  auto const asked = ask(world.request(0, 8));
  int rounds = 0;
  world.parts->rounds.before = [&](measure::RoundKey const&) {
    if (++rounds == 3) throw std::runtime_error("killed");
  };
  EXPECT_THROW(run(asked), std::runtime_error);
  world.restart();
  world.parts->builder.contents = "recipe 2\n";
  auto const done = run(world.parts->store.bisections().find(asked.id).value()).value();

  EXPECT_EQ(culprit_of(done.findings.at(0)), 5);
  EXPECT_EQ(done.recipe.value, 2);
  EXPECT_THAT(built(), Contains(0)) << "its start is built again, too";
}

TEST_F(BisectorTest, BeginsAgainWhenTheRecipeIsAnotherBeforeItsLayoutsAreBuilt) {
  world.change_layout(9, "alpha", 1);
  world.change(5, "alpha", 1.2);
  auto const asked = ask(world.request(0, 8));
  world.parts->rounds.before = [&](measure::RoundKey const& key) {
    if (key.campaign.name.find("proof") != std::string::npos)
      world.parts->builder.contents = "recipe 2\n";
  };
  auto const stopped = run(asked);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::unavailable);

  auto const done = run(world.parts->store.bisections().find(asked.id).value()).value();
  EXPECT_EQ(culprit_of(done.findings.at(0)), 5);
  EXPECT_EQ(world.parts->store.recipes().find(done.recipe)->contents, "recipe 2\n");
}

TEST_F(BisectorTest, IsNotBegunAfterItWasCancelled) {
  auto const asked = ask(world.request(0, 8));
  world.parts->store.bisections().set_state(asked.id, BisectionState::cancelled);

  EXPECT_EQ(run(asked).value().state, BisectionState::cancelled);
  EXPECT_THAT(built(), IsEmpty());
}

TEST_F(BisectorTest, MeasuresNoArtifactWithABuildOfTheRecipe) {
  world.change(5, "alpha", 1.2);
  world.parts->builder.artifacts = {world.sha(0)};
  auto const done = bisect();

  EXPECT_EQ(culprit_of(done.findings.at(0)), 5);
  EXPECT_THAT(built(), Contains(0)) << "the start is built, too";
}

/// Nightlies of commits 0, 3, 6 and 8 were delivered.
class BisectorWithPackages : public BisectorTest {
 protected:
  void deliver(std::size_t commit, double ratio = 1) {
    Nightly nightly;
    nightly.date = "2026-01-0" + std::to_string(commit + 1);
    nightly.commit = world.sha(commit);
    nightly.prefix = world.deliver(nightly.date, commit, ratio).string();
    world.parts->store.nightlies().announce(nightly);
  }
};

TEST_F(BisectorWithPackages, BuildsCommitsOfTheNightInWhichSomethingChanged) {
  for (auto const commit : {0U, 3U, 6U, 8U})
    deliver(commit);
  world.change(5, "alpha", 1.2);
  auto const done = bisect();

  EXPECT_EQ(culprit_of(done.findings.at(0)), 5);
  EXPECT_EQ(done.steps.front().stage, BisectionStage::nightlies);
  auto inner = built();
  std::erase_if(inner, [](std::size_t number) { return number == 0 || number == 8; });
  EXPECT_THAT(inner, Each(AllOf(Ge(3U), Le(6U))));
}

TEST_F(BisectorWithPackages, NamesTheNightThatAnOlderEndLacksWhereNoCommitCanBeBuilt) {
  for (auto const commit : {3U, 6U, 8U})
    deliver(commit);
  world.options.source.recipe.clear();
  world.change(5, "alpha", 1 / 1.2);
  auto const done = bisect(8, 3);

  EXPECT_EQ(done.outcome, BisectionOutcome::range);
  ASSERT_THAT(done.findings, SizeIs(1));
  auto const& finding = done.findings[0];
  ASSERT_THAT(finding.suspects, SizeIs(3));
  EXPECT_EQ(finding.suspects.front().sha, world.sha(6));
  EXPECT_EQ(finding.suspects.back().sha, world.sha(4));
  EXPECT_EQ(finding.missing, 3);
}

TEST_F(BisectorWithPackages, StopsWhereNoNightChangedAnything) {
  for (auto const commit : {0U, 3U, 8U})
    deliver(commit);
  EXPECT_EQ(bisect().outcome, BisectionOutcome::not_reproduced);
  EXPECT_THAT(built(), IsEmpty());
}

TEST_F(BisectorWithPackages, BlamesNoCommitForWhatOnlyAPackageChanged) {
  deliver(0);
  deliver(8, 1.2);
  auto const done = bisect();

  EXPECT_EQ(done.outcome, BisectionOutcome::environment);
  ASSERT_TRUE(done.packages);
  EXPECT_EQ(done.packages->changes.at(0).comparison.verdict, Verdict::regression);
}

TEST_F(BisectorWithPackages, AsksThePackageThatTheIncidentIsAbout) {
  deliver(0);
  deliver(8, 1.2);
  auto const nightlies = world.parts->store.nightlies().all();
  auto const incident = world.parts->store.incidents().open(
      nightlies.at(0).id, nightlies.at(1).id, world.clock.now());
  Nightly again;
  again.date = "2026-01-10";
  again.commit = world.sha(8);
  again.prefix = world.deliver(again.date, 8).string();
  world.parts->store.nightlies().announce(again);

  auto asked =
      world.parts->store.bisections().ask(world.request(0, 8), incident.id, world.clock.now());
  EXPECT_EQ(run(std::move(asked)).value().outcome, BisectionOutcome::environment);
}

TEST_F(BisectorWithPackages, SkipsAPackageThatIsGone) {
  for (auto const commit : {0U, 3U, 6U, 8U})
    deliver(commit);
  std::filesystem::remove_all(world.folder.path() / "delivered" / "2026-01-04");
  world.change(5, "alpha", 1.2);
  EXPECT_EQ(culprit_of(bisect().findings.at(0)), 5);
}

TEST_F(BisectorWithPackages, GoesOnWithoutAPackageThatWentWhileItStoodStill) {
  for (auto const commit : {0U, 3U, 6U, 8U})
    deliver(commit);
  world.change(5, "alpha", 1.2);
  auto const asked = ask(world.request(0, 8));
  auto const is_inner = [&](CommitSha const& commit) {
    return commit == world.sha(3) || commit == world.sha(6);
  };
  auto const measured_inner = [&] {
    auto const steps = world.parts->store.bisections().find(asked.id)->steps;
    return std::ranges::any_of(steps, [&](BisectionStep const& step) {
      return std::ranges::any_of(step.commits, is_inner);
    });
  };
  world.parts->rounds.before = [&](measure::RoundKey const&) {
    if (measured_inner()) throw std::runtime_error("killed");
  };
  EXPECT_THROW(run(asked), std::runtime_error);
  for (auto const* const date : {"2026-01-04", "2026-01-07"})
    std::filesystem::remove_all(world.folder.path() / "delivered" / date);
  world.restart();
  auto const done = run(world.parts->store.bisections().find(asked.id).value()).value();
  EXPECT_EQ(culprit_of(done.findings.at(0)), 5);
}

}  // namespace
}  // namespace torchwatch::bisection
