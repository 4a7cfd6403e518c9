#include "storage/rulings.h"

#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using std::chrono::hours;

class RulingsTest : public TablesTest {
 protected:
  Ruling give(RulingKind kind, SeriesFilter series, std::optional<Timestamp> until = {}) {
    return store.rulings().give(
        Ruling{{}, kind, std::nullopt, std::move(series), "ada", "known", early, until});
  }

  bool is_muted(Series const& series, Timestamp now = early) {
    return store.rulings().is_muted(series, now);
  }

  Series const dlrm = latency_of("dlrm");
  Series const dcgan = latency_of("dcgan");
};

TEST_F(RulingsTest, AreKeptWithWhoAndWhy) {
  auto const baseline = announce("2026-01-01", 'a');
  auto const incident = store.incidents().open(baseline, announce("2026-01-02", 'b'), early).id;
  auto const given = store.rulings().give(
      Ruling{{}, RulingKind::accept, incident, {}, "ada", "pays for itself", early, {}});

  auto const read = store.rulings().find(given.id).value();
  EXPECT_EQ(read.kind, RulingKind::accept);
  EXPECT_EQ(read.incident, incident);
  EXPECT_EQ(read.series, SeriesFilter{});
  EXPECT_EQ(read.who, "ada");
  EXPECT_EQ(read.why, "pays for itself");
  EXPECT_EQ(read.given_at, early);
  EXPECT_EQ(read.until, std::nullopt);
  ASSERT_EQ(store.rulings().on(incident).size(), 1U);
  EXPECT_EQ(story_of(store, store.incidents().find(incident).value()).rulings.size(), 1U);
}

TEST_F(RulingsTest, AreListedNewestFirst) {
  give(RulingKind::mute, {.fleet = "local"});
  give(RulingKind::unmute, {.fleet = "local"});
  auto const all = store.rulings().all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].kind, RulingKind::unmute);
}

TEST_F(RulingsTest, TheLastRulingOnAnIncidentCounts) {
  auto const baseline = announce("2026-01-30", 'a');
  auto const january = announce("2026-01-31", 'b');
  auto const february = announce("2026-02-01", 'c');
  auto const said = [this](IncidentId incident, RulingKind kind) {
    store.rulings().give(Ruling{{}, kind, incident, {}, "ada", "known", early, {}});
  };
  auto const first = store.incidents().open(baseline, january, early).id;
  store.incidents().open(january, february, early);
  said(first, RulingKind::accept);
  said(first, RulingKind::false_alarm);

  EXPECT_EQ(store.rulings().count_false_incidents(), 1);
  auto const months = store.rulings().by_month();
  ASSERT_EQ(months.size(), 2U);
  EXPECT_EQ(months[0].month, "2026-01");
  EXPECT_EQ(months[0].incidents, 1);
  EXPECT_EQ(months[0].accepted, 0);
  EXPECT_EQ(months[0].false_alarms, 1);
  EXPECT_EQ(months[1].incidents, 1);
  EXPECT_EQ(months[1].false_alarms, 0);

  said(first, RulingKind::accept);
  EXPECT_EQ(store.rulings().count_false_incidents(), 0);
  EXPECT_EQ(store.rulings().by_month()[0].accepted, 1);
}

TEST_F(RulingsTest, AMuteHoldsForTheSeriesItNames) {
  EXPECT_FALSE(is_muted(dlrm));
  give(RulingKind::mute, {"local", dlrm.benchmark, Metric::latency});
  EXPECT_TRUE(is_muted(dlrm));
  EXPECT_FALSE(is_muted(dcgan));
  auto elsewhere = dlrm;
  elsewhere.fleet = "gpu";
  EXPECT_FALSE(is_muted(elsewhere));
  auto memory = dlrm;
  memory.metric = Metric::cmem;
  EXPECT_FALSE(is_muted(memory));
}

TEST_F(RulingsTest, EmptyFieldsOfAMuteMatchAll) {
  give(RulingKind::mute, {.metric = Metric::latency});
  EXPECT_TRUE(is_muted(dlrm));
  EXPECT_TRUE(is_muted(dcgan));
}

TEST_F(RulingsTest, AMuteExpires) {
  give(RulingKind::mute, {.benchmark = dlrm.benchmark}, early + hours{24});
  EXPECT_TRUE(is_muted(dlrm, early + hours{23}));
  EXPECT_FALSE(is_muted(dlrm, early + hours{24}));
}

TEST_F(RulingsTest, AnUnmuteEndsTheMutesBeforeIt) {
  give(RulingKind::mute, {.benchmark = dlrm.benchmark});
  give(RulingKind::mute, {.fleet = "local"});
  give(RulingKind::unmute, {.benchmark = dlrm.benchmark});
  EXPECT_TRUE(is_muted(dlrm)) << "the fleet's mute is another";
  give(RulingKind::unmute, {.fleet = "local"});
  EXPECT_FALSE(is_muted(dlrm));
  give(RulingKind::mute, {.fleet = "local"});
  EXPECT_TRUE(is_muted(dlrm));
}

}  // namespace
}  // namespace torchwatch::tests
