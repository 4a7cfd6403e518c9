#include "storage/baselines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class BaselinesTest : public TablesTest {
 protected:
  NightlyId first = announce("2026-01-01", 'a');
  NightlyId second = announce("2026-01-02", 'b');
  NightlyId third = announce("2026-01-03", 'c');
  NightlyId tonight = announce("2026-01-04", 'd');
};

TEST_F(BaselinesTest, AreReplacedByTheLastChoice) {
  EXPECT_THAT(store.baselines().of(tonight), IsEmpty());
  store.baselines().choose(tonight, {{latency_of("dlrm"), first}, {latency_of("dcgan"), first}});
  store.baselines().choose(tonight, {{latency_of("dlrm"), second}});

  EXPECT_THAT(store.baselines().of(tonight), ElementsAre(Pair(latency_of("dlrm"), second)));
  EXPECT_THAT(store.baselines().of(third), IsEmpty());
}

TEST_F(BaselinesTest, OfAnIncidentAreListedWhenLaterThanItsOwn) {
  auto nightly = store.nightlies().find(tonight).value();
  nightly.baseline = third;
  store.nightlies().update(nightly);
  store.baselines().choose(tonight, {{latency_of("dcgan"), second}, {latency_of("dlrm"), first}});
  for (auto const* const model : {"dcgan", "dlrm", "zoo"})
    store.incidents().record(tonight, {latency_of(model), slower()});

  auto const incident = store.incidents().open(first, tonight, early);

  EXPECT_THAT(incident.later_baselines,
              ElementsAre(Pair(latency_of("dcgan"), second), Pair(latency_of("zoo"), third)));
  EXPECT_EQ(baseline_of(incident, latency_of("dlrm")), first);
  EXPECT_EQ(baseline_of(incident, latency_of("zoo")), third);
  EXPECT_TRUE(is_end_of(incident, second));
  auto const story = story_of(store, incident);
  EXPECT_EQ(story.later_baselines.at(third).date, "2026-01-03");
}

}  // namespace
}  // namespace torchwatch::tests
