#include "daemon/nightly/pipeline.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "config/suites.h"
#include "tests/captured_log.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::nightly {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class PipelineTest : public testing::Test {
 protected:
  /// The nightlies of two days on the branch, with commits 0 to 8 between them.
  void release_two() {
    world.release("2026-01-01", 0);
    world.release("2026-01-02", 8);
  }

  /// Blocks all reports until the returned file is removed.
  std::filesystem::path block_reports() const {
    auto reports = std::filesystem::path{world.options.state_dir} / "reports";
    std::filesystem::create_directories(world.options.state_dir);
    std::ofstream{reports} << "no directory";
    return reports;
  }

  /// A nightly with an incident whose bisection had to wait. A user pauses or cancels it before the
  /// next pass.
  void find_and_steer(BisectionState state) {
    release_two();
    world.change(5, "alpha", 1.2);
    world.parts->rounds.before = [&](measure::RoundKey const& key) {
      if (key.campaign.name.starts_with("bisect/")) world.parts->rounds.out_of_service = {"local"};
    };
    ASSERT_FALSE(world.pass());
    ASSERT_TRUE(world.parts->queue.steer(BisectionId{1}, state));
    world.parts->rounds.before = [](measure::RoundKey const&) {
    };
    world.parts->rounds.out_of_service.clear();
    ASSERT_TRUE(world.pass());
  }

  /// A nightly with an incident. A user requests a second bisection before it is reported.
  void find_and_ask_again() {
    release_two();
    world.change(5, "alpha", 1.2);
    world.parts->rounds.before = [&](measure::RoundKey const& key) {
      if (!key.campaign.name.starts_with("profile/")) return;
      auto bisections = world.parts->store.bisections();
      auto const own = bisections.all_in_brief().at(0);
      if (own.id == BisectionId{1}) bisections.ask(own.request, own.incident, world.clock.now());
    };
    ASSERT_TRUE(world.pass());
  }

  /// Runs the queued bisections to their end.
  void search() {
    auto task = [&]() -> boost::asio::awaitable<int> {
      world.parts->queue.start();
      co_await world.parts->queue.join();
      co_return 0;
    };
    world.run(task());
  }

  std::vector<SeriesChange> verdicts() {
    return world.parts->store.incidents().verdicts(world.newest().id);
  }

  std::optional<Incident> incident() {
    return world.parts->store.incidents().of_nightly(world.newest().id);
  }

  static std::string text_of(std::string const& file) {
    std::ostringstream text;
    text << std::ifstream{file}.rdbuf();
    return text.str();
  }

  fakes::World world;
};

TEST_F(PipelineTest, HasNothingToDoWithoutANightly) {
  world.release("2026-01-01", 0);
  world.options.feed.backlog = 0;
  EXPECT_TRUE(world.pass());
  EXPECT_THAT(world.nightlies(), IsEmpty());
}

TEST_F(PipelineTest, MeasuresTheFirstNightlyAlone) {
  world.release("2026-01-01", 0);
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_FALSE(world.newest().baseline);
  EXPECT_THAT(world.parts->store.jobs().of(Campaign::of(world.newest().id)), SizeIs(4));
}

TEST_F(PipelineTest, FindsNothingInAQuietNight) {
  release_two();
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_TRUE(world.newest().baseline);
  EXPECT_FALSE(incident());
}

TEST_F(PipelineTest, TakesARegressionFromTheFeedToTheReport) {
  release_two();
  world.change(5, "alpha", 1.2);
  world.change(3, "beta", 1.1, Metric::cmem);
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::done);
  ASSERT_TRUE(incident());
  EXPECT_THAT(incident()->changes, SizeIs(2));
  auto const bisections = world.parts->store.bisections().of_incident(incident()->id);
  ASSERT_THAT(bisections, SizeIs(1));
  EXPECT_THAT(bisections[0].findings, SizeIs(2));
  EXPECT_THAT(text_of(incident()->report),
              AllOf(HasSubstr(short_of(world.sha(5))), HasSubstr("aten::mm")));
}

TEST_F(PipelineTest, ReportsACulpritThatTrunkHasRevertedWithTheRevert) {
  release_two();
  world.change(5, "alpha", 1.2);
  world.land_revert_of(5);
  ASSERT_TRUE(world.pass());

  ASSERT_TRUE(incident());
  auto const report = text_of(incident()->report);
  auto const first_lines = report.substr(0, report.find("| benchmark |"));
  EXPECT_THAT(first_lines,
              AllOf(HasSubstr("**Already reverted on trunk by"),
                    HasSubstr(world.sha(9).hex),
                    HasSubstr(world.sha(5).hex)));
}

TEST_F(PipelineTest, BringsAnIncidentBackWhoseCulpritLandsAgain) {
  release_two();
  world.change(5, "alpha", 1.2);
  ASSERT_TRUE(world.pass());
  auto const first = incident().value();
  world.land_revert_of(5);
  world.change(9, "alpha", 1 / 1.2);
  world.release("2026-01-03", 9);
  ASSERT_TRUE(world.pass());
  EXPECT_FALSE(incident());
  EXPECT_EQ(world.parts->store.incidents().find(first.id)->state, IncidentState::fixed);

  world.land("Reland \"Commit 5 (#1005)\" (#1100)");
  world.change(10, "alpha", 1.2);
  world.land("Commit 11 (#1011)");
  world.release("2026-01-04", 11);
  ASSERT_TRUE(world.pass());

  ASSERT_TRUE(incident());
  EXPECT_EQ(incident()->id, first.id);
  EXPECT_EQ(incident()->state, IncidentState::returned);
  EXPECT_THAT(world.parts->store.incidents().all(), SizeIs(1));
  auto const bisections = world.parts->store.bisections().of_incident(first.id);
  ASSERT_THAT(bisections, SizeIs(2));
  EXPECT_EQ(bisections[1].findings.at(0).suspects.front().sha, world.sha(10));
  EXPECT_EQ(bisections[1].findings.at(0).reverted_by, std::nullopt);
}

TEST_F(PipelineTest, ReportsANightlyOfAnOlderCommitWithWhatItLacks) {
  world.change(4, "alpha", 1 / 1.3);
  world.release("2026-01-01", 1);
  ASSERT_TRUE(world.pass());
  world.release("2026-01-02", 7);
  ASSERT_TRUE(world.pass());
  world.release("2026-01-03", 2);
  ASSERT_TRUE(world.pass());

  ASSERT_TRUE(incident());
  auto const bisections = world.parts->store.bisections().of_incident(incident()->id);
  ASSERT_THAT(bisections, SizeIs(1));
  EXPECT_EQ(bisections[0].state, BisectionState::done);
  auto const report = text_of(incident()->report);
  auto const first_lines = report.substr(0, report.find("| benchmark |"));
  EXPECT_THAT(first_lines,
              AllOf(HasSubstr("**Built from an older commit:** [`" + short_of(world.sha(2)) +
                              "..." + short_of(world.sha(7)) + "`]"),
                    HasSubstr(" (5 commits).")));
  EXPECT_THAT(report, HasSubstr("**Missing improvement: [`" + short_of(world.sha(4)) + "`]"));
  EXPECT_THAT(report, Not(HasSubstr(world.folder.path().string())));
}

TEST_F(PipelineTest, RecordsAnImprovementOnlyInTheVerdicts) {
  release_two();
  world.change(5, "alpha", 0.8, Metric::cmem);
  ASSERT_TRUE(world.pass());
  EXPECT_FALSE(incident());
}

TEST_F(PipelineTest, OpensNoIncidentForWhatIsMuted) {
  release_two();
  world.change(5, "alpha", 1.2);
  Ruling mute;
  mute.kind = RulingKind::mute;
  mute.series.benchmark = world.series("alpha").benchmark;
  mute.who = "ada";
  mute.why = "known";
  mute.given_at = world.clock.now();
  world.parts->store.rulings().give(mute);
  ASSERT_TRUE(world.pass());

  EXPECT_FALSE(incident());
  EXPECT_TRUE(verdicts().at(0).muted);
}

TEST_F(PipelineTest, ReportsAnIncidentThatCannotBeBisected) {
  world.deliver("2026-01-01", 0);
  world.deliver("2026-01-02", 8);
  world.change(5, "alpha", 1.2);
  world.options.source.repository.clear();
  ASSERT_TRUE(world.pass());

  ASSERT_TRUE(incident());
  EXPECT_THAT(world.parts->store.bisections().all_in_brief(), IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(incident()->report));
}

TEST_F(PipelineTest, FailsANightlyThatCannotBeBuiltAndSaysSo) {
  release_two();
  world.parts->builder.broken = {world.sha(8)};
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::failed);
  EXPECT_EQ(world.newest().failure, "recipe: exit status 125");
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::nightly_failed));

  world.release("2026-01-03", 7);
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.alarms(), IsEmpty());
}

TEST_F(PipelineTest, FailsANightlyOfWhichNothingCouldBeMeasured) {
  release_two();
  for (auto const* const model : {"alpha", "beta"})
    world.parts->rounds.failures[{model, world.sha(8)}] = JobError::timeout;
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::failed);
  EXPECT_EQ(world.newest().failure,
            "none of 4 jobs gave a result; the first: timeout, the script says so");
}

TEST_F(PipelineTest, FailsADeliveredNightlyWithoutAReadableBuild) {
  auto const prefix = world.deliver("2026-01-01", 0);
  Nightly nightly;
  nightly.date = "2026-01-01";
  nightly.commit = world.sha(0);
  nightly.prefix = prefix.string();
  world.parts->store.nightlies().announce(nightly);
  std::filesystem::remove(prefix / "build.json");
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::failed);
  EXPECT_THAT(world.newest().failure, HasSubstr("build.json: No such file or directory"));
}

TEST_F(PipelineTest, GivesUpANightlyAfterADayWithoutItsCommit) {
  world.release("2026-01-01", 0);
  ASSERT_TRUE(world.pass());
  world.trunk.release("2026-01-02", CommitSha{std::string(40, 'f')});
  world.clock.time += std::chrono::hours{24};
  EXPECT_FALSE(world.pass()) << "it may not have been pushed yet";
  EXPECT_EQ(world.newest().state, NightlyState::announced);

  world.clock.time += std::chrono::hours{24};
  ASSERT_TRUE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::failed);
  EXPECT_THAT(world.newest().failure, HasSubstr(std::string(40, 'f')));
}

TEST_F(PipelineTest, JudgesANightlyWhoseRecipeFailedOnce) {
  release_two();
  world.parts->builder.failures_left[world.sha(8)] = 1;
  auto const stopped = world.pass();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::unavailable);
  EXPECT_EQ(stopped.error().message, "recipe: exit status 1");
  EXPECT_EQ(world.newest().state, NightlyState::announced);

  ASSERT_TRUE(world.pass()) << "the second attempt follows at once";
  EXPECT_EQ(world.newest().state, NightlyState::done);
}

TEST_F(PipelineTest, WaitsLongerAndLongerForARecipeThatFails) {
  world.release("2026-01-01", 0);
  world.parts->builder.fails_now = {world.sha(0)};
  ASSERT_FALSE(world.pass());
  world.clock.time += std::chrono::minutes{20};
  ASSERT_FALSE(world.pass());
  EXPECT_THAT(world.parts->builder.tried, SizeIs(2));

  world.clock.time += std::chrono::minutes{5};
  auto const early = world.pass();
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().message, "recipe: exit status 1; the next attempt is in 5 min");
  EXPECT_THAT(world.parts->builder.tried, SizeIs(2));

  world.clock.time += std::chrono::minutes{5};
  ASSERT_FALSE(world.pass());
  EXPECT_THAT(world.parts->builder.tried, SizeIs(3));
}

TEST_F(PipelineTest, FailsANightlyAloneWhoseRecipeFailsForADayOfManyProcesses) {
  world.release("2026-01-01", 0);
  ASSERT_TRUE(world.pass());
  world.release("2026-01-02", 6);
  for (auto const wait : {0, 1, 22}) {
    world.clock.time += std::chrono::hours{wait};
    world.restart();
    world.parts->builder.fails_now = {world.sha(6)};
    EXPECT_FALSE(world.pass());
    EXPECT_EQ(world.newest().state, NightlyState::announced);
  }
  world.release("2026-01-03", 8);
  ASSERT_TRUE(world.pass()) << "a day after the first attempt";

  EXPECT_EQ(world.nightlies()[1].state, NightlyState::failed);
  EXPECT_EQ(world.nightlies()[1].failure, "recipe: exit status 1");
  EXPECT_EQ(world.newest().state, NightlyState::done);
}

TEST_F(PipelineTest, CountsNoDayOfABisectionOnAHostThatCanStartNoProgram) {
  world.deliver("2026-01-01", 0);
  world.deliver("2026-01-02", 8);
  world.change(5, "alpha", 1.2);
  world.parts->builder.host_failure =
      Error{ErrorCode::unavailable, "start git: Resource temporarily unavailable", true};
  EXPECT_FALSE(world.pass());
  world.clock.time += std::chrono::hours{25};
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::confirmed);

  world.parts->builder.host_failure.reset();
  ASSERT_TRUE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(world.parts->store.bisections().find(BisectionId{1})->outcome,
            BisectionOutcome::culprit);
}

TEST_F(PipelineTest, NamesACulpritWhoseRecipeFailedOnce) {
  release_two();
  world.change(5, "alpha", 1.2);
  world.parts->builder.failures_left[world.sha(5)] = 1;
  ASSERT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::confirmed);

  ASSERT_TRUE(world.pass());
  auto const bisections = world.parts->store.bisections().of_incident(incident()->id);
  EXPECT_EQ(bisections.at(0).findings.at(0).suspects.front().sha, world.sha(5));
}

TEST_F(PipelineTest, GoesOnAfterADayWithoutABisectionThatLacksBuilds) {
  release_two();
  world.change(4, "alpha", 1.2);
  world.parts->builder.fails_now = {world.sha(3), world.sha(4)};
  ASSERT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::confirmed);
  world.clock.time += std::chrono::hours{24};
  ASSERT_TRUE(world.pass()) << "one of the commits has been given up, the other has a day";
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(incident()->state, IncidentState::open);
  EXPECT_THAT(text_of(incident()->report), HasSubstr("No commit is known yet"));

  world.clock.time += std::chrono::hours{24};
  search();
  ASSERT_TRUE(world.pass());
  auto const bisections = world.parts->store.bisections().of_incident(incident()->id);
  EXPECT_EQ(bisections.at(0).outcome, BisectionOutcome::range);
  EXPECT_EQ(incident()->state, IncidentState::explained);
  EXPECT_THAT(text_of(incident()->report), Not(HasSubstr("No commit is known yet")));
}

/// Two nightlies; the second is a merge of three commits, the second of which made alpha slower.
class MergedNightlyTest : public PipelineTest {
 protected:
  MergedNightlyTest() {
    world.trunk.merge(side.back());
    std::set<CommitSha> const slow{side[1], side[2], world.sha(9)};
    world.parts->rounds.level = [slow](Series const& series, Build const& build) {
      bool const is_alpha = series.benchmark.model == "alpha" && series.metric == Metric::latency;
      return is_alpha && slow.contains(build.manifest.commit) ? 1.2 : 1.0;
    };
    world.release("2026-01-01", 0);
    world.release("2026-01-02", 9);
  }

  std::vector<Bisection> bisections() {
    return world.parts->store.bisections().of_incident(incident()->id);
  }

  std::vector<CommitSha> side = world.trunk.branch_off(3, 3);
};

TEST_F(MergedNightlyTest, IsReportedWithTheCommitThatCameWithTheMerge) {
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_THAT(world.parts->store.incidents().all(), SizeIs(1));
  auto const both = bisections();
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(both[1].inside, (SearchedMerge{both[0].id, world.sha(9), 3}));
  EXPECT_EQ(both[1].findings.at(0).suspects.front().sha, side[1]);
  EXPECT_THAT(
      text_of(incident()->report),
      AllOf(HasSubstr("it is a merge of 3 commits, searched by bisection 2"),
            HasSubstr("the change came with merge " + short_of(world.sha(9)) + ": culprit " +
                      short_of(side[1]) + ", one of the 3 commits that it brought")));
}

TEST_F(MergedNightlyTest, IsReportedWithoutACommitWhereTheBranchCannotBeBuiltForADay) {
  world.parts->builder.fails_now = {side.back()};
  ASSERT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::confirmed);
  world.clock.time += std::chrono::hours{24};
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::done);
  ASSERT_THAT(bisections(), SizeIs(2));
  EXPECT_EQ(bisections()[1].state, BisectionState::failed);
  EXPECT_THAT(text_of(incident()->report),
              AllOf(HasSubstr("searched in the 3 commits that it brought"),
                    HasSubstr("end " + side.back().hex + " is unbuildable")));
}

TEST_F(MergedNightlyTest, IsReportedWithoutASearchThatAUserCancels) {
  world.parts->rounds.before = [&](measure::RoundKey const& key) {
    if (key.campaign.name.starts_with("bisect/2/")) world.parts->rounds.out_of_service = {"local"};
  };
  ASSERT_FALSE(world.pass());
  ASSERT_TRUE(world.parts->queue.steer(BisectionId{2}, BisectionState::cancelled));
  world.parts->rounds.before = [](measure::RoundKey const&) {
  };
  world.parts->rounds.out_of_service.clear();
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::done);
  ASSERT_THAT(bisections(), SizeIs(2));
  EXPECT_THAT(text_of(incident()->report), HasSubstr("**Cancelled:** the change came with merge"));
}

/// A directory of builds with an additional entry that is always the newest.
class LatestEntryTest : public PipelineTest {
 protected:
  LatestEntryTest() { world.change(3, "alpha", 1.3); }

  /// Delivers a nightly, makes the newest entry a link to it or a copy of it, and makes a pass.
  void night(int day, std::size_t commit, bool is_link) {
    auto const date = "2026-01-0" + std::to_string(day);
    auto const latest = world.deliver(date, commit).parent_path() / "latest";
    std::filesystem::remove_all(latest);
    if (is_link)
      std::filesystem::create_directory_symlink(date, latest);
    else
      fakes::FakeBuilder::deliver(latest, world.sha(commit), date);
    ASSERT_TRUE(world.pass());
  }

  void expect_one_incident_of_the_third() {
    ASSERT_THAT(world.nightlies(), SizeIs(4));
    for (auto const& nightly : world.nightlies()) {
      EXPECT_EQ(nightly.state, NightlyState::done) << nightly.date << ": " << nightly.failure;
      EXPECT_EQ(std::filesystem::path{nightly.prefix}.filename(), nightly.date);
    }
    auto const incidents = world.parts->store.incidents().all();
    ASSERT_THAT(incidents, SizeIs(1));
    EXPECT_EQ(incidents[0].nightly, world.nightlies()[2].id);
  }
};

TEST_F(LatestEntryTest, LinkHidesNoRegressionAndBlamesNoOtherNightly) {
  for (int day = 1; day <= 4; ++day)
    night(day, static_cast<std::size_t>(day), true);
  expect_one_incident_of_the_third();
}

TEST_F(LatestEntryTest, CopyHidesNoRegressionAndBlamesNoOtherNightly) {
  for (int day = 1; day <= 4; ++day)
    night(day, static_cast<std::size_t>(day), false);
  expect_one_incident_of_the_third();
}

TEST_F(LatestEntryTest, CopyThatComesFirstGivesWayToTheDatedDirectory) {
  auto const latest = world.deliver("2026-01-01", 1).parent_path() / "latest";
  fakes::FakeBuilder::deliver(latest, world.sha(2), "2026-01-02");
  ASSERT_TRUE(world.pass());
  EXPECT_EQ(world.newest().prefix, latest.string());

  auto const dated = world.deliver("2026-01-02", 2);
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.nightlies(), SizeIs(2));
  EXPECT_EQ(world.newest().prefix, dated.string());
}

/// A directory whose builds are removed or overwritten while a nightly is judged.
class DeliveredBuildTest : public PipelineTest {
 protected:
  DeliveredBuildTest() {
    before_ = world.deliver("2026-01-01", 0);
    EXPECT_TRUE(world.pass());
    after_ = world.deliver("2026-01-02", 6);
    world.change(5, "alpha", 1.2);
  }

  /// The fleet is out of service from this round of the nightly on.
  void stop_at(int round) {
    world.parts->rounds.before = [this, round](measure::RoundKey const& key) {
      if (key.round >= round) world.parts->rounds.out_of_service = {"local"};
    };
    EXPECT_FALSE(world.pass());
    world.parts->rounds.before = [](measure::RoundKey const&) {
    };
    world.parts->rounds.out_of_service.clear();
  }

  void expect_failure(std::string const& reason) {
    EXPECT_TRUE(world.pass());
    EXPECT_EQ(world.newest().state, NightlyState::failed);
    EXPECT_THAT(world.newest().failure, HasSubstr(reason));
    world.deliver("2026-01-03", 8);
    EXPECT_TRUE(world.pass());
    EXPECT_EQ(world.newest().date, "2026-01-03");
    EXPECT_EQ(world.newest().state, NightlyState::done);
  }

  std::filesystem::path before_;
  std::filesystem::path after_;
};

TEST_F(DeliveredBuildTest, MayGoAwayBeforeItIsMeasured) {
  stop_at(0);
  ASSERT_EQ(world.newest().state, NightlyState::prepared);
  std::filesystem::remove_all(after_);
  expect_failure("the build of 2026-01-02 is no longer there: ");
}

TEST_F(DeliveredBuildTest, MayBeWrittenOverBeforeItIsConfirmed) {
  stop_at(world.options.decide.sweep_pairs);
  ASSERT_EQ(world.newest().state, NightlyState::screened);
  std::ofstream{after_ / "build.json"} << "rubbish";
  expect_failure("the build of 2026-01-02 is no longer there: ");
}

TEST_F(DeliveredBuildTest, MayBecomeAnotherCommits) {
  stop_at(world.options.decide.sweep_pairs);
  fakes::FakeBuilder::deliver(after_, world.sha(7));
  expect_failure("the build of 2026-01-02 is no longer there: ");
  EXPECT_THAT(world.nightlies()[1].failure, HasSubstr("found \"" + world.sha(7).hex));
}

TEST_F(PipelineTest, FailsAFirstNightlyThatBecomesAnotherCommitsWhileItIsMeasured) {
  auto const place = world.deliver("2026-01-01", 0);
  world.parts->rounds.before = [&](measure::RoundKey const&) {
    fakes::FakeBuilder::deliver(place, world.sha(7));
  };
  EXPECT_TRUE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::failed);
  EXPECT_THAT(world.newest().failure, HasSubstr("the build of 2026-01-01 is no longer there: "));
}

TEST_F(DeliveredBuildTest, MayBecomeAnotherCommitsWhileItIsConfirmed) {
  world.parts->rounds.before = [this](measure::RoundKey const& key) {
    if (key.round >= world.options.decide.sweep_pairs)
      fakes::FakeBuilder::deliver(after_, world.sha(7));
  };
  EXPECT_FALSE(world.pass());
  EXPECT_FALSE(incident());
  world.parts->rounds.before = [](measure::RoundKey const&) {
  };
  expect_failure("the build of 2026-01-02 is no longer there: ");
}

TEST_F(DeliveredBuildTest, IsMissedWhenNothingIsLeftToCompareWith) {
  fakes::FakeBuilder::deliver(before_, world.sha(7));
  ASSERT_TRUE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(world.newest().baseline, std::nullopt);
  EXPECT_THAT(world.alarms(), testing::Contains(AlarmKind::stale_baseline));
}

TEST_F(DeliveredBuildTest, MayGoAwayWhileItIsTheBaseline) {
  stop_at(world.options.decide.sweep_pairs);
  std::filesystem::remove_all(before_);
  expect_failure("the build of 2026-01-01 is no longer there: ");
}

TEST_F(PipelineTest, TakesTheBuildOfAnEarlierNightlyOfTheSameCommit) {
  world.release("2026-01-01", 0);
  ASSERT_TRUE(world.pass());
  world.release("2026-01-02", 0);
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.nightlies()[0].prefix, world.nightlies()[1].prefix);
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_THAT(world.parts->builder.made, SizeIs(1));
}

TEST_F(PipelineTest, MeasuresAloneWhenTheBaselinesBuildIsGone) {
  world.release("2026-01-01", 0);
  ASSERT_TRUE(world.pass());
  std::filesystem::remove_all(world.newest().prefix);
  world.release("2026-01-02", 8);
  ASSERT_TRUE(world.pass());

  EXPECT_FALSE(world.newest().baseline);
  EXPECT_EQ(world.newest().state, NightlyState::done);
}

TEST_F(PipelineTest, TakesUpANightAgainWhenTheFleetIsBack) {
  release_two();
  world.change(5, "alpha", 1.2);
  for (auto const* const campaign : {"nightly/2", "bisect/1/", "profile/1"}) {
    world.parts->rounds.before = [&](measure::RoundKey const& key) {
      if (key.campaign.name.starts_with(campaign)) world.parts->rounds.out_of_service = {"local"};
    };
    auto const stopped = world.pass();
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, ErrorCode::unavailable);
    EXPECT_NE(world.newest().state, NightlyState::done) << "what was not measured is not quiet";
    world.parts->rounds.out_of_service.clear();
  }
  world.parts->rounds.before = [](measure::RoundKey const&) {
  };
  ASSERT_TRUE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_TRUE(incident());
}

TEST_F(PipelineTest, ContinuesWithoutABisectionThatAUserCancelled) {
  find_and_steer(BisectionState::cancelled);

  EXPECT_EQ(world.newest().state, NightlyState::done);
}

TEST_F(PipelineTest, ReportsWithoutAPausedBisectionAndAddsItsResult) {
  find_and_steer(BisectionState::paused);
  EXPECT_EQ(world.newest().state, NightlyState::done);
  auto const report = incident()->report;
  EXPECT_THAT(text_of(report), HasSubstr("No commit is known yet"));

  world.release("2026-01-03", 8);
  ASSERT_TRUE(world.parts->queue.steer(BisectionId{1}, BisectionState::queued));
  search();
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(text_of(report), HasSubstr("Culprit: [`" + short_of(world.sha(5))));
}

TEST_F(PipelineTest, SaysThatASearchWasCancelledAfterItWasPaused) {
  find_and_steer(BisectionState::paused);
  auto const report = incident()->report;

  ASSERT_TRUE(world.parts->queue.steer(BisectionId{1}, BisectionState::cancelled));
  ASSERT_TRUE(world.pass());

  EXPECT_THAT(text_of(report), HasSubstr("**Cancelled.**"));
}

TEST_F(PipelineTest, AddsTheResultOfABisectionRequestedAfterTheReport) {
  release_two();
  world.change(5, "alpha", 1.2);
  ASSERT_TRUE(world.pass());
  auto bisections = world.parts->store.bisections();
  auto const first = bisections.find(BisectionId{1}).value();
  auto const second = bisections.ask(first.request, first.incident, world.clock.now());
  search();
  EXPECT_THAT(bisections.unreported(incident()->id), SizeIs(1));
  auto const reports = std::filesystem::path{incident()->report}.parent_path();
  std::filesystem::remove_all(reports);
  block_reports();
  ASSERT_TRUE(world.pass()) << "the incident itself is reported";
  EXPECT_THAT(bisections.unreported(incident()->id), IsEmpty());
  EXPECT_THAT(world.parts->store.outbox().unfinished(), SizeIs(1));
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::report_update_failed));

  std::filesystem::remove(reports);
  world.clock.time += std::chrono::hours{1};
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.parts->store.outbox().unfinished(), IsEmpty());
  EXPECT_THAT(world.alarms(), IsEmpty());
  auto const text = text_of(incident()->report);
  auto const once = text.find("Bisected from");
  EXPECT_NE(text.find("Bisected from", once + 1), std::string::npos) << text;
  EXPECT_EQ(second.id, BisectionId{2});
}

TEST_F(PipelineTest, ReportsAtOnceThoughAUsersBisectionGoesOn) {
  find_and_ask_again();
  EXPECT_THAT(
      text_of(incident()->report),
      AllOf(HasSubstr("Culprit: [`" + short_of(world.sha(5))), HasSubstr("has not finished yet")));

  search();
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(text_of(incident()->report), Not(HasSubstr("has not finished yet")));
}

TEST_F(PipelineTest, ReportsAnIncidentBeforeItsBisectionBegins) {
  release_two();
  world.change(5, "alpha", 1.2);
  std::string report;
  world.parts->rounds.before = [&](measure::RoundKey const& key) {
    bool const is_first = key.campaign.name.starts_with("bisect/") && report.empty();
    if (is_first) report = text_of(incident()->report);
  };
  ASSERT_TRUE(world.pass());

  EXPECT_THAT(report, AllOf(HasSubstr("alpha"), HasSubstr("No commit is known yet")));
}

TEST_F(PipelineTest, TriesAReportAgainThatCouldNotBeDelivered) {
  release_two();
  world.change(8, "alpha", 1.2);
  auto const reports = block_reports();
  auto const stopped = world.pass();
  ASSERT_FALSE(stopped);
  EXPECT_THAT(stopped.error().message, HasSubstr("write report"));
  EXPECT_EQ(world.newest().state, NightlyState::done);

  std::filesystem::remove(reports);
  world.clock.time += std::chrono::hours{1};
  ASSERT_TRUE(world.pass());
  EXPECT_TRUE(std::filesystem::exists(incident()->report));
}

TEST_F(PipelineTest, ReportsWhatItFoundThoughALaterNightCannotBeJudged) {
  release_two();
  world.change(8, "alpha", 1.2);
  auto const reports = block_reports();
  ASSERT_FALSE(world.pass());
  auto const found = world.newest().id;
  std::filesystem::remove(reports);
  world.release("2026-01-03", 8);
  world.parts->rounds.out_of_service = {"local"};
  ASSERT_FALSE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::prepared);
  EXPECT_EQ(world.parts->store.nightlies().find(found)->state, NightlyState::done);
  EXPECT_THAT(text_of(world.parts->store.incidents().of_nightly(found)->report),
              HasSubstr("alpha"));
}

TEST_F(PipelineTest, SweepsWithTheBaselineThatItBeganWith) {
  world.deliver("2026-01-01", 0);
  ASSERT_TRUE(world.pass());
  auto const first = world.newest().id;
  world.deliver("2026-01-03", 8);
  world.parts->rounds.out_of_service = {"local"};
  ASSERT_FALSE(world.pass());
  ASSERT_EQ(world.newest().baseline, first);
  world.deliver("2026-01-02", 4);
  world.parts->rounds.out_of_service.clear();
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().date, "2026-01-03");
  EXPECT_EQ(world.newest().baseline, first);
}

TEST_F(PipelineTest, MeasuresWithTheEarlierNightlyWhenTheBaselinesBuildIsGone) {
  for (auto const commit : {0U, 4U}) {
    world.deliver("2026-01-0" + std::to_string(commit + 1), commit);
    ASSERT_TRUE(world.pass());
  }
  auto const gone = world.newest();
  std::filesystem::remove_all(gone.prefix);
  world.deliver("2026-01-07", 8);
  ASSERT_TRUE(world.pass());

  ASSERT_TRUE(world.newest().baseline);
  EXPECT_EQ(world.parts->store.nightlies().find(*world.newest().baseline)->commit, world.sha(0));
}

TEST_F(PipelineTest, LeavesAVerdictMutedThoughTheNightIsConfirmedAgain) {
  release_two();
  world.change(5, "alpha", 1.2);
  world.change_layout(0, "beta", 1);
  world.options.decide.aa_rebuilds = 2;
  Ruling mute;
  mute.kind = RulingKind::mute;
  mute.series.benchmark = world.series("alpha").benchmark;
  mute.who = "ada";
  mute.why = "known";
  mute.given_at = world.clock.now();
  mute.until = world.clock.now() + std::chrono::hours{1};
  world.parts->store.rulings().give(mute);
  world.parts->rounds.before = [&](measure::RoundKey const& key) {
    if (key.campaign.name == Campaign::rebuilds(world.newest().id).name)
      world.parts->rounds.out_of_service = {"local"};
  };
  ASSERT_FALSE(world.pass());
  ASSERT_EQ(world.newest().state, NightlyState::screened);
  world.clock.time += std::chrono::hours{2};
  world.parts->rounds.before = [](measure::RoundKey const&) {
  };
  world.parts->rounds.out_of_service.clear();
  ASSERT_TRUE(world.pass());

  EXPECT_FALSE(incident());
  EXPECT_EQ(world.newest().state, NightlyState::done);
}

TEST_F(PipelineTest, SaysWhyAFeedCannotBeRead) {
  world.options.feed.path = "/nowhere";
  EXPECT_FALSE(world.pass());
}

TEST_F(PipelineTest, SkipsIncompleteCopiesInADirectory) {
  world.deliver("2026-01-01", 0);
  std::filesystem::create_directories(world.folder.path() / "delivered" / "2026-01-02");
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.nightlies(), SizeIs(1));
}

TEST_F(PipelineTest, SweepsEveryFleet) {
  config::FleetOptions gpu;
  gpu.name = "gpu";
  gpu.slots = 2;
  world.options.fleets.push_back(gpu);
  release_two();
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.parts->store.jobs().values_of(Campaign::of(world.newest().id),
                                                  world.options.decide.sweep_pairs),
              SizeIs(16));
}

/// A suite of a command next to the native one. It reports a throughput: ten milliseconds are 100
/// per second.
class SuitePipelineTest : public PipelineTest {
 protected:
  SuitePipelineTest() {
    world.options.suite.models = {"alpha"};
    auto& suite = world.options.suites.emplace_back();
    suite.name = suite.backend = "mine";
    suite.models = {"gpt"};
    suite.tests = {parse_test("run").value()};
    suite.metrics["test_pipeline_rate"].unit = "1/s";
    suite.metrics["test_pipeline_rate"].better = config::Better::higher;
    EXPECT_TRUE(config::declare_metrics(world.options));
    world.parts->rounds.finish = [](JobOutcome& outcome, Build const&) {
      if (outcome.key.benchmark.backend != "mine") return;
      double const rate = 1000 / outcome.values.at(Metric::latency).value;
      outcome.values.clear();
      outcome.values[parse_metric("test_pipeline_rate").value()] = {rate, {rate, rate}, {}};
    };
  }
};

TEST_F(SuitePipelineTest, DropOfAThroughputIsBisectedToItsCulprit) {
  release_two();
  world.change(5, "gpt", 1.2);
  ASSERT_TRUE(world.pass());

  auto const found = incident();
  ASSERT_TRUE(found);
  ASSERT_THAT(found->changes, SizeIs(1));
  auto const& [series, comparison, muted] = found->changes.front();
  EXPECT_EQ(name_of(series), "test_run[gpt-cpu-mine]_test_pipeline_rate");
  EXPECT_EQ(comparison.verdict, Verdict::regression);
  EXPECT_NEAR(comparison.ratio.value().ratio, 1 / 1.2, 0.03);
  EXPECT_FALSE(muted);
  EXPECT_THAT(text_of(found->report), HasSubstr(short_of(world.sha(5))));
}

TEST_F(SuitePipelineTest, RiseOfAThroughputIsNoRegression) {
  release_two();
  world.change(5, "gpt", 1 / 1.2);
  ASSERT_TRUE(world.pass());

  EXPECT_FALSE(incident());
  for (auto const& change : verdicts())
    EXPECT_NE(change.comparison.verdict, Verdict::regression) << name_of(change.series);
}

TEST_F(SuitePipelineTest, FleetSweepsTheSuitesThatItRuns) {
  world.options.fleets.front().suites = {"mine"};
  release_two();
  ASSERT_TRUE(world.pass());

  auto const jobs = world.parts->store.jobs().of(Campaign::of(world.newest().id));
  EXPECT_FALSE(jobs.empty());
  for (auto const& job : jobs)
    EXPECT_EQ(job.key.benchmark.backend, "mine");
}

TEST_F(SuitePipelineTest, ComparesABuildWithItselfInASuiteWithoutLatency) {
  world.options.fleets.front().suites = {"mine"};
  world.options.decide.aa_benchmarks = 1;
  release_two();
  ASSERT_TRUE(world.pass());
  EXPECT_FALSE(world.parts->store.jobs().of(Campaign::self_comparison(world.newest().id)).empty());
}

TEST_F(PipelineTest, KnowsTheNoiseOfASeriesFromTheNightsBefore) {
  world.parts->rounds.noise = 0.003;
  std::vector<int> rounds;
  for (std::size_t night = 0; night < 4; ++night) {
    world.release("2026-01-0" + std::to_string(night + 1), night);
    ASSERT_TRUE(world.pass());
    rounds.push_back(world.parts->rounds.measured[Campaign::of(world.newest().id).name]);
  }
  int const sweep = 2 * world.options.decide.sweep_pairs;
  EXPECT_EQ(rounds[0], sweep);
  EXPECT_GT(rounds[1], sweep) << "two pairs might have agreed by luck";
  EXPECT_EQ(rounds[2], sweep);
  EXPECT_EQ(rounds[3], sweep);
}

TEST_F(PipelineTest, IsSoonerSureOfMemoryThatRepeatedOnTheNightsBefore) {
  world.options.decide.sweep_pairs = 8;
  world.change(1, "alpha", 1.1, Metric::cmem);
  world.change(5, "alpha", 1.1, Metric::cmem);
  std::map<std::size_t, int> pairs;
  for (std::size_t night = 0; night < 6; ++night) {
    world.release("2026-01-0" + std::to_string(night + 1), night);
    ASSERT_TRUE(world.pass());
    if (night % 4 == 1) pairs[night] = verdicts().at(0).comparison.pairs;
  }
  EXPECT_EQ(pairs[1], 7) << "nothing was known";
  EXPECT_EQ(pairs[5], 3) << "42 processes and more had agreed";
}

TEST_F(PipelineTest, KeepsTheSummaryOfANightly) {
  world.change(3, "alpha", 1.3);
  release_two();
  ASSERT_TRUE(world.pass());
  auto const nights = world.parts->store.histories().of(world.series("alpha"));
  ASSERT_THAT(nights, SizeIs(2));
  EXPECT_EQ(nights[0].verdict, std::nullopt);
  EXPECT_EQ(nights[1].verdict, Verdict::regression);
  EXPECT_NEAR(nights[1].level / nights[0].level, 1.3, 0.05);
  EXPECT_GT(nights[1].processes, world.options.decide.sweep_pairs) << "what confirmed it counts";
}

TEST_F(PipelineTest, WorksOutTheFiguresOfTheTrustPageOnceANight) {
  world.options.decide.aa_benchmarks = 1;
  world.change(3, "alpha", 1.3);
  release_two();
  ASSERT_TRUE(world.pass());
  auto& store = world.parts->store;
  auto const noise = store.trust().noise();
  auto const alpha = std::ranges::find(noise, world.series("alpha"), &SeriesNoise::series);
  ASSERT_TRUE(alpha != noise.end());
  EXPECT_EQ(alpha->nights, 2U);
  EXPECT_TRUE(alpha->noise);
  EXPECT_THAT(store.trust().hosts(), SizeIs(1));
  auto const months = store.trust().aa_months();
  ASSERT_THAT(months, SizeIs(1));
  EXPECT_GT(months[0].tally.comparisons, 0);
  auto const costs = store.trust().costs();
  EXPECT_TRUE(std::ranges::any_of(costs, [](VerdictCost const& cost) {
    return cost.verdict == Verdict::regression && cost.verdicts > 0;
  }));
}

TEST_F(PipelineTest, ComparesANightlyWithItselfInRotation) {
  world.options.decide.aa_benchmarks = 1;
  release_two();
  ASSERT_TRUE(world.pass());
  auto const self = world.parts->store.jobs().of(Campaign::self_comparison(world.newest().id));
  EXPECT_THAT(self, Not(IsEmpty()));
}

TEST_F(PipelineTest, SeesManySmallStepsFromTheAnchor) {
  world.options.decide.anchor_nights = 1;
  for (std::size_t i = 1; i < 9; ++i)
    world.change(i, "alpha", 1.025);
  world.parts->rounds.noise = 0.002;
  for (std::size_t i = 0; i < 9; ++i) {
    world.release("2026-01-0" + std::to_string(i + 1), i);
    ASSERT_TRUE(world.pass());
  }
  EXPECT_FALSE(incident());
  EXPECT_THAT(world.alarms(), Contains(AlarmKind::drift));
}

/// Nightlies on which a benchmark has no result or no verdict, and later nightlies.
class SeriesBaselineTest : public PipelineTest {
 protected:
  SeriesBaselineTest() { world.parts->rounds.noise = 0.002; }

  void night(int day, std::size_t commit) {
    world.release("2026-01-0" + std::to_string(day), commit);
    ASSERT_TRUE(world.pass());
    ASSERT_EQ(world.newest().state, NightlyState::done);
  }

  /// Alpha's worker crashes on this nightly, and on no later one.
  void night_of_a_crash(int day, std::size_t commit) {
    world.parts->rounds.failures[{"alpha", world.sha(commit)}] = JobError::crashed;
    night(day, commit);
  }

  /// Alpha's time stays undecided on this nightly.
  void undecided_night(int day, std::size_t commit) {
    auto const sha = world.sha(commit);
    world.parts->rounds.finish = [sha](JobOutcome& outcome, Build const& build) {
      bool const is_late = outcome.key.round >= 2 && outcome.key.campaign.name.starts_with("night");
      if (is_late && outcome.key.benchmark.model == "alpha" && build.manifest.commit == sha)
        outcome.values.erase(Metric::latency);
    };
    night(day, commit);
    world.parts->rounds.finish = [](JobOutcome&, Build const&) {
    };
  }

  std::map<Series, NightlyId> baselines() {
    return world.parts->store.baselines().of(world.newest().id);
  }

  std::size_t incidents() { return world.parts->store.incidents().all().size(); }

  NightlyId id_of(std::size_t night) { return world.nightlies().at(night - 1).id; }
};

TEST_F(SeriesBaselineTest, FindsARegressionOfANightlyOnWhichTheBenchmarkCrashed) {
  world.change(3, "alpha", 1.2);
  night(1, 0);
  night_of_a_crash(2, 4);
  EXPECT_EQ(incidents(), 0U);
  night(3, 6);

  ASSERT_TRUE(incident());
  EXPECT_EQ(incident()->baseline, id_of(1));
  EXPECT_THAT(text_of(incident()->report), HasSubstr(short_of(world.sha(3))));
  EXPECT_EQ(world.newest().baseline, id_of(2)) << "of the other benchmark";
  EXPECT_THAT(baselines(),
              ElementsAre(testing::Pair(world.series("alpha"), id_of(1)),
                          testing::Pair(world.series("alpha", Metric::cmem), id_of(1))));

  night(4, 8);
  EXPECT_EQ(incidents(), 1U);
  EXPECT_THAT(baselines(), IsEmpty());
}

TEST_F(SeriesBaselineTest, FindsARegressionOfANightlyThatFailed) {
  world.options.suite.models = {"alpha"};
  world.change(3, "alpha", 1.2);
  night(1, 0);
  world.parts->rounds.failures[{"alpha", world.sha(4)}] = JobError::crashed;
  world.release("2026-01-02", 4);
  ASSERT_TRUE(world.pass());
  ASSERT_EQ(world.newest().state, NightlyState::failed);
  night(3, 6);

  ASSERT_TRUE(incident());
  EXPECT_EQ(incident()->baseline, id_of(1));
}

TEST_F(SeriesBaselineTest, MeasuresAnUndecidedSeriesUntilItIsDecided) {
  world.change(1, "alpha", 1.2);
  night(1, 0);
  undecided_night(2, 2);
  undecided_night(3, 4);
  EXPECT_EQ(incidents(), 0U);
  night(4, 6);

  ASSERT_TRUE(incident());
  EXPECT_EQ(incident()->baseline, id_of(1));
  EXPECT_THAT(baselines(), ElementsAre(testing::Pair(world.series("alpha"), id_of(1))))
      << "its memory was judged every night";
}

TEST_F(SeriesBaselineTest, ReportsNoRegressionAgainThatAnotherMetricHadMeanwhile) {
  world.options.decide.sweep_pairs = 2;
  world.change(1, "alpha", 1.2);
  world.change(2, "alpha", 1.3, Metric::cmem);
  night(1, 0);
  undecided_night(2, 3);
  ASSERT_TRUE(incident());
  ASSERT_THAT(incident()->changes, SizeIs(1));
  EXPECT_EQ(incident()->changes[0].series.metric, Metric::cmem);
  night(3, 6);

  ASSERT_TRUE(incident());
  ASSERT_THAT(incident()->changes, SizeIs(1));
  EXPECT_EQ(incident()->changes[0].series.metric, Metric::latency);
  EXPECT_EQ(incidents(), 2U);
}

TEST_F(SeriesBaselineTest, BisectsTheSeriesOfEachBaselineByThemselves) {
  world.change(3, "alpha", 1.2);
  world.change(5, "beta", 1.2);
  night(1, 0);
  night_of_a_crash(2, 4);
  night(3, 6);

  ASSERT_TRUE(incident());
  EXPECT_EQ(incident()->baseline, id_of(1));
  EXPECT_EQ(baseline_of(*incident(), world.series("beta")), id_of(2));
  auto const bisections = world.parts->store.bisections().of_incident(incident()->id);
  ASSERT_THAT(bisections, SizeIs(2));
  EXPECT_EQ(bisections[0].request.start, world.sha(0));
  EXPECT_EQ(bisections[1].request.start, world.sha(4));
  EXPECT_THAT(text_of(incident()->report),
              AllOf(HasSubstr(short_of(world.sha(3))),
                    HasSubstr(short_of(world.sha(5))),
                    HasSubstr("the last that judged them: ")));
}

TEST_F(SeriesBaselineTest, JudgesANightlyOfTheSameCommitWhereTheLastOneCouldNotBe) {
  world.change(3, "alpha", 1.2);
  night(1, 0);
  night_of_a_crash(2, 4);
  world.parts->rounds.failures.clear();
  night(3, 4);

  ASSERT_TRUE(incident());
  EXPECT_EQ(incident()->baseline, id_of(1));
}

TEST_F(SeriesBaselineTest, GoesOnNextToTheSameBuildsWhenTheFleetIsBack) {
  world.change(3, "alpha", 1.2);
  night(1, 0);
  night_of_a_crash(2, 4);
  world.release("2026-01-03", 6);
  world.parts->rounds.before = [&](measure::RoundKey const& key) {
    if (key.round == 1) world.parts->rounds.out_of_service = {"local"};
  };
  ASSERT_FALSE(world.pass());
  auto const chosen = baselines();
  EXPECT_THAT(chosen, SizeIs(2));
  Ruling accept;
  accept.kind = RulingKind::accept;
  accept.given_at = world.clock.now();
  world.parts->store.rulings().give(accept);
  world.parts->rounds.before = [](measure::RoundKey const&) {
  };
  world.parts->rounds.out_of_service.clear();
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(baselines(), chosen);
  EXPECT_TRUE(incident());
}

TEST_F(SeriesBaselineTest, IsTheUsualOneWhereTheOlderBuildIsGone) {
  world.change(3, "alpha", 1.2);
  auto const first = world.deliver("2026-01-01", 0);
  ASSERT_TRUE(world.pass());
  world.parts->rounds.failures[{"alpha", world.sha(4)}] = JobError::crashed;
  world.deliver("2026-01-02", 4);
  ASSERT_TRUE(world.pass());
  std::filesystem::remove_all(first);
  world.deliver("2026-01-03", 6);
  tests::CapturedLog const log;
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(world.newest().baseline, id_of(2));
  EXPECT_THAT(baselines(), IsEmpty());
  EXPECT_THAT(log.lines_with("series_baseline_unusable"), SizeIs(1));
}

TEST_F(SeriesBaselineTest, IsAcceptedWithoutAVerdict) {
  world.change(1, "alpha", 1.2);
  night(1, 0);
  undecided_night(2, 2);
  Ruling accept;
  accept.kind = RulingKind::accept;
  accept.series.benchmark = world.series("alpha").benchmark;
  accept.given_at = world.clock.now();
  world.parts->store.rulings().give(accept);
  night(3, 4);

  EXPECT_FALSE(incident());
  EXPECT_THAT(baselines(), IsEmpty());
}

TEST_F(SeriesBaselineTest, KeepsItsBuildUntilTheSeriesIsJudged) {
  world.change(3, "alpha", 1.2);
  auto const publish = [&](int day, std::size_t commit) {
    world.publish("2026-01-0" + std::to_string(day), commit);
    ASSERT_TRUE(world.pass());
  };
  publish(1, 0);
  world.parts->rounds.failures[{"alpha", world.sha(4)}] = JobError::crashed;
  publish(2, 4);
  auto const refused = world.parts->kept.remove("nightly-1");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("baseline of 2 series of the next nightly"));
  publish(3, 6);

  ASSERT_TRUE(incident());
  EXPECT_EQ(incident()->baseline, id_of(1));
}

}  // namespace
}  // namespace torchwatch::nightly
