#include "bisect/compare/baseline.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/storage/samples.h"

namespace torchwatch::bisect {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tests::early;
using tests::latency_of;
using enum NightlyState;

Nightly nightly(int id, std::string const& date, NightlyState state) {
  Nightly nightly;
  nightly.id.value = id;
  nightly.date = date;
  nightly.state = state;
  nightly.announced_at = early;
  return nightly;
}

NightlyVerdict verdict(int nightly, Verdict verdict, std::string const& model = "dlrm") {
  SeriesChange change{latency_of(model), tests::slower()};
  change.comparison.verdict = verdict;
  return {NightlyId{nightly}, change};
}

TEST(Baseline, IsTheNewestOlderNightlyThatWasJudged) {
  std::vector const nightlies{nightly(1, "2026-01-01", done),
                              nightly(2, "2026-01-02", bisected),
                              nightly(3, "2026-01-03", failed),
                              nightly(4, "2026-01-04", swept),
                              nightly(5, "2026-01-05", prepared),
                              nightly(6, "2026-01-06", done)};

  EXPECT_EQ(baseline_of(nightlies[4], nightlies)->id, NightlyId{2});
  EXPECT_EQ(baseline_of(nightlies[1], nightlies)->id, NightlyId{1});
  EXPECT_FALSE(baseline_of(nightlies[0], nightlies));
}

TEST(Baseline, IsTheLaterAnnouncedOfTwoNightliesOfADay) {
  std::vector const nightlies{nightly(3, "2026-01-01", done),
                              nightly(1, "2026-01-02", done),
                              nightly(2, "2026-01-02", done),
                              nightly(4, "2026-01-02", swept)};

  EXPECT_EQ(baseline_of(nightlies[3], nightlies)->id, NightlyId{2});
  EXPECT_EQ(baseline_of(nightlies[1], nightlies)->id, NightlyId{3});
}

TEST(Baseline, IsNotAnEarlierEditionOfTheSameFile) {
  std::vector nightlies{nightly(1, "2026-01-01", done),
                        nightly(2, "2026-01-02", done),
                        nightly(3, "2026-01-02", done),
                        nightly(4, "2026-01-02", swept)};
  for (auto& one : nightlies) {
    one.commit.hex = std::string(40, static_cast<char>('a' + one.id.value));
    one.version = one.id.value == 2 ? "2.9" : "2.10";
    one.file = PublishedFile{};
  }
  EXPECT_EQ(baseline_of(nightlies[3], nightlies)->id, NightlyId{2}) << "of another version";
}

TEST(IsEdition, IsTrueForALaterEditionOfAnEndedNightly) {
  std::vector nightlies{nightly(1, "2026-01-01", done),
                        nightly(2, "2026-01-02", failed),
                        nightly(3, "2026-01-02", announced),
                        nightly(4, "2026-01-03", announced),
                        nightly(5, "2026-01-03", announced)};
  EXPECT_FALSE(is_edition(nightlies[2], nightlies)) << "no file";
  for (auto& one : nightlies) {
    one.file = PublishedFile{};
    one.version = one.date;
  }
  EXPECT_TRUE(is_edition(nightlies[2], nightlies));
  EXPECT_FALSE(is_edition(nightlies[1], nightlies)) << "the first";
  EXPECT_FALSE(is_edition(nightlies[4], nightlies)) << "the first has not ended";
  nightlies[2].version = "another";
  EXPECT_FALSE(is_edition(nightlies[2], nightlies));
}

/// Five nightlies of the series alpha and beta; the fifth is to be compared with the fourth.
class SeriesBaselinesTest : public testing::Test {
 protected:
  SeriesBaselinesTest() {
    for (auto const* const model : {"alpha", "beta"})
      for (int night = 1; night <= 4; ++night)
        put(model, night, true);
  }

  /// Replaces a night of a series.
  void put(std::string const& model, int nightly, bool is_judged) {
    auto& nights = nights_of(model);
    std::erase_if(nights, [&](NightOfSeries const& one) { return one.nightly.value == nightly; });
    NightOfSeries night;
    night.nightly.value = nightly;
    night.is_judged = is_judged;
    nights.push_back(night);
  }

  void leave_undecided(std::string const& model, int nightly) {
    put(model, nightly, false);
    nights_of(model).back().verdict = Verdict::inconclusive;
  }

  void crash(std::string const& model, int nightly) {
    std::erase_if(nights_of(model),
                  [&](NightOfSeries const& one) { return one.nightly.value == nightly; });
  }

  void accept(Timestamp when, std::string const& model = "alpha") {
    Ruling ruling;
    ruling.kind = RulingKind::accept;
    ruling.series.benchmark = latency_of(model).benchmark;
    ruling.given_at = when;
    history.rulings.push_back(ruling);
  }

  SeriesBaselines baselines() const {
    return series_baselines(nightlies.at(4), nightlies.at(3), nightlies, history);
  }

  std::vector<NightOfSeries>& nights_of(std::string const& model) {
    for (auto& one : history.nights)
      if (one.series == latency_of(model)) return one.nights;
    history.nights.push_back({latency_of(model), {}});
    return history.nights.back().nights;
  }

  std::vector<Nightly> nightlies{nightly(1, "2026-01-01", done),
                                 nightly(2, "2026-01-02", done),
                                 nightly(3, "2026-01-03", bisected),
                                 nightly(4, "2026-01-04", done),
                                 nightly(5, "2026-01-05", prepared)};
  JudgedSeries history;
};

TEST_F(SeriesBaselinesTest, AreTheUsualOneWhereItJudgedTheSeries) {
  EXPECT_THAT(baselines().older, IsEmpty());
  EXPECT_THAT(baselines().lost, IsEmpty());
}

TEST_F(SeriesBaselinesTest, AreTheLastNightlyBeforeTheBenchmarkCrashed) {
  crash("alpha", 4);
  crash("alpha", 3);
  EXPECT_THAT(baselines().older, ElementsAre(testing::Pair(latency_of("alpha"), NightlyId{2})));
}

TEST_F(SeriesBaselinesTest, AreTheLastDecidedNightlyOfAnyAge) {
  for (int const night : {2, 3, 4})
    leave_undecided("alpha", night);
  EXPECT_THAT(baselines().older, ElementsAre(testing::Pair(latency_of("alpha"), NightlyId{1})));
}

TEST_F(SeriesBaselinesTest, AreNotANightlyThatFailed) {
  crash("alpha", 4);
  nightlies[2].state = failed;
  EXPECT_THAT(baselines().older, ElementsAre(testing::Pair(latency_of("alpha"), NightlyId{2})));
}

TEST_F(SeriesBaselinesTest, AreTheNightlyAtWhichAUserAcceptedTheLevel) {
  for (int const night : {2, 3, 4})
    leave_undecided("alpha", night);
  nightlies[3].announced_at = early + std::chrono::hours{1};
  accept(early);
  EXPECT_THAT(baselines().older, ElementsAre(testing::Pair(latency_of("alpha"), NightlyId{3})));

  accept(early + std::chrono::hours{1});
  EXPECT_THAT(baselines().older, IsEmpty());
}

TEST_F(SeriesBaselinesTest, AreLostWhereAUserAcceptedALevelThatWasNotMeasured) {
  crash("alpha", 4);
  accept(early);
  EXPECT_THAT(baselines().older, IsEmpty());
  EXPECT_THAT(baselines().lost, ElementsAre(latency_of("alpha")));
}

TEST_F(SeriesBaselinesTest, IgnoreTheAcceptanceOfAnotherSeries) {
  leave_undecided("alpha", 4);
  accept(early, "beta");
  EXPECT_THAT(baselines().older, ElementsAre(testing::Pair(latency_of("alpha"), NightlyId{3})));
}

TEST_F(SeriesBaselinesTest, AreLostWhereNoNightlyJudgedTheSeries) {
  for (int const night : {1, 2, 3})
    crash("alpha", night);
  leave_undecided("alpha", 4);
  EXPECT_THAT(baselines().older, IsEmpty());
  EXPECT_THAT(baselines().lost, ElementsAre(latency_of("alpha")));
}

TEST_F(SeriesBaselinesTest, AreLostAfterThreeNightliesWithoutAComparison) {
  for (int const night : {3, 4})
    put("alpha", night, false);
  EXPECT_THAT(baselines().older, ElementsAre(testing::Pair(latency_of("alpha"), NightlyId{2})));

  put("alpha", 2, false);
  EXPECT_THAT(baselines().older, IsEmpty());
  EXPECT_THAT(baselines().lost, ElementsAre(latency_of("alpha")));
}

TEST_F(SeriesBaselinesTest, AreNotAnEarlierEditionOfTheSameFile) {
  for (auto& one : nightlies) {
    one.commit.hex = std::string(40, static_cast<char>('a' + one.id.value));
    one.version = "2.10";
    one.file = PublishedFile{};
  }
  nightlies[3].date = nightlies[4].date;
  crash("alpha", 3);
  auto const found = series_baselines(nightlies[4], nightlies[2], nightlies, history);
  EXPECT_THAT(found.older, ElementsAre(testing::Pair(latency_of("alpha"), NightlyId{2})));
}

class AnchorCandidates : public testing::Test {
 protected:
  std::vector<int> candidates(std::size_t of = 4) const {
    std::vector<int> ids;
    for (auto const& candidate : anchor_candidates(nightlies.at(of), nightlies, history))
      ids.push_back(static_cast<int>(candidate.id.value));
    return ids;
  }

  /// The anchor candidates of dlrm.
  void accept(Timestamp when) {
    Ruling ruling;
    ruling.kind = RulingKind::accept;
    ruling.series.benchmark = latency_of("dlrm").benchmark;
    ruling.given_at = when;
    history.rulings.push_back(ruling);
  }

  std::vector<Nightly> nightlies{nightly(1, "2026-01-01", done),
                                 nightly(2, "2026-01-02", bisected),
                                 nightly(3, "2026-01-03", failed),
                                 nightly(4, "2026-01-04", done),
                                 nightly(5, "2026-01-05", screened),
                                 nightly(6, "2026-01-06", done)};
  BenchmarkHistory history{
      {"local", latency_of("dlrm").benchmark},
      {},
      {},
      {},
      {NightlyId{1}, NightlyId{2}, NightlyId{3}, NightlyId{4}, NightlyId{5}, NightlyId{6}}};
};

TEST_F(AnchorCandidates, AreTheJudgedNightliesBeforeOldestFirst) {
  EXPECT_THAT(candidates(), ElementsAre(1, 2, 4));
  EXPECT_THAT(candidates(1), ElementsAre(1));
  EXPECT_THAT(candidates(0), IsEmpty());
}

TEST_F(AnchorCandidates, AreThoseThatTheBenchmarkRunsOn) {
  std::erase(history.measured, NightlyId{1});
  EXPECT_THAT(candidates(), ElementsAre(2, 4));
}

TEST_F(AnchorCandidates, BeginAtTheLastRegression) {
  history.verdicts = {verdict(1, Verdict::regression),
                      verdict(2, Verdict::regression),
                      verdict(4, Verdict::improvement),
                      verdict(5, Verdict::regression)};

  EXPECT_THAT(candidates(), ElementsAre(2, 4)) << "tonight's own verdict does not count";
}

TEST_F(AnchorCandidates, BeginAfterARegressionOfANightlyThatFailed) {
  history.verdicts = {verdict(3, Verdict::regression)};

  EXPECT_THAT(candidates(), ElementsAre(4));
}

TEST_F(AnchorCandidates, BeginWhereTheBenchmarkImprovedOnItsAnchor) {
  history.anchored = {verdict(2, Verdict::improvement), verdict(4, Verdict::regression)};

  EXPECT_THAT(candidates(), ElementsAre(2, 4));
}

TEST_F(AnchorCandidates, BeginWhereAUserAcceptedTheLevel) {
  nightlies[3].announced_at = early + std::chrono::hours{1};
  accept(early);

  EXPECT_THAT(candidates(), ElementsAre(2, 4)) << "the newest that was judged by then";

  accept(early + std::chrono::hours{1});
  EXPECT_THAT(candidates(), ElementsAre(4));
}

TEST_F(AnchorCandidates, BeginWhereEverythingWasAccepted) {
  accept(early);
  history.rulings.front().series = {};

  EXPECT_THAT(candidates(), ElementsAre(4));
}

TEST_F(AnchorCandidates, IgnoreOtherRulings) {
  accept(early);
  accept(early);
  accept(early);
  accept(early);
  history.rulings[0].kind = RulingKind::mute;
  history.rulings[1].incident = IncidentId{1};
  history.rulings[2].series.benchmark = latency_of("dcgan").benchmark;
  history.rulings[3].series.fleet = "elsewhere";

  EXPECT_THAT(candidates(), ElementsAre(1, 2, 4));
}

}  // namespace
}  // namespace torchwatch::bisect
