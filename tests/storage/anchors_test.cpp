#include "storage/anchors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AnchorsTest : public TablesTest {
 protected:
  SeriesChange change(Verdict verdict, std::string const& model = "dlrm") const {
    SeriesChange change{latency_of(model), slower()};
    change.comparison.verdict = verdict;
    return change;
  }

  std::vector<NightlyId> candidates(std::string const& model = "dlrm") {
    return store.anchors().candidates({"local", latency_of(model).benchmark}, tonight);
  }

  NightlyId first = announce("2026-01-01", 'a', NightlyState::done);
  NightlyId second = announce("2026-01-02", 'b', NightlyState::bisected);
  NightlyId failed = announce("2026-01-03", 'c', NightlyState::failed);
  NightlyId third = announce("2026-01-04", 'd', NightlyState::done);
  NightlyId tonight = announce("2026-01-05", 'e', NightlyState::screened);
};

TEST_F(AnchorsTest, AreTheJudgedNightliesBeforeOldestFirst) {
  EXPECT_THAT(candidates(), ElementsAre(first, second, third));
  EXPECT_THAT(store.anchors().candidates({"local", latency_of("dlrm").benchmark}, first),
              IsEmpty());
}

TEST_F(AnchorsTest, BeginAtTheLastRegressionOfTheBenchmark) {
  store.incidents().record(second, change(Verdict::regression));
  store.incidents().record(third, change(Verdict::improvement));
  store.incidents().record(third, change(Verdict::regression, "dcgan"));
  store.incidents().record(tonight, change(Verdict::regression));

  EXPECT_THAT(candidates(), ElementsAre(second, third));
  EXPECT_THAT(candidates("dcgan"), ElementsAre(third));
  EXPECT_THAT(candidates("resnet18"), ElementsAre(first, second, third));
}

TEST_F(AnchorsTest, BeginWhereTheBenchmarkWasFoundBetterThanItsAnchor) {
  store.anchors().record(second, change(Verdict::improvement));
  store.anchors().record(third, change(Verdict::regression));

  EXPECT_THAT(candidates(), ElementsAre(second, third));
}

TEST_F(AnchorsTest, BeginWhereSomebodyAcceptedTheLevel) {
  Ruling ruling;
  ruling.kind = RulingKind::accept;
  ruling.series.benchmark = latency_of("dlrm").benchmark;
  ruling.who = "ada";
  ruling.why = "wanted";
  ruling.given_at = early;
  store.rulings().give(ruling);

  EXPECT_THAT(candidates(), ElementsAre(third)) << "the newest that was judged by then";
  EXPECT_THAT(candidates("dcgan"), ElementsAre(first, second, third));
}

TEST_F(AnchorsTest, AreChosenOnce) {
  storage::FleetBenchmark const dlrm{"local", latency_of("dlrm").benchmark};
  EXPECT_EQ(store.anchors().chosen(dlrm, tonight), std::nullopt);
  store.anchors().choose(dlrm, tonight, first);
  store.anchors().choose(dlrm, tonight, second);

  EXPECT_EQ(store.anchors().chosen(dlrm, tonight), first);
}

TEST_F(AnchorsTest, VerdictsAreKeptApartFromTheNights) {
  store.anchors().record(tonight, change(Verdict::regression));

  EXPECT_THAT(store.incidents().verdicts(tonight), IsEmpty());
  auto const kept = store.anchors().verdicts(tonight);
  ASSERT_EQ(kept.size(), 1U);
  expect_same(kept.front().comparison, slower());
}

}  // namespace
}  // namespace torchwatch::tests
