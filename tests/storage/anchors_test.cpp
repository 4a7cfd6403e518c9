#include "storage/anchors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using testing::IsEmpty;

class AnchorsTest : public TablesTest {
 protected:
  SeriesChange change(Verdict verdict, std::string const& model = "dlrm") const {
    SeriesChange change{latency_of(model), slower()};
    change.comparison.verdict = verdict;
    return change;
  }

  NightlyId first = announce("2026-01-01", 'a', NightlyState::done);
  NightlyId second = announce("2026-01-02", 'b', NightlyState::bisected);
  NightlyId tonight = announce("2026-01-05", 'e', NightlyState::screened);
};

TEST_F(AnchorsTest, AreChosenOnce) {
  FleetBenchmark const dlrm{"local", latency_of("dlrm").benchmark};
  EXPECT_EQ(store.anchors().chosen(dlrm, tonight), std::nullopt);
  store.anchors().choose(dlrm, tonight, first);
  store.anchors().choose(dlrm, tonight, second);

  EXPECT_EQ(store.anchors().chosen(dlrm, tonight), first);
}

TEST_F(AnchorsTest, VerdictsAreSeparateFromThoseOfNightlies) {
  store.anchors().record(tonight, change(Verdict::regression));

  EXPECT_THAT(store.incidents().verdicts(tonight), IsEmpty());
  auto const kept = store.anchors().verdicts(tonight);
  ASSERT_EQ(kept.size(), 1U);
  expect_same(kept.front().comparison, slower());
}

TEST_F(AnchorsTest, VerdictsOnABenchmarkAreThoseOfAllNightlies) {
  FleetBenchmark const dlrm{"local", latency_of("dlrm").benchmark};
  store.anchors().record(second, change(Verdict::improvement));
  store.anchors().record(first, change(Verdict::regression));
  store.anchors().record(first, change(Verdict::regression, "dcgan"));
  store.incidents().record(tonight, change(Verdict::unchanged));

  auto const anchored = store.anchors().verdicts_of(dlrm);
  auto const nightly = store.incidents().verdicts_of(dlrm);

  ASSERT_EQ(anchored.size(), 2U);
  EXPECT_EQ(anchored[0].nightly, first);
  EXPECT_EQ(anchored[0].change.series, latency_of("dlrm"));
  expect_same(anchored[0].change.comparison, slower());
  EXPECT_EQ(anchored[1].nightly, second);
  EXPECT_EQ(anchored[1].change.comparison.verdict, Verdict::improvement);
  ASSERT_EQ(nightly.size(), 1U);
  EXPECT_EQ(nightly[0].nightly, tonight);
  EXPECT_THAT(store.anchors().verdicts_of({"elsewhere", dlrm.benchmark}), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::tests
