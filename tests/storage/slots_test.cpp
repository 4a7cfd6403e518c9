#include "storage/slots.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SlotsTest : public TablesTest {
 protected:
  static SlotState slow(std::string fleet, std::size_t slot) {
    SlotState state;
    state.fleet = std::move(fleet);
    state.slot = slot;
    state.use = SlotUse::quarantined;
    state.since = early;
    state.reason = "10.0% slower";
    state.benchmarks = 40;
    state.level = 1.1;
    return state;
  }
};

TEST_F(SlotsTest, KeepTheNewestStateOfEachSlot) {
  auto state = slow("gpu", 1);
  store.slots().set(slow("gpu", 2));
  store.slots().set(state);
  state.use = SlotUse::in_use;
  state.noise = 0.9;
  store.slots().set(state);

  EXPECT_THAT(store.slots().all(), ElementsAre(state, slow("gpu", 2)));
  EXPECT_EQ(store.slots().find("gpu", 1), state);
  EXPECT_EQ(store.slots().find("cpu", 1), std::nullopt);
}

TEST_F(SlotsTest, ListTheQuarantinedOfOneFleet) {
  store.slots().set(slow("gpu", 2));
  store.slots().set(slow("cpu", 0));
  EXPECT_THAT(store.slots().quarantined("gpu"), ElementsAre(2));
  store.slots().remove("gpu", 2);
  EXPECT_THAT(store.slots().quarantined("gpu"), IsEmpty());
  EXPECT_THAT(store.slots().quarantined("cpu"), ElementsAre(0));
}

}  // namespace
}  // namespace torchwatch::tests
