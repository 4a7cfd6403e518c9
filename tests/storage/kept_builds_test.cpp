#include "storage/kept_builds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class KeptBuildsTest : public TablesTest {
 protected:
  static KeptBuild kept(std::string name, std::int64_t bytes) {
    KeptBuild build;
    build.name = std::move(name);
    build.bytes = bytes;
    build.made_at = early;
    build.used_at = early + std::chrono::hours{1};
    return build;
  }

  Pin const pin{"ada", "for the paper", early};
};

TEST_F(KeptBuildsTest, AreReadAsTheyWereRecorded) {
  store.kept_builds().record(kept("nightly-2", 2));
  store.kept_builds().record(kept("nightly-1", 1));
  EXPECT_THAT(store.kept_builds().all(), ElementsAre(kept("nightly-1", 1), kept("nightly-2", 2)));
  EXPECT_EQ(store.kept_builds().find("nightly-3"), std::nullopt);
}

TEST_F(KeptBuildsTest, APinOutlivesALaterRecord) {
  store.kept_builds().record(kept("nightly-1", 1));
  EXPECT_TRUE(store.kept_builds().pin("nightly-1", pin));
  store.kept_builds().record(kept("nightly-1", 5));
  EXPECT_EQ(store.kept_builds().find("nightly-1")->bytes, 5);
  EXPECT_EQ(store.kept_builds().find("nightly-1")->pin, pin);
  EXPECT_TRUE(store.kept_builds().pin("nightly-1", std::nullopt));
  EXPECT_EQ(store.kept_builds().find("nightly-1")->pin, std::nullopt);
  EXPECT_FALSE(store.kept_builds().pin("nightly-9", pin));
}

TEST_F(KeptBuildsTest, AreRemoved) {
  store.kept_builds().record(kept("nightly-1", 1));
  store.kept_builds().remove("nightly-1");
  store.kept_builds().remove("nightly-1");
  EXPECT_THAT(store.kept_builds().all(), IsEmpty());
}

TEST_F(KeptBuildsTest, AreWantedUntilTheRequestIsDeleted) {
  auto const nightly = announce("2026-01-01", 'a');
  WantedBuild const wanted{nightly, pin};
  store.kept_builds().want(wanted);
  store.kept_builds().want(wanted);
  EXPECT_THAT(store.kept_builds().wanted(), ElementsAre(wanted));
  store.kept_builds().want_no_more(nightly);
  EXPECT_THAT(store.kept_builds().wanted(), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::tests
