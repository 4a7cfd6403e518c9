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

}  // namespace
}  // namespace torchwatch::tests
