/// Nightlies that PyTorch publishes: a pass over an index, with its troubles.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/captured_log.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::nightly {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class PublishedTest : public testing::Test {
 protected:
  void pass() {
    auto const passed = world.pass();
    ASSERT_TRUE(passed) << passed.error().message;
  }

  std::vector<std::string> dates() {
    std::vector<std::string> all;
    for (auto const& nightly : world.nightlies())
      all.push_back(nightly.date);
    return all;
  }

  std::optional<Incident> incident_of(Nightly const& nightly) {
    return world.parts->store.incidents().of_nightly(nightly.id);
  }

  fakes::World world;
};

TEST_F(PublishedTest, ANightlyIsFetchedAndTellsItsTrunkCommit) {
  world.publish("2026-01-01", 3);
  pass();

  auto const nightly = world.newest();
  EXPECT_EQ(nightly.state, NightlyState::done);
  EXPECT_EQ(nightly.version, "2.9.0.dev20260101+cpu");
  EXPECT_EQ(nightly.commit, world.sha(3));
  EXPECT_EQ(nightly.release_commit, world.index.files.begin()->second.release);
  EXPECT_EQ(nightly.file->etag, world.index.files.begin()->second.etag);
  EXPECT_TRUE(fs::exists(fs::path{nightly.prefix} / "build.json"));
  EXPECT_THAT(world.parts->store.jobs().of(Campaign::of(nightly.id)), SizeIs(4));
}

TEST_F(PublishedTest, ARegressionIsBisectedOnTheTrunk) {
  world.publish("2026-01-01", 0);
  world.publish("2026-01-02", 8);
  world.change(5, "alpha", 1.2);
  pass();

  auto const incident = incident_of(world.newest());
  ASSERT_TRUE(incident);
  auto const bisections = world.parts->store.bisections().of_incident(incident->id);
  ASSERT_THAT(bisections, SizeIs(1));
  ASSERT_THAT(bisections[0].findings, SizeIs(1));
  EXPECT_EQ(bisections[0].findings[0].suspects.back().sha, world.sha(5));
}

/// The watched repository is a clone of the trunk alone.
class CloneOfTheTrunkTest : public PublishedTest {
 protected:
  CloneOfTheTrunkTest() {
    auto const clone = (world.folder.path() / "clone.git").string();
    auto const command = "git clone --quiet --bare --no-local --single-branch --branch main '" +
                         world.trunk.path() + "' '" + clone + "'";
    if (std::system(command.c_str()) != 0) throw std::runtime_error{command};
    world.options.source.repository = clone;
    world.change(5, "alpha", 1.2);
    world.publish("2026-01-01", 0);
    world.publish("2026-01-02", 8);
    world.restart();
  }

  /// The bisection of the second nightly has lacked its commits for a day.
  void wait_in_vain() {
    EXPECT_FALSE(world.pass());
    world.clock.time += hours{24};
    pass();
  }

  void expect_report_without_culprit() {
    EXPECT_EQ(world.newest().state, NightlyState::done);
    auto const incident = incident_of(world.newest());
    ASSERT_TRUE(incident);
    EXPECT_TRUE(fs::exists(incident->report));
    auto const bisections = world.parts->store.bisections().of_incident(incident->id);
    ASSERT_THAT(bisections, SizeIs(1));
    EXPECT_EQ(bisections[0].state, BisectionState::failed);
    EXPECT_THAT(world.alarms(),
                UnorderedElementsAre(AlarmKind::clone_unfit, AlarmKind::bisection_failed));
  }
};

TEST_F(CloneOfTheTrunkTest, CostsTheBisectionAlone) {
  wait_in_vain();
  expect_report_without_culprit();
}

TEST_F(CloneOfTheTrunkTest, IsAnAlarmAtOnceAndCostsTheBisectionADayCountedOverRestarts) {
  for (int hour = 0; hour < 24; hour += 8) {
    EXPECT_THAT(world.pass().error().message, HasSubstr(" are not all in the repository"));
    EXPECT_EQ(world.newest().state, NightlyState::confirmed);
    EXPECT_THAT(world.alarms(),
                UnorderedElementsAre(AlarmKind::clone_unfit, AlarmKind::bisection_failed));
    EXPECT_EQ(world.parts->store.alarms().open().back().subject, "nightly 2026-01-02");
    world.clock.time += hours{8};
    world.restart();  // as `check` from cron does
  }
  pass();
  expect_report_without_culprit();
  EXPECT_EQ(world.parts->store.alarms().open().back().subject, "") << "it waits no more";
}

TEST_F(CloneOfTheTrunkTest, DoesNotStopLaterNightliesForLongerThanADay) {
  wait_in_vain();
  world.publish("2026-01-03", 8);
  pass();
  EXPECT_EQ(world.newest().date, "2026-01-03");
  EXPECT_EQ(world.newest().state, NightlyState::done);
}

TEST_F(CloneOfTheTrunkTest, FindsTheCulpritWhenItHasCaughtUp) {
  EXPECT_FALSE(world.pass());
  auto const fetched = "git -C '" + world.options.source.repository +
                       "' fetch --quiet origin '+refs/heads/*:refs/heads/*'";
  ASSERT_EQ(std::system(fetched.c_str()), 0);
  pass();
  auto const bisections =
      world.parts->store.bisections().of_incident(incident_of(world.newest()).value().id);
  EXPECT_EQ(bisections.at(0).state, BisectionState::done);
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::bisection_failed)));
}

TEST_F(CloneOfTheTrunkTest, IsMeasuredAfterADayWhereItsRemoteDoesNotAnswer) {
  world.options.source.remote = "nowhere";
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.nightlies().front().state, NightlyState::announced);

  world.restart();
  world.clock.time += hours{25};
  (void)world.pass();

  EXPECT_EQ(world.nightlies().front().state, NightlyState::done);
}

TEST_F(CloneOfTheTrunkTest, IsUnfitNoMoreWhenItHasTheNightlyBranch) {
  wait_in_vain();
  auto const fetched = "git -C '" + world.options.source.repository +
                       "' fetch --quiet origin '+refs/heads/*:refs/heads/*'";
  world.publish("2026-01-03", 8);
  ASSERT_EQ(std::system(fetched.c_str()), 0);
  pass();
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::clone_unfit)));
}

TEST_F(PublishedTest, ABisectionWhoseCommitsTheRemoteDoesNotGiveIsGivenUpAfterADay) {
  auto const empty = (world.folder.path() / "empty.git").string();
  ASSERT_EQ(std::system(("git init --quiet --bare '" + empty + "'").c_str()), 0);
  world.options.source.repository = empty;
  world.options.source.remote = "nowhere";
  world.change(5, "alpha", 1.2);
  world.deliver("2026-01-01", 0);
  world.deliver("2026-01-02", 8);
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::confirmed);

  world.restart();  // as `check` from cron does: the day is counted in the store
  world.clock.time += hours{25};
  pass();

  EXPECT_EQ(world.newest().state, NightlyState::done);
  auto const incident = incident_of(world.newest());
  ASSERT_TRUE(incident);
  std::ostringstream report;
  report << std::ifstream{incident->report}.rdbuf();
  EXPECT_THAT(report.str(), Not(HasSubstr(world.folder.path().string())));
  EXPECT_THAT(world.alarms(), Contains(AlarmKind::bisection_failed));
}

/// Four nightlies. The two in the middle have no result, although their builds exist. The
/// regression of commit 5 shows in the last.
class UnbuildableTest : public PublishedTest {
 protected:
  UnbuildableTest() {
    world.options.source.recipe.clear();
    world.change(5, "alpha", 1.2);
    world.publish("2026-01-01", 0);
  }

  void live_through() {
    auto const id_of = [this](std::size_t commit) {
      return world.options.source.repository.empty() ? releases.at(commit) : world.sha(commit);
    };
    pass();
    releases[3] = world.publish("2026-01-02", 3).release;
    releases[6] = world.publish("2026-01-03", 6).release;
    for (auto const* const model : {"alpha", "beta"})
      for (std::size_t const commit : {3U, 6U})
        world.parts->rounds.failures[{model, id_of(commit)}] = JobError::crashed;
    pass();
    world.parts->rounds.failures.clear();
    world.publish("2026-01-04", 8);
    pass();
  }

  Bisection bisection() {
    auto const incident = incident_of(world.newest()).value();
    return world.parts->store.bisections().of_incident(incident.id).at(0);
  }

  std::string report() {
    std::ostringstream text;
    text << std::ifstream{incident_of(world.newest())->report}.rdbuf();
    return text.str();
  }

  std::map<std::size_t, CommitSha> releases;
};

TEST_F(UnbuildableTest, RegressionIsNarrowedToTheCommitsOfANight) {
  live_through();
  auto const found = bisection();
  EXPECT_EQ(found.outcome, BisectionOutcome::range);
  ASSERT_THAT(found.findings, SizeIs(1));
  auto const commits = [](Commit const& commit) {
    return commit.sha;
  };
  std::vector<CommitSha> suspects;
  std::ranges::transform(found.findings[0].suspects, std::back_inserter(suspects), commits);
  EXPECT_THAT(suspects, ElementsAre(world.sha(4), world.sha(5), world.sha(6)));
  EXPECT_THAT(report(), HasSubstr("/compare/" + world.sha(0).hex + "..." + world.sha(8).hex));
}

TEST_F(UnbuildableTest, RegressionIsNarrowedToANightlyWithoutARepository) {
  world.options.source.repository.clear();
  live_through();
  auto const found = bisection();
  EXPECT_EQ(found.outcome, BisectionOutcome::range);
  ASSERT_THAT(found.findings, SizeIs(1));
  ASSERT_THAT(found.findings[0].suspects, SizeIs(1));
  EXPECT_EQ(found.findings[0].suspects[0].sha, releases.at(6));
  EXPECT_THAT(report(), HasSubstr("nightly 2026-01-03, 2.9.0.dev20260103+cpu"));
}

TEST_F(UnbuildableTest, RegressionOfOneNightNeedsNoBisectionWithoutARepository) {
  world.options.source.repository.clear();
  pass();
  world.publish("2026-01-02", 8);
  pass();
  ASSERT_TRUE(incident_of(world.newest()));
  EXPECT_THAT(world.parts->store.bisections().all_in_brief(), IsEmpty());
  EXPECT_THAT(report(), HasSubstr("/compare/"));
}

TEST_F(PublishedTest, WithoutARepositoryTheReleaseStandsForItsTrunkCommit) {
  world.options.source.repository.clear();
  auto const release = world.publish("2026-01-01", 3).release;
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(world.newest().commit, release);
}

TEST_F(PublishedTest, APageThatDidNotChangeIsNotReadAgain) {
  world.publish("2026-01-01", 3);
  pass();
  pass();
  EXPECT_EQ(world.index.pages, 1);
  EXPECT_EQ(world.index.unchanged, 1);
  EXPECT_THAT(world.nightlies(), SizeIs(1));
}

TEST_F(PublishedTest, AnIndexThatDoesNotAnswerHoldsUpNothing) {
  world.publish("2026-01-01", 3).trouble = Error{ErrorCode::unavailable, "503"};
  EXPECT_FALSE(world.pass());
  world.index.files.begin()->second.trouble.reset();
  world.index.trouble = Error{ErrorCode::unavailable, "the server answers 503"};

  auto const passed = world.pass();

  ASSERT_FALSE(passed);
  EXPECT_THAT(passed.error().message, HasSubstr("503"));
  EXPECT_EQ(world.newest().state, NightlyState::done);
}

TEST_F(PublishedTest, APageWithoutASuitableNightlyIsReportedEachTime) {
  world.publish("2026-01-01", 3);
  auto file = world.index.files.extract(world.index.files.begin());
  file.key() = "https://elsewhere.example/libtorch.zip";
  world.index.files.insert(std::move(file));
  for (int pass = 0; pass < 3; ++pass) {
    auto const passed = world.pass();
    ASSERT_FALSE(passed) << pass;
    EXPECT_THAT(passed.error().message, HasSubstr("found no suitable nightly"));
  }
}

TEST_F(PublishedTest, AnIndexOfAnotherChannelIsNamedByTheChannel) {
  world.publish_wheel("2026-01-01", 3);
  world.index.misfit = "channel is \"cu130\", found: cu128";
  EXPECT_THAT(world.pass().error().message,
              HasSubstr("found no suitable nightly: feed.channel is \"cu130\", found: cu128"));
}

TEST_F(PublishedTest, APageThatIsDeniedIsNamedWithItsChannel) {
  world.publish_wheel("2026-01-01", 3);
  world.index.trouble = Error{ErrorCode::refused, "download x: the server answers 403"};
  EXPECT_THAT(world.pass().error().message,
              HasSubstr("the server answers 403; feed.channel is \"cu130\""));
}

TEST_F(PublishedTest, ADayMayBeMissing) {
  world.publish("2026-01-01", 0);
  pass();
  world.publish("2026-01-03", 3);
  pass();
  EXPECT_THAT(dates(), ElementsAre("2026-01-01", "2026-01-03"));
  EXPECT_EQ(world.newest().baseline, world.nightlies()[0].id);
}

TEST_F(PublishedTest, ALateDayIsFetchedAndNotJudged) {
  world.change(2, "alpha", 1.2);
  world.publish("2026-01-01", 0);
  pass();
  world.publish("2026-01-03", 3);
  pass();
  world.publish("2026-01-02", 2);
  pass();

  auto const nightlies = world.nightlies();
  ASSERT_THAT(dates(), ElementsAre("2026-01-01", "2026-01-02", "2026-01-03"));
  EXPECT_EQ(nightlies[1].state, NightlyState::done);
  EXPECT_TRUE(fs::exists(fs::path{nightlies[1].prefix} / "build.json"));
  EXPECT_FALSE(incident_of(nightlies[1])) << "the next nightly reported it already";
  EXPECT_TRUE(incident_of(nightlies[2]));
}

TEST_F(PublishedTest, ALateDaySaysNothingOfTheNewestThatFailed) {
  world.publish("2026-01-01", 0);
  world.publish("2026-01-03", 3).trouble = Error{ErrorCode::corrupt, "it leaves its directory"};
  pass();
  world.publish("2026-01-02", 2);
  pass();

  ASSERT_EQ(world.nightlies()[1].state, NightlyState::done);
  ASSERT_EQ(world.newest().state, NightlyState::failed);
  pass();
  auto const alarms = world.parts->store.alarms().all();
  EXPECT_EQ(std::ranges::count(alarms, AlarmKind::nightly_failed, &Alarm::kind), 1);
  EXPECT_THAT(world.alarms(), Contains(AlarmKind::nightly_failed));
}

TEST_F(PublishedTest, NightliesOlderThanTheFirstAreIgnored) {
  world.publish("2026-01-02", 1);
  pass();
  world.publish("2026-01-01", 0);
  pass();
  EXPECT_THAT(dates(), ElementsAre("2026-01-02"));
}

TEST_F(PublishedTest, TheSameTrunkCommitTwiceIsNotCompared) {
  world.publish("2026-01-01", 3);
  world.publish("2026-01-02", 3);
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_THAT(world.parts->store.incidents().verdicts(world.newest().id), IsEmpty());
}

TEST_F(PublishedTest, TwoVersionsOfOneCommitHaveOneIncident) {
  world.change(3, "alpha", 1.2);
  world.publish("2026-01-01", 0);
  pass();
  auto second = world.publish("2026-01-02", 3);
  second.version = "2.10.0.dev20260102+cpu";
  world.index.files[world.options.feed.url +
                    "/libtorch/nightly/cpu/libtorch-shared-with-deps-2.10.0.dev20260102+cpu.zip"] =
      second;
  pass();
  ASSERT_THAT(world.nightlies(), SizeIs(3));
  EXPECT_EQ(world.nightlies()[1].commit, world.nightlies()[2].commit);
  EXPECT_EQ(world.newest().baseline, world.nightlies()[1].id);
  EXPECT_THAT(world.parts->store.incidents().all(), SizeIs(1));
}

TEST_F(PublishedTest, AFileThatIsPublishedAgainIsAnotherBuild) {
  world.publish("2026-01-01", 0);
  auto& file = world.publish("2026-01-02", 3);
  pass();
  file.etag = "\"again\"";
  pass();

  auto const nightlies = world.nightlies();
  ASSERT_THAT(dates(), ElementsAre("2026-01-01", "2026-01-02", "2026-01-02"));
  EXPECT_EQ(file.downloads, 2);
  EXPECT_NE(nightlies[1].prefix, nightlies[2].prefix);
  EXPECT_EQ(nightlies[2].file->etag, "\"again\"");
  EXPECT_EQ(nightlies[2].baseline, nightlies[0].id) << "not its own first contents";
  EXPECT_THAT(world.parts->store.jobs().of(Campaign::of(nightlies[2].id)), Not(IsEmpty()));

  pass();
  EXPECT_THAT(world.nightlies(), SizeIs(3));
}

TEST_F(PublishedTest, AServerWithANewVersionPerReplyAnnouncesNothing) {
  world.publish("2026-01-01", 0);
  auto& file = world.publish("2026-01-02", 3);
  file.is_restless = true;
  for (int i = 0; i < 3; ++i)
    pass();
  EXPECT_THAT(dates(), ElementsAre("2026-01-01", "2026-01-02"));
  EXPECT_EQ(file.downloads, 1);
}

TEST_F(PublishedTest, AFileThatTheServerRefusesMayComeForADay) {
  world.publish("2026-01-01", 0).trouble = Error{ErrorCode::refused, "the server answers 403"};
  ASSERT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::announced);
  world.index.files.begin()->second.trouble.reset();
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
}

TEST_F(PublishedTest, AFileThatWasDownloadedBeforeAKillIsTheOneThatWasAnnounced) {
  world.publish("2026-01-01", 0);
  auto& file = world.publish("2026-01-02", 3);
  pass();
  file.etag = "\"again\"";
  file.is_downloaded = true;
  pass();
  ASSERT_THAT(dates(), ElementsAre("2026-01-01", "2026-01-02", "2026-01-02"));
  EXPECT_EQ(world.newest().state, NightlyState::done) << world.newest().failure;
  EXPECT_NE(world.newest().file->sha256, world.nightlies()[1].file->sha256);
}

TEST_F(PublishedTest, AFileAtAnotherAddressIsTheSameNightly) {
  world.publish("2026-01-01", 0);
  world.publish("2026-01-02", 3);
  pass();
  auto const files = world.index.files;
  std::string const host = "https://download-r2.pytorch.org";
  world.index.files.clear();
  for (auto const& [url, file] : files)
    world.index.files[host + url.substr(world.options.feed.url.size())] = file;
  pass();
  EXPECT_THAT(dates(), ElementsAre("2026-01-01", "2026-01-02"));
  EXPECT_THAT(world.newest().file->url, testing::StartsWith(host)) << "where it is restored from";

  world.index.files = files;
  for (auto& [url, file] : world.index.files)
    file.listed_sha256 = world.newest().file->sha256;
  pass();
  EXPECT_THAT(dates(), ElementsAre("2026-01-01", "2026-01-02"));
}

TEST_F(PublishedTest, ADigestThatAppearsOnThePageIsNoOtherContents) {
  auto& file = world.publish("2026-01-01", 0);
  file.sha256 = std::string(64, 'a');
  pass();
  EXPECT_EQ(world.newest().file->sha256, file.sha256) << "of the downloaded file";
  for (auto const& digest : {file.sha256, std::string{}, file.sha256}) {
    file.listed_sha256 = digest;
    pass();
  }
  EXPECT_THAT(world.nightlies(), SizeIs(1));
}

TEST_F(PublishedTest, ADigestOfOtherContentsOnThePageIsAnEdition) {
  auto& file = world.publish("2026-01-01", 0);
  pass();
  file.sha256 = file.listed_sha256 = std::string(64, 'b');
  pass();
  pass();
  ASSERT_THAT(world.nightlies(), SizeIs(2));
  EXPECT_EQ(world.newest().file->sha256, file.sha256);
}

TEST_F(PublishedTest, OtherContentsAreAnEditionThoughTheFirstIsNotJudgedYet) {
  auto& file = world.publish("2026-01-01", 0);
  file.sha256 = file.listed_sha256 = std::string(64, 'a');
  world.workers.troubles["nightly-1"] = {ErrorCode::unavailable, "missing on this host: c++"};
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.newest().file->sha256, file.sha256);

  file.sha256 = file.listed_sha256 = std::string(64, 'b');
  world.workers.troubles.clear();
  pass();
  ASSERT_THAT(world.nightlies(), SizeIs(2));
  EXPECT_EQ(world.nightlies()[0].file->sha256, std::string(64, 'a')) << "what was measured";
  EXPECT_EQ(world.newest().file->sha256, std::string(64, 'b'));
}

TEST_F(PublishedTest, AnotherETagAloneIsNoNewNightly) {
  auto& file = world.publish("2026-01-01", 0);
  file.sha256 = std::string(64, 'a');
  pass();
  auto const first = file.etag;
  for (auto const* const etag : {"\"edge\"", "", "\"edge\""}) {
    file.etag = std::string{etag}.empty() ? first : etag;
    world.clock.time += hours{2};
    pass();
  }
  EXPECT_THAT(world.nightlies(), SizeIs(1));
  EXPECT_EQ(file.comparisons, 1) << "an ETag that is known to be of the same contents";
}

TEST_F(PublishedTest, AnotherLengthWithoutAnyVersionIsCompared) {
  auto& file = world.publish("2026-01-01", 0);
  file.etag.clear();
  file.length = 5;
  file.sha256 = std::string(64, 'a');
  pass();
  pass();
  EXPECT_EQ(file.comparisons, 0);
  file.length = 6;
  file.sha256 = std::string(64, 'b');
  pass();
  EXPECT_THAT(world.nightlies(), SizeIs(2));
  EXPECT_EQ(world.newest().state, NightlyState::done) << world.newest().failure;
}

TEST_F(PublishedTest, AFileWhoseContentsComeBackIsNoThirdEdition) {
  world.publish("2026-01-01", 0);
  auto& file = world.publish("2026-01-02", 3);
  auto const first = file.etag;
  pass();
  for (auto const& etag : {std::string{"\"again\""}, first}) {
    file.etag = etag;
    world.clock.time += hours{2};
    pass();
  }
  EXPECT_THAT(world.nightlies(), SizeIs(3));
}

/// An index whose wheels come one Python after the other.
class PythonsTest : public PublishedTest {
 protected:
  PythonsTest() {
    for (auto const* const python : {"cp312", "cp313", "cp314"})
      world.publish_wheel("2026-01-01", 0, python);
    EXPECT_TRUE(world.pass());
  }

  std::string url() { return world.newest().file->url; }
};

TEST_F(PythonsTest, TheNightlyIsOfThePythonThatIsFollowed) {
  EXPECT_THAT(url(), HasSubstr("-cp314-"));
  for (auto const* const python : {"cp312", "cp313"}) {
    world.publish_wheel("2026-01-02", 1, python);
    world.clock.time += std::chrono::minutes{40};
    world.restart();
    pass();
    EXPECT_THAT(dates(), ElementsAre("2026-01-01"));
  }
  world.publish_wheel("2026-01-02", 1, "cp314");
  pass();
  ASSERT_THAT(dates(), ElementsAre("2026-01-01", "2026-01-02"));
  EXPECT_THAT(url(), HasSubstr("-cp314-"));
  EXPECT_EQ(world.newest().state, NightlyState::done) << world.newest().failure;
}

TEST_F(PythonsTest, AnotherOneIsTakenWhenTheWaitEnds) {
  world.publish_wheel("2026-01-02", 1, "cp312");
  world.publish_wheel("2026-01-02", 1, "cp313");
  pass();
  world.clock.time += world.options.feed.python_wait - std::chrono::seconds{1};
  world.restart();
  pass();
  EXPECT_THAT(dates(), ElementsAre("2026-01-01"));
  world.clock.time += std::chrono::seconds{1};
  pass();
  ASSERT_THAT(dates(), ElementsAre("2026-01-01", "2026-01-02"));
  EXPECT_THAT(url(), HasSubstr("-cp313-"));

  world.publish_wheel("2026-01-02", 1, "cp314");
  pass();
  EXPECT_THAT(dates(), ElementsAre("2026-01-01", "2026-01-02")) << "it is the same nightly";
  world.publish_wheel("2026-01-03", 2, "cp314");
  pass();
  EXPECT_THAT(url(), HasSubstr("-cp314-")) << "that is still followed";
}

TEST_F(PythonsTest, ANewerPythonIsNotTakenUp) {
  world.publish_wheel("2026-01-02", 1, "cp314");
  world.publish_wheel("2026-01-02", 1, "cp315");
  pass();
  EXPECT_THAT(url(), HasSubstr("20260102+cu130-cp314-"));
}

TEST_F(PythonsTest, OneThatIsConfiguredIsFollowedAtOnce) {
  for (auto const* const python : {"cp312", "cp314"})
    world.publish_wheel("2026-01-02", 1, python);
  std::erase_if(world.index.files,
                [](auto const& file) { return file.first.find("-cp312-") == std::string::npos; });
  world.restart();
  pass();
  EXPECT_THAT(url(), HasSubstr("20260102+cu130-cp312-"));
}

TEST_F(PublishedTest, APageIsAskedForAFewMinutesAtMost) {
  world.publish("2026-01-01", 0);
  pass();
  pass();
  EXPECT_LE(world.index.longest_question, std::chrono::minutes{5});
}

TEST_F(PublishedTest, ADamagedFileFailsOnlyItsNightly) {
  world.publish("2026-01-01", 0);
  auto& bad = world.publish("2026-01-02", 1);
  bad.trouble = Error{ErrorCode::corrupt, "it leaves its directory"};
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::failed);
  EXPECT_EQ(world.newest().failure, "it leaves its directory");
  EXPECT_THAT(world.alarms(), Contains(AlarmKind::nightly_failed));

  world.publish("2026-01-03", 2);
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::nightly_failed)));
}

TEST_F(PublishedTest, AWheelWithAnIncompleteRecordIsMeasuredWithAWarning) {
  world.publish_wheel("2026-01-01", 0).record_warning = "RECORD: caffe2/core.py is not listed";
  tests::CapturedLog const log;
  pass();
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done) << world.newest().failure;
  auto const warnings = log.lines_with("wheel_record_differs");
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0], HasSubstr("date=2026-01-01"));
  EXPECT_THAT(warnings[0], HasSubstr("reason=\"RECORD: caffe2/core.py is not listed\""));
}

TEST_F(PublishedTest, EachBuildGetsAWorkerOfItsOwn) {
  world.publish("2026-01-01", 0);
  world.publish("2026-01-02", 1);
  pass();
  EXPECT_THAT(world.workers.made,
              UnorderedElementsAre(world.nightlies()[0].prefix, world.nightlies()[1].prefix));
}

TEST_F(PublishedTest, ABuildThatNoWorkerCompilesAgainstIsNamedWithTheFirstError) {
  world.publish("2026-01-01", 0);
  world.publish("2026-01-02", 1);
  world.workers.troubles["nightly-2"] = {ErrorCode::corrupt, "ATen.h:7: error: no such type"};
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::failed);
  EXPECT_EQ(world.newest().failure, "ATen.h:7: error: no such type");
  EXPECT_THAT(world.alarms(), Contains(AlarmKind::nightly_failed));
}

TEST_F(PublishedTest, AHostWithoutACompilerIsNotTheBuildsFault) {
  world.publish("2026-01-01", 0);
  world.workers.troubles["nightly-1"] = {ErrorCode::unavailable, "missing on this host: c++"};
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::announced);
  world.workers.troubles.clear();
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(world.index.files.begin()->second.downloads, 1);
}

TEST_F(PublishedTest, AFileOfAnotherDatesReleaseIsOfItsOwnCommit) {
  auto const release = world.publish("2026-01-01", 2).release;
  pass();
  world.publish("2026-01-02", 3).release = release;
  tests::CapturedLog const log;
  pass();
  EXPECT_EQ(world.newest().commit, world.sha(2));
  EXPECT_EQ(world.newest().state, NightlyState::done) << "there is nothing to compare";
  auto const warnings = log.lines_with(" nightly_of_another_date date=");
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0], HasSubstr("date=2026-01-02"));
  EXPECT_THAT(warnings[0], HasSubstr("release_date=2026-01-01"));
}

TEST_F(PublishedTest, AFileOfAnotherDatesReleaseIsSaidUntilTheNextNightly) {
  world.publish("2026-01-01", 0);
  auto const release = world.release("2026-01-02", 2);
  world.publish("2026-01-03", 3).release = release;
  pass();
  EXPECT_EQ(world.newest().release_date, "2026-01-02");
  EXPECT_THAT(world.alarms(), Contains(AlarmKind::nightly_of_another_date));
  auto const alarms = world.parts->store.alarms().open();
  auto const said = std::ranges::find(alarms, AlarmKind::nightly_of_another_date, &Alarm::kind);
  ASSERT_NE(said, alarms.end());
  EXPECT_THAT(said->detail,
              HasSubstr("nightly 2026-01-03 was built from the release of 2026-01-02"));
  EXPECT_THAT(said->detail, HasSubstr(short_of(world.sha(2))));

  world.restart();
  pass();
  EXPECT_THAT(world.alarms(), Contains(AlarmKind::nightly_of_another_date));
  world.publish("2026-01-04", 4);
  pass();
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::nightly_of_another_date)));
}

TEST_F(PublishedTest, AFileOfAnotherDatesReleaseIsBisectedUpToItsOwnCommit) {
  world.change(4, "alpha", 1.2);
  world.change(7, "beta", 1.2);
  world.publish("2026-01-01", 0);
  auto const release = world.release("2026-01-02", 5);
  world.publish("2026-01-03", 8).release = release;
  pass();
  auto const incident = incident_of(world.newest());
  ASSERT_TRUE(incident);
  EXPECT_THAT(incident->changes, SizeIs(1)) << "of alpha alone";
  auto const bisections = world.parts->store.bisections().of_incident(incident->id);
  ASSERT_THAT(bisections, SizeIs(1));
  EXPECT_EQ(bisections[0].request.end, world.sha(5));
  ASSERT_THAT(bisections[0].findings, SizeIs(1));
  EXPECT_EQ(bisections[0].findings[0].suspects.back().sha, world.sha(4));
}

TEST_F(PublishedTest, AFileOfAnotherVersionThanItsNameSaysIsRefused) {
  world.publish("2026-01-01", 0).says = "2.9.0.dev20251231+cpu";
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::failed);
  EXPECT_THAT(world.newest().failure, HasSubstr("found version 2.9.0.dev20251231+cpu in it"));
}

TEST_F(PublishedTest, AFileOfAnotherChannelThanItsNameSaysIsRefusedByTheChannel) {
  world.publish("2026-01-01", 0).says = "2.9.0.dev20260101+cu126";
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::failed);
  EXPECT_THAT(world.newest().failure, HasSubstr("; it is of channel cu126, not cpu"));
}

TEST_F(PublishedTest, AFileThatDoesNotComeIsGivenUpAfterADay) {
  world.publish("2026-01-01", 0).trouble = Error{ErrorCode::unavailable, "the server answers 503"};
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::announced);
  world.clock.time += hours{23};
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::announced);
  world.clock.time += hours{2};
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::failed);
}

TEST_F(PublishedTest, TheDayOfAFileThatDoesNotComeIsCountedOverRestarts) {
  auto& file = world.publish("2026-01-01", 0);
  file.trouble = Error{ErrorCode::unavailable, "the server answers 503"};
  EXPECT_FALSE(world.pass());
  for (int restart = 0; restart < 3; ++restart) {
    world.clock.time += hours{7};
    world.restart();
    EXPECT_FALSE(world.pass());
    EXPECT_EQ(world.newest().state, NightlyState::announced);
  }
  file.trouble = Error{ErrorCode::refused, "the server answers 403"};
  world.clock.time += hours{3};
  world.restart();
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::failed);
  EXPECT_EQ(world.newest().failure, "the server answers 403") << "the last reason";
}

TEST_F(PublishedTest, AHostThatCanStartNoProgramMakesNoAttempt) {
  Error const shortage{
      ErrorCode::unavailable, "start torchwatch-fetch: Resource temporarily unavailable", true};
  auto& file = world.publish("2026-01-01", 0);
  file.trouble = shortage;
  EXPECT_FALSE(world.pass());
  world.clock.time += hours{25};
  EXPECT_THAT(world.pass().error().message, HasSubstr("Resource temporarily unavailable"));
  EXPECT_EQ(world.newest().state, NightlyState::announced);

  file.trouble.reset();
  world.workers.troubles["nightly-1"] = shortage;
  EXPECT_FALSE(world.pass());
  world.clock.time += hours{25};
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::announced);

  world.workers.troubles.clear();
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
}

TEST_F(PublishedTest, AFileThatDoesNotComeIsTriedLessAndLessOften) {
  auto& file = world.publish("2026-01-01", 0);
  file.trouble = Error{ErrorCode::unavailable, "the server answers 503"};
  for (int minute = 0; minute < 24 * 60; minute += 10) {
    EXPECT_THAT(world.pass().error().message, HasSubstr("the server answers 503"));
    world.clock.time += std::chrono::minutes{10};
  }
  EXPECT_GT(file.troubles, 24);
  EXPECT_LT(file.troubles, 36) << "an hour apart at most";
}

TEST_F(PublishedTest, AFileThatComesTheSecondTimeIsJudgedAtOnce) {
  auto& file = world.publish("2026-01-01", 0);
  file.trouble = Error{ErrorCode::unavailable, "published with the SHA-256 b, found a"};
  EXPECT_FALSE(world.pass());
  file.trouble.reset();
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);

  world.publish("2026-01-02", 1).trouble = Error{ErrorCode::unavailable, "503"};
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::announced) << "it has a day of its own";
}

TEST_F(PublishedTest, ADigestThatIsListedBeforeItsFileIsWaitedFor) {
  auto& file = world.publish("2026-01-01", 0);
  file.sha256 = std::string(64, 'a');
  file.listed_sha256 = std::string(64, 'b');
  EXPECT_THAT(world.pass().error().message, HasSubstr("published with the SHA-256 bbb"));
  EXPECT_EQ(world.newest().state, NightlyState::announced);

  file.sha256 = file.listed_sha256;
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_THAT(dates(), ElementsAre("2026-01-01"));
}

TEST_F(PublishedTest, AFileThatIsThereBeforeItsDigestIsJudgedWhenThatComes) {
  auto& file = world.publish("2026-01-01", 0);
  file.sha256 = std::string(64, 'b');
  file.listed_sha256 = std::string(64, 'a');
  EXPECT_FALSE(world.pass());

  file.listed_sha256 = file.sha256;
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done) << "the older digest holds up nothing";
  EXPECT_EQ(world.newest().file->sha256, file.sha256);
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::nightly_failed)));
}

TEST_F(PublishedTest, AnEditionThatACacheDoesNotHaveYetIsWaitedFor) {
  world.publish("2026-01-01", 0);
  auto& file = world.publish("2026-01-02", 3);
  pass();
  file.cached_etag = file.etag;
  file.etag = "\"again\"";
  pass();
  pass();
  EXPECT_THAT(world.nightlies(), SizeIs(2)) << "what comes are the known contents";
  EXPECT_EQ(file.comparisons, 1) << "not with each look";

  file.cached_etag.clear();
  world.clock.time += hours{1};
  pass();
  EXPECT_THAT(world.nightlies(), SizeIs(3));
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(world.newest().file->etag, "\"again\"");
}

TEST_F(PublishedTest, AnEditionThatFailsLeavesItsNightlyJudged) {
  world.change(3, "alpha", 1.2);
  world.publish("2026-01-01", 0);
  auto& file = world.publish("2026-01-02", 3);
  pass();
  auto const judged = world.newest();
  file.etag = "\"again\"";
  world.workers.troubles["nightly-3"] = {ErrorCode::corrupt, "ATen.h:7: error: no such type"};
  pass();

  EXPECT_EQ(world.newest().state, NightlyState::failed);
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::nightly_failed)));
  auto nightlies = world.parts->store.nightlies();
  EXPECT_EQ(nightlies.newest()->id, judged.id);
  EXPECT_EQ(nightlies.last_ended()->id, judged.id);
  EXPECT_EQ(nightlies.of_date("2026-01-02")->id, judged.id);
  EXPECT_EQ(nightlies.find(judged.id)->state, NightlyState::done);
  EXPECT_TRUE(incident_of(judged));

  world.publish("2026-01-03", 4);
  pass();
  EXPECT_EQ(world.newest().baseline, judged.id);
}

/// A nightly that is published again after it was judged.
class EditionTest : public PublishedTest {
 protected:
  /// The trunk's third commit is slower. The nightly is of one commit at first, then of another.
  void publish_twice(std::size_t first, std::size_t second) {
    world.change(3, "alpha", 1.2);
    world.publish("2026-01-01", 0);
    world.publish("2026-01-02", first);
    pass();
    world.publish("2026-01-02", second);
    pass();
    ASSERT_THAT(world.nightlies(), SizeIs(3));
    EXPECT_EQ(world.newest().state, NightlyState::done) << world.newest().failure;
    EXPECT_EQ(world.newest().commit, world.sha(second)) << "the file says it";
    EXPECT_EQ(world.newest().baseline, world.nightlies()[0].id);
  }

  std::vector<Bisection> bisections() {
    return world.parts->store.bisections().of_incident(incidents().at(0).id);
  }

  std::vector<Incident> incidents() { return world.parts->store.incidents().all(); }

  std::string report() {
    std::ostringstream text;
    text << std::ifstream{incidents().at(0).report}.rdbuf();
    return text.str();
  }
};

TEST_F(EditionTest, WithTheRegressionJoinsTheIncident) {
  publish_twice(3, 4);
  ASSERT_THAT(incidents(), SizeIs(1));
  EXPECT_EQ(incidents()[0].nightly, world.nightlies()[1].id);
  EXPECT_EQ(incident_of(world.newest())->id, incidents()[0].id);
  EXPECT_THAT(report(), HasSubstr("there are regressions in them, too"));
  EXPECT_THAT(report(), HasSubstr(world.newest().file->sha256.substr(0, 12)));

  world.restart();
  pass();
  EXPECT_THAT(incidents(), SizeIs(1));
}

TEST_F(EditionTest, ThatHasTheCulpritIsNotBisectedAgain) {
  publish_twice(3, 6);
  ASSERT_THAT(incidents(), SizeIs(1));
  ASSERT_THAT(bisections(), SizeIs(1));
  EXPECT_EQ(bisections()[0].request.end, world.sha(3));
}

TEST_F(EditionTest, WithARegressionMoreIsBisectedForThatUpToItsOwnCommit) {
  world.change(5, "beta", 1.2);
  publish_twice(4, 6);
  ASSERT_THAT(incidents(), SizeIs(1));
  ASSERT_THAT(bisections(), SizeIs(2));
  auto const again = bisections()[1];
  EXPECT_EQ(again.state, BisectionState::done);
  EXPECT_EQ(again.request.end, world.sha(6));
  EXPECT_THAT(again.request.series, ElementsAre(world.series("beta")));
  ASSERT_THAT(again.findings, SizeIs(1));
  EXPECT_EQ(again.findings[0].suspects.back().sha, world.sha(5));
  EXPECT_THAT(report(), HasSubstr(world.sha(5).hex));

  world.restart();
  pass();
  EXPECT_THAT(incidents(), SizeIs(1));
  EXPECT_THAT(bisections(), SizeIs(2));
}

TEST_F(EditionTest, WhoseNightlyWasBisectedInVainIsBisectedUpToItsOwnCommit) {
  world.change(3, "alpha", 1.2);
  world.publish("2026-01-01", 0);
  world.publish("2026-01-02", 4);
  pass();
  ASSERT_THAT(bisections(), SizeIs(1));
  auto failed = bisections()[0];
  failed.state = BisectionState::failed;
  failed.outcome.reset();
  failed.findings.clear();
  failed.failure = "no build came";
  world.parts->store.bisections().update(failed);
  world.publish("2026-01-02", 6);
  pass();
  ASSERT_THAT(incidents(), SizeIs(1));
  ASSERT_THAT(bisections(), SizeIs(2));
  EXPECT_EQ(bisections()[1].request.end, world.sha(6));
  EXPECT_EQ(bisections()[1].findings.at(0).suspects.back().sha, world.sha(3));
}

TEST_F(EditionTest, WithoutTheRegressionCorrectsTheIncident) {
  publish_twice(3, 2);
  ASSERT_THAT(incidents(), SizeIs(1));
  EXPECT_FALSE(incident_of(world.newest()));
  EXPECT_TRUE(incident_of(world.nightlies()[1]));
  EXPECT_THAT(report(), HasSubstr("no regression was found in them"));
}

/// An edition whose digest is listed before its file is there, and a nightly after it.
class LateEditionTest : public EditionTest {
 protected:
  /// `first`, `second` and `later`: the commits of both editions and of the nightly after them.
  void announce(std::size_t first, std::size_t second, std::size_t later) {
    world.change(3, "alpha", 1.2);
    world.publish("2026-01-01", 0);
    world.publish("2026-01-02", first);
    pass();
    world.clock.time += hours{2};  // so that its day ends after the next nightly
    file = &world.publish("2026-01-02", second);
    file->listed_sha256 = std::string(64, 'b');
    EXPECT_THAT(world.pass().error().message, HasSubstr("published with the SHA-256 bbb"));
    world.publish("2026-01-03", later);
  }

  void upload() {
    file->sha256 = file->listed_sha256;
    world.clock.time += hours{1};  // until the next attempt
    world.restart();
    pass();
  }

  Nightly edition() { return world.nightlies().at(2); }

  fakes::FakeFetcher::File* file = nullptr;
};

TEST_F(LateEditionTest, HoldsUpNoLaterNightly) {
  announce(3, 3, 4);
  EXPECT_THAT(world.pass().error().message, HasSubstr("published with the SHA-256 bbb"));
  ASSERT_THAT(dates(), ElementsAre("2026-01-01", "2026-01-02", "2026-01-02", "2026-01-03"));
  EXPECT_EQ(edition().state, NightlyState::announced);
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(world.newest().baseline, world.nightlies()[1].id);
}

TEST_F(LateEditionTest, IsMeasuredNextToTheBaselineOfItsDate) {
  announce(3, 3, 4);
  EXPECT_FALSE(world.pass());
  upload();
  EXPECT_EQ(edition().state, NightlyState::done) << edition().failure;
  EXPECT_EQ(edition().baseline, world.nightlies()[0].id);
  ASSERT_THAT(incidents(), SizeIs(1));
  EXPECT_EQ(incident_of(edition())->id, incidents()[0].id);
  EXPECT_THAT(report(), HasSubstr("there are regressions in them, too"));

  world.publish("2026-01-04", 5);
  pass();
  EXPECT_EQ(world.newest().baseline, world.nightlies()[3].id);
  EXPECT_THAT(incidents(), SizeIs(1));
}

TEST_F(LateEditionTest, OpensNoIncidentForWhatALaterNightlyReported) {
  announce(2, 3, 4);
  EXPECT_FALSE(world.pass());
  ASSERT_THAT(incidents(), SizeIs(1));
  EXPECT_EQ(incidents()[0].nightly, world.newest().id);
  upload();
  EXPECT_EQ(edition().state, NightlyState::done) << edition().failure;
  EXPECT_THAT(world.parts->store.incidents().verdicts(edition().id), Not(IsEmpty()));
  EXPECT_THAT(incidents(), SizeIs(1));
}

TEST_F(LateEditionTest, FailsAloneAfterADay) {
  announce(3, 3, 4);
  EXPECT_FALSE(world.pass());
  world.clock.time += hours{3};
  pass();
  EXPECT_EQ(edition().state, NightlyState::failed);
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::nightly_failed)));
}

TEST_F(EditionTest, WithTheFirstRegressionOpensTheIncident) {
  publish_twice(2, 3);
  ASSERT_THAT(incidents(), SizeIs(1));
  EXPECT_EQ(incidents()[0].nightly, world.newest().id);
  EXPECT_EQ(incidents()[0].correction, "");
}

TEST_F(PublishedTest, AnEditionThatIsJudgedOutweighsOneThatFailed) {
  world.publish("2026-01-01", 0);
  auto& file = world.publish("2026-01-02", 3);
  world.workers.troubles["nightly-2"] = {ErrorCode::corrupt, "ATen.h:7: error: no such type"};
  pass();
  EXPECT_THAT(world.alarms(), Contains(AlarmKind::nightly_failed));

  file.etag = "\"again\"";
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::nightly_failed)));
}

}  // namespace
}  // namespace torchwatch::nightly
