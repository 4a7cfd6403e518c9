#include "storage/builds.h"

#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using storage::BuildRecord;
using storage::BuildState;

using BuildsTest = TablesTest;

TEST_F(BuildsTest, TheLastRecordOfABuildCounts) {
  EXPECT_EQ(store.builds().find(sha_of('a')), std::nullopt);
  store.builds().record(
      BuildRecord{sha_of('a'), BuildState::unbuildable, "", "exit status 125", early});
  EXPECT_EQ(store.builds().find(sha_of('a'))->note, "exit status 125");
  EXPECT_EQ(store.builds().find(sha_of('a'))->state, BuildState::unbuildable);

  store.builds().record(BuildRecord{sha_of('a'), BuildState::built, "/builds/a", "", early});

  auto const read = store.builds().find(sha_of('a')).value();
  EXPECT_EQ(read.state, BuildState::built);
  EXPECT_EQ(read.prefix, "/builds/a");
  EXPECT_EQ(read.finished_at, early);
}

TEST_F(BuildsTest, TheCostOfABuildIsTheMeanOfTheNewest) {
  EXPECT_EQ(store.builds().mean_seconds(2, false), std::nullopt);
  using std::chrono::hours;
  store.builds().record({sha_of('a'), BuildState::built, "/a", "", early, 1000});
  store.builds().record({sha_of('b'), BuildState::built, "/b", "", early + hours{1}, 20});
  store.builds().record({sha_of('c'), BuildState::built, "/c", "", early + hours{2}, 30});
  store.builds().record({sha_of('d'), BuildState::built, "/d", "", early + hours{3}});
  store.builds().record({sha_of('e'), BuildState::unbuildable, "", "", early + hours{4}, 1});

  store.builds().record({sha_of('f'), BuildState::built, "/f", "", early + hours{5}, 7, true});

  EXPECT_EQ(store.builds().mean_seconds(2, false), 25);
  EXPECT_EQ(store.builds().mean_seconds(2, true), 7);
  EXPECT_TRUE(store.builds().find(sha_of('f'))->is_incremental);
  EXPECT_EQ(store.builds().find(sha_of('a'))->seconds, 1000);
}

}  // namespace
}  // namespace torchwatch::tests
