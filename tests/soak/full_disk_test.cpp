#include "tests/soak/full_disk.h"

#include <exception>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/fakes/memory/world.h"

namespace torchwatch::soak {
namespace {

/// A database on a disk that fills.
class FullDiskTest : public testing::Test {
 protected:
  void raise(std::string const& subject) {
    store.alarms().raise(AlarmKind::drift, subject, "", Timestamp{});
  }

  FullDisk disk;
  fakes::MemoryFolder folder;
  storage::Store store = storage::Store::open(folder.path() / "torchwatch.sqlite").value();
};

TEST_F(FullDiskTest, FailsWritesOfTheDatabaseWithSqliteFull) {
  disk.fill_after(0);
  EXPECT_TRUE(disk.is_full());
  EXPECT_THAT([&] { raise("alpha"); },
              testing::ThrowsMessage<std::exception>(testing::HasSubstr("disk is full")));
  EXPECT_GT(disk.failed(), 0);
}

TEST_F(FullDiskTest, LosesNothingThatWasStoredBefore) {
  raise("alpha");
  disk.fill_after(0);
  EXPECT_ANY_THROW(raise("beta"));
  disk.clear();
  EXPECT_FALSE(disk.is_full());
  raise("gamma");
  std::vector<std::string> subjects;
  for (auto const& alarm : store.alarms().open())
    subjects.push_back(alarm.subject);
  EXPECT_THAT(subjects, testing::ElementsAre("alpha", "gamma"));
}

}  // namespace
}  // namespace torchwatch::soak
