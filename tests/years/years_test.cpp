#include <algorithm>
#include <memory>
#include <set>

#include <gmock/gmock.h>

#include "config/load.h"
#include "daemon/measure/raw_data_cleanup.h"
#include "daemon/service/open_store.h"
#include "github/issue.h"
#include "tests/temporary_folder.h"
#include "tests/years/files.h"
#include "tests/years/write.h"

namespace torchwatch::years {
namespace {

using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::SizeIs;

Request four_months() {
  Request request;
  request.nights = 120;
  request.series = 60;
  request.last_night = std::chrono::sys_days{std::chrono::year{2026} / 3 / 1};
  request.people = {"Ada Brinkmann <ada@brinkmann.example>"};
  return request;
}

/// A history that was just written.
struct WrittenYears {
  explicit WrittenYears(Request const& request)
      : store{storage::Store::open(folder / database_name).value()},
        written{write_years(request, store, folder.path(), [](std::size_t, std::size_t) {})} {}

  tests::TemporaryFolder folder;
  storage::Store store;
  Result<Written> written;
};

/// What a page would show of it, without where builds lie.
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

/// They only look, at the same one.
class YearsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { written = std::make_unique<WrittenYears>(four_months()); }

  static void TearDownTestSuite() { written.reset(); }

  storage::Store& store() { return written->store; }

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

TEST_F(YearsTest, LeavesWhatGoesOnWithoutAnAnswer) {
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

TEST_F(YearsTest, OpensAnIncidentForEachRegressionThatNobodyMuted) {
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

TEST_F(YearsTest, ForgetsWhatTheServiceWouldForget) {
  auto const needed = measure::needed_processes(store(), raw_nights);

  EXPECT_THAT(measure::deletable_campaigns(store().jobs().campaigns(), needed), IsEmpty());
  for (auto const id : needed.nightlies) {
    auto const nightly = store().nightlies().find(id).value();
    bool const is_measured = !store().jobs().of(Campaign::of(id)).empty();
    EXPECT_TRUE(is_measured || nightly.state == NightlyState::failed) << nightly.date;
  }
}

TEST_F(YearsTest, EndsInTheMiddleOfASweep) {
  auto const newest = store().nightlies().newest().value();

  EXPECT_EQ(newest.date, "2026-03-01");
  EXPECT_EQ(newest.state, NightlyState::prepared);
  auto const swept = store().jobs().of(Campaign::of(newest.id));
  auto const before = store().jobs().of(Campaign::of(newest.baseline.value()));
  EXPECT_FALSE(swept.empty());
  EXPECT_LT(swept.size(), before.size() / 2);
}

TEST_F(YearsTest, HasAlarmsThatAreOpenAndOthers) {
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

TEST_F(YearsTest, CountsAFalseAlarmOfTheJudge) {
  auto const tally = store().incidents().aa_tally();

  EXPECT_GT(tally.comparisons, 500);
  EXPECT_EQ(tally.alarms, 1);
}

TEST(YearsOfASeed, AreTheSameAgain) {
  auto request = four_months();
  request.nights = least_nights;
  WrittenYears one{request};
  WrittenYears same{request};
  request.seed = 2;
  WrittenYears other{request};

  EXPECT_EQ(text_of(one.store), text_of(same.store));
  EXPECT_NE(text_of(one.store), text_of(other.store));
}

/// Of what others wrote about one bisection.
std::vector<std::string> texts_of(Bisection const& bisection) {
  std::vector<std::string> texts;
  for (auto const& step : bisection.steps)
    texts.insert(texts.end(), {step.reason, step.note});
  for (auto const& finding : bisection.findings)
    for (auto const& suspect : finding.suspects)
      texts.insert(texts.end(), {suspect.subject, suspect.author});
  return texts;
}

TEST(HostileYears, HoldWhatBreaksPages) {
  auto request = four_months();
  request.is_hostile = true;
  WrittenYears hostile{request};

  std::string all;
  std::size_t longest = 0;
  for (auto const& bisection : hostile.store.bisections().all_in_brief())
    for (auto const& text : texts_of(hostile.store.bisections().find(bisection.id).value())) {
      all += text;
      longest = std::max(longest, text.size());
    }
  EXPECT_EQ(longest, 10'000);
  for (auto const* attack : {"<script>", "onerror=", "javascript:", "| a | b |"})
    EXPECT_TRUE(all.find(attack) != std::string::npos) << attack;
}

TEST(YearsOfTooManySeries, AreRefused) {
  auto request = four_months();
  request.series = 2000;
  WrittenYears const refused{request};

  ASSERT_FALSE(refused.written);
  EXPECT_EQ(refused.written.error().message,
            "--series: found 2000, allowed up to 1413: all models, tests and fleets");
}

TEST(FilesOfYears, AreAConfigurationOfTheStore) {
  tests::TemporaryFolder const folder;
  ASSERT_TRUE(write_files(folder.path(), {"dlrm", "resnet18"}, {"cpu", "gpu"}));

  auto const options = config::load(folder / "torchwatch.json").value();

  EXPECT_EQ(service::store_file(options), folder.path() / "state" / database_name);
  ASSERT_THAT(options.fleets, SizeIs(2));
  EXPECT_EQ(options.fleets.back().device, Device::cuda);
  EXPECT_EQ(options.store.raw_nights, raw_nights);
}

}  // namespace
}  // namespace torchwatch::years
