#include "runner/processors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Processors, DifferForEachSlot) {
  std::vector<int> const order{7, 6, 5, 4, 3};

  EXPECT_THAT(Processors(order, 0).pick(2), ElementsAre(7, 6));
  EXPECT_THAT(Processors(order, 1).pick(2), ElementsAre(5, 4));
}

TEST(Processors, AreSharedByMoreSlots) {
  std::vector<int> const order{7, 6, 5, 4, 3};

  EXPECT_THAT(Processors(order, 2).pick(2), ElementsAre(7, 6));
  EXPECT_THAT(Processors(order, 11).pick(5), ElementsAre(7, 6, 5, 4, 3));
}

TEST(Processors, AreSpareUnlessAnotherSlotPicksThem) {
  std::vector<int> const order{7, 6, 5, 4, 3};

  EXPECT_THAT(Processors(order, 0, 1).spare(2), ElementsAre(7, 6, 5, 4, 3));
  EXPECT_THAT(Processors(order, 0, 2).spare(2), ElementsAre(7, 6, 3));
  EXPECT_THAT(Processors(order, 1, 2).spare(2), ElementsAre(5, 4, 3));
  EXPECT_THAT(Processors(order, 2, 3).spare(2), ElementsAre(7, 6, 3)) << "shared with slot 0";
  EXPECT_THAT(Processors(order, 0, 2).spare(6), ElementsAre(7, 6, 5, 4, 3)) << "none is picked";
}

TEST(Processors, AreNoneWhenThereAreTooFew) {
  EXPECT_THAT(Processors({1, 0}, 0).pick(3), IsEmpty());
  EXPECT_THAT(Processors({}, 0).pick(1), IsEmpty());
  EXPECT_THAT(Processors({1, 0}, 0).pick(0), IsEmpty());
}

TEST(Processors, AreThoseNearTheGpu) {
  Processors const all{{7, 6, 5, 4, 3}, 0};
  EXPECT_THAT(all.among({4, 5, 6, 100}), ElementsAre(6, 5, 4));
  EXPECT_THAT(all.among({}), IsEmpty());
}

TEST(Processors, OfThisHostAreThoseOfOurOwn) {
  auto const all = Processors::of_slot(0);

  auto const one = all.pick(1);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(Processors::of_slot(1).pick(1) == one, all.pick(2).empty());
}

}  // namespace
}  // namespace torchwatch::runner
