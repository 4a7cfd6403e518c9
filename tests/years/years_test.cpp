#include <algorithm>
#include <memory>
#include <set>

#include <gmock/gmock.h>

#include "config/load.h"
#include "daemon/service/open_store.h"
#include "github/issue.h"
#include "tests/temporary_folder.h"
#include "tests/years/copies.h"
#include "tests/years/write.h"

namespace torchwatch::years {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::SizeIs;

Request four_months() {
  Request request;
  request.nights = 120;
  request.series = 60;
  request.last_night = std::chrono::sys_days{std::chrono::year{2026} / 3 / 1};
  request.people = {{"Ada Brinkmann", "ada@brinkmann.example", "ada"}};
  return request;
}

Result<Written> write(Request const& request, tests::TemporaryFolder const& folder) {
  return write_history(request, folder.path(), [](std::size_t, std::size_t) {});
}

/// A history written to a temporary folder, with the configuration that serves it.
struct WrittenYears {
  explicit WrittenYears(Request const& request)
      : written{write(request, folder).value()},
        options{config::load(folder / "torchwatch.json").value()},
        store{storage::Store::open(service::store_file(options)).value()} {}

  tests::TemporaryFolder folder;
  Written written;
  config::Options options;
  storage::Store store;
};

/// Returns the levels, reports and alarms of a history as text, without paths of builds.
std::string text_of(storage::Store& store) {
  std::string text;
  for (auto const& series : store.histories().series())
    for (auto const& night : store.histories().of(series))
      text += name_of(series) + night.commit.hex + std::to_string(night.level) + '\n';
  for (auto const& incident : store.incidents().all())
    text += github::draft_issue(storage::story_of(store, incident), {}).body;
  for (auto const& alarm : store.alarms().all())
    text += alarm.subject + alarm.detail + '\n';
  return text;
}

template <class Record, class Member>
std::set<Member> all_of(std::vector<Record> const& records, Member Record::*member) {
  std::set<Member> values;
  for (auto const& record : records)
    values.insert(record.*member);
  return values;
}

/// Tests that only read, all in one history.
class YearsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { written = std::make_unique<WrittenYears>(four_months()); }

  static void TearDownTestSuite() { written.reset(); }

  storage::Store& store() { return written->store; }

  config::Options const& options() { return written->options; }

 private:
  static inline std::unique_ptr<WrittenYears> written;
};

TEST_F(YearsTest, ShowsEveryStateAndOutcomeOfABisection) {
  auto const bisections = store().bisections().all_in_brief();

  using enum BisectionState;
  EXPECT_THAT(all_of(bisections, &Bisection::state),
              IsSupersetOf({queued, running, paused, cancelled, done, failed}));
  using Outcome = std::optional<BisectionOutcome>;
  EXPECT_THAT(all_of(bisections, &Bisection::outcome),
              IsSupersetOf({Outcome{BisectionOutcome::culprit},
                            Outcome{BisectionOutcome::range},
                            Outcome{BisectionOutcome::environment},
                            Outcome{BisectionOutcome::not_reproduced},
                            Outcome{BisectionOutcome::undecided},
                            Outcome{BisectionOutcome::layout}}));
}

TEST_F(YearsTest, OpenBisectionsHaveNoOutcome) {
  for (auto const& bisection : store().bisections().all_in_brief()) {
    if (bisection.state != BisectionState::running && bisection.state != BisectionState::paused)
      continue;
    EXPECT_FALSE(bisection.outcome);
    auto const steps = store().bisections().find(bisection.id).value().steps;
    ASSERT_FALSE(steps.empty());
    EXPECT_TRUE(steps.front().is_done);
    EXPECT_FALSE(steps.back().is_done);
  }
}

TEST_F(YearsTest, ProvesCulpritsInTwoLayoutsAndByReverting) {
  auto const is_whole = [](Effect const& effect) {
    return is_proved(effect) && effect.rebuilt && effect.revert_check &&
           is_undone_by_revert(effect);
  };
  int whole = 0;
  for (auto const& bisection : store().bisections().all_in_brief())
    for (auto const& finding : bisection.findings)
      if (kind_of(finding) == FindingKind::culprit)
        whole += static_cast<int>(std::ranges::count_if(finding.effects, is_whole));
  EXPECT_GT(whole, 0);
}

TEST_F(YearsTest, OpensAnIncidentForEachRegressionThatIsNotMuted) {
  for (auto const& nightly : store().nightlies().all()) {
    auto const verdicts = store().incidents().verdicts(nightly.id);
    bool const has_grown = std::ranges::any_of(verdicts, [](SeriesChange const& change) {
      return change.comparison.verdict == Verdict::regression && !change.muted;
    });
    EXPECT_EQ(store().incidents().of_nightly(nightly.id).has_value(), has_grown) << nightly.date;
  }
}

TEST_F(YearsTest, MutesASeriesAndUnmutesIt) {
  using enum RulingKind;
  EXPECT_THAT(all_of(store().rulings().all(), &Ruling::kind),
              IsSupersetOf({accept, false_alarm, mute, unmute}));
}

TEST_F(YearsTest, KeepsProcessesOfNewNightliesAndOfIncidents) {
  auto const nightlies = store().nightlies().all();
  auto const are_kept = [this](Nightly const& nightly) {
    return !store().jobs().of(Campaign::of(nightly.id)).empty();
  };

  EXPECT_FALSE(are_kept(nightlies.at(1)));
  EXPECT_TRUE(are_kept(nightlies.back()));
  for (auto const& incident : store().incidents().all())
    EXPECT_TRUE(are_kept(store().nightlies().find(incident.nightly).value()));
}

TEST_F(YearsTest, AllNightliesAreFinished) {
  auto const newest = store().nightlies().newest().value();

  EXPECT_EQ(newest.date, "2026-03-01");
  EXPECT_EQ(newest.state, NightlyState::done);
  EXPECT_FALSE(store().nightlies().next_unfinished());
  EXPECT_THAT(store().nightlies().investigated(), IsEmpty());
}

TEST_F(YearsTest, StoredBuildsAndReportsExist) {
  auto const builds = std::filesystem::path{options().state_dir} / "builds";
  EXPECT_FALSE(store().kept_builds().all().empty());
  for (auto const& build : store().kept_builds().all())
    EXPECT_TRUE(std::filesystem::exists(builds / build.name)) << build.name;
  for (auto const& incident : store().incidents().all())
    EXPECT_TRUE(std::filesystem::exists(incident.report)) << incident.report;
}

TEST_F(YearsTest, HasOpenAndClearedAlarms) {
  auto const all = store().alarms().all();

  EXPECT_FALSE(store().alarms().open().empty());
  EXPECT_LT(store().alarms().open().size(), all.size());
  EXPECT_THAT(all_of(all, &Alarm::kind),
              IsSupersetOf({AlarmKind::missing_nightly,
                            AlarmKind::nightly_failed,
                            AlarmKind::stale_baseline,
                            AlarmKind::benchmark_stopped,
                            AlarmKind::environment,
                            AlarmKind::drift}));
}

TEST_F(YearsTest, ProfilesTheNewestIncidents) {
  auto const newest = store().incidents().all().front();

  EXPECT_FALSE(storage::story_of(store(), newest).operators.empty());
}

TEST_F(YearsTest, CountsOneFalseAlarmOfSelfComparisons) {
  AaTally all;
  for (auto const& [month, tally] : store().trust().aa_months()) {
    all.comparisons += tally.comparisons;
    all.alarms += tally.alarms;
  }

  EXPECT_GT(all.comparisons, 500);
  EXPECT_EQ(all.alarms, 1);
}

TEST(YearsOfASeed, AreEqual) {
  auto request = four_months();
  request.nights = least_nights;
  WrittenYears one{request};
  WrittenYears same{request};
  request.seed = 2;
  WrittenYears other{request};

  EXPECT_EQ(text_of(one.store), text_of(same.store));
  EXPECT_NE(text_of(one.store), text_of(other.store));
}

/// Returns the texts from outside that belong to one bisection.
std::vector<std::string> texts_of(storage::Store& store, BisectionId id) {
  std::vector<std::string> texts;
  auto const bisection = store.bisections().find(id).value();
  for (auto const& step : bisection.steps)
    texts.push_back(step.note);
  for (auto const& commit : store.bisections().commits_of(id))
    texts.insert(texts.end(), {commit.subject, commit.author});
  return texts;
}

TEST(HostileYears, ContainAttacksOnPages) {
  auto request = four_months();
  request.nights = 60;
  request.is_hostile = true;
  WrittenYears hostile{request};

  std::string all;
  std::size_t longest = 0;
  for (auto const& bisection : hostile.store.bisections().all_in_brief())
    for (auto const& text : texts_of(hostile.store, bisection.id)) {
      all += text;
      longest = std::max(longest, text.size());
    }
  EXPECT_GE(longest, 10'000);
  for (auto const* attack : {"<script>", "onerror=", "javascript:", "| a | b |"})
    EXPECT_TRUE(all.find(attack) != std::string::npos) << attack;
}

TEST(YearsOfManySeries, HaveCopiesOfQuietOnes) {
  auto request = four_months();
  request.nights = least_nights;
  request.series = 300;
  WrittenYears many{request};

  auto const all = many.store.histories().series();
  EXPECT_GE(all.size(), 300);
  EXPECT_EQ(all.size(), many.written.series);
  auto const nights = many.store.histories().of(all.front()).size();
  for (auto const& series : all)
    EXPECT_NEAR(static_cast<double>(many.store.histories().of(series).size()),
                static_cast<double>(nights),
                6)
        << name_of(series);
}

TEST(YearsOfTooManySeries, AreRejected) {
  auto request = four_months();
  request.nights = least_nights;
  request.series = 2000;
  tests::TemporaryFolder const folder;

  EXPECT_THAT(write(request, folder).error().message,
              HasSubstr("--series: found 2000, allowed up to"));
}

TEST(YearsOfAnInvalidLength, AreRejected) {
  auto request = four_months();
  request.nights = 700;
  tests::TemporaryFolder const folder;

  EXPECT_EQ(write(request, folder).error().message,
            "--nights: found 700, allowed 30 to 365 and multiples of 365");
}

TEST(CopiesOfYears, AreOlderAndClosed) {
  auto request = four_months();
  request.nights = least_nights;
  tests::TemporaryFolder const folder;
  auto const written = write(request, folder).value();
  copy_years(written.database, 2);
  auto store = storage::Store::open(written.database).value();

  auto nightlies = store.nightlies().all();
  ASSERT_THAT(nightlies, SizeIs(2 * written.nightlies));
  auto const newest_copy = nightlies.at(written.nightlies - 1);
  EXPECT_EQ(nightlies.back().date, "2026-03-01");
  EXPECT_EQ(newest_copy.date, "2025-03-01");
  EXPECT_NE(nightlies.back().commit, newest_copy.commit);
  EXPECT_EQ(store.histories().levels_of(newest_copy.id).size(),
            store.histories().levels_of(nightlies.back().id).size());
  for (auto const& incident : store.incidents().all())
    EXPECT_FALSE(github::draft_issue(storage::story_of(store, incident), {}).body.empty());
  for (auto const& bisection : store.bisections().all_in_brief())
    EXPECT_TRUE(has_ended(bisection.state) || bisection.asked_at > newest_copy.announced_at);
  for (auto const& alarm : store.alarms().open())
    EXPECT_GT(alarm.raised_at, newest_copy.announced_at);
}

TEST(FilesOfYears, NameTheDatabaseAndTheFleets) {
  auto request = four_months();
  request.nights = least_nights;
  WrittenYears const years{request};

  EXPECT_EQ(service::store_file(years.options), years.folder.path() / "state" / database_name);
  ASSERT_THAT(years.options.fleets, SizeIs(2));
  EXPECT_EQ(years.options.fleets.back().device, Device::cuda);
}

}  // namespace
}  // namespace torchwatch::years
