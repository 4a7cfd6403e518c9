#include "storage/retries.h"

#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using RetriesTest = TablesTest;

TEST_F(RetriesTest, TheFirstAttemptIsKeptOverARestart) {
  store.retries().note("nightly 1", early, "503");
  auto const again = store.retries().note("nightly 1", early + hours{2}, "404");
  EXPECT_EQ(again.since, early);
  EXPECT_EQ(again.last, early + hours{2});
  EXPECT_EQ(again.reason, "404");

  auto after_restart = storage::Store::open_reader(folder.database()).value();
  EXPECT_EQ(after_restart.retries().find("nightly 1")->since, early);
  EXPECT_FALSE(store.retries().find("nightly 2"));
}

TEST_F(RetriesTest, ASuccessRestartsThePatience) {
  store.retries().note("nightly 1", early, "503");
  store.retries().forget("nightly 1");
  EXPECT_FALSE(store.retries().find("nightly 1"));
  EXPECT_EQ(store.retries().note("nightly 1", early + hours{9}, "503").since, early + hours{9});
}

TEST(Retry, IsDueAtGrowingIntervals) {
  Retry retry{"nightly 1", early, early, "503"};
  EXPECT_EQ(next_attempt(retry), early);
  retry.last = early + minutes{20};
  EXPECT_EQ(next_attempt(retry), early + minutes{30});
  retry.last = early + hours{10};
  EXPECT_EQ(next_attempt(retry), early + hours{11});
  retry.last = early + hours{23} + minutes{30};
  EXPECT_EQ(next_attempt(retry), early + hours{24});
}

TEST(Retry, IsOverWithTheFirstAttemptAfterADay) {
  EXPECT_FALSE(is_over({"nightly 1", early, early + hours{23}, "503"}));
  EXPECT_TRUE(is_over({"nightly 1", early, early + hours{24}, "503"}));
}

}  // namespace
}  // namespace torchwatch::tests
