#include "storage/store.h"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/storage/samples.h"

namespace torchwatch::tests {
namespace {

using storage::Store;
using ::testing::HasSubstr;

class StoreTest : public ::testing::Test {
 protected:
  TemporaryFolder folder;
};

TEST_F(StoreTest, ASecondWriterIsRefusedByName) {
  auto const first = Store::open(folder.database());
  ASSERT_TRUE(first);

  auto const second = Store::open(folder.database());

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::unavailable);
  EXPECT_THAT(second.error().message, HasSubstr(folder.database().string()));
}

TEST_F(StoreTest, AWriterInAnotherProcessIsRefusedToo) {
  auto const first = Store::open(folder.database());
  ASSERT_TRUE(first);

  auto const child = ::fork();
  if (child == 0) ::_exit(Store::open(folder.database()) ? 1 : 0);
  int status = -1;
  ::waitpid(child, &status, 0);

  EXPECT_EQ(status, 0);
}

TEST_F(StoreTest, ASecondWriterIsRefusedThoughTheLockFileWasDeleted) {
  auto const first = Store::open(folder.database());
  ASSERT_TRUE(first);
  ASSERT_TRUE(std::filesystem::remove(folder.database().string() + ".lock"));
  EXPECT_TRUE(storage::has_writer(folder.database()));

  auto const second = Store::open(folder.database());

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::unavailable);
  EXPECT_THAT(second.error().message, HasSubstr("is in use by another torchwatch"));
  EXPECT_TRUE(storage::has_writer(folder.database())) << "the lock file was made again";
}

TEST_F(StoreTest, ANewWriterOpensAfterTheFirstIsClosed) {
  {
    auto const first = Store::open(folder.database());
    ASSERT_TRUE(first);
  }
  EXPECT_TRUE(Store::open(folder.database()));
}

TEST_F(StoreTest, HasWriterReportsOpenWriters) {
  EXPECT_FALSE(storage::has_writer(folder.database()));
  EXPECT_EQ(folder.entries(), 0);
  {
    auto const writer = Store::open(folder.database());
    ASSERT_TRUE(writer);
    EXPECT_TRUE(storage::has_writer(folder.database()));
  }
  EXPECT_FALSE(storage::has_writer(folder.database()));
}

TEST_F(StoreTest, AMovedStoreKeepsItsLock) {
  auto first = Store::open(folder.database());
  ASSERT_TRUE(first);
  Store moved = std::move(*first);

  EXPECT_FALSE(Store::open(folder.database()));
  EXPECT_TRUE(moved.nightlies().announce(nightly_of("2026-01-01", 'a')));
}

TEST_F(StoreTest, AReaderSeesWhatIsCommittedWithoutWaitingForAnOpenTransaction) {
  auto writer = Store::open(folder.database());
  ASSERT_TRUE(writer);
  writer->nightlies().announce(nightly_of("2026-01-01", 'a'));
  SQLite::Database pending{folder.database().string(), SQLite::OPEN_READWRITE};
  SQLite::Transaction transaction{pending, SQLite::TransactionBehavior::IMMEDIATE};
  pending.exec("UPDATE nightly SET failure = 'not yet'");

  auto const begin = std::chrono::steady_clock::now();
  auto reader = Store::open_reader(folder.database());
  ASSERT_TRUE(reader);
  auto const seen = reader->nightlies().all();

  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            std::chrono::seconds{5});  // a writer would wait ten
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen.front().failure, "");
}

TEST_F(StoreTest, AReaderSeesLaterCommits) {
  auto writer = Store::open(folder.database());
  ASSERT_TRUE(writer);
  auto reader = Store::open_reader(folder.database());
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->nightlies().all().empty());

  writer->nightlies().announce(nightly_of("2026-01-01", 'a'));

  EXPECT_EQ(reader->nightlies().all().size(), 1U);
}

TEST_F(StoreTest, AReaderSeesNoNewVersionAfterAProbe) {
  auto writer = Store::open(folder.database());
  ASSERT_TRUE(writer);
  auto reader = Store::open_reader(folder.database());
  ASSERT_TRUE(reader);
  auto const before = reader->version();

  ASSERT_TRUE(writer->try_to_write());
  ASSERT_TRUE(writer->try_to_write());
  EXPECT_EQ(reader->version(), before);

  writer->nightlies().announce(nightly_of("2026-01-01", 'a'));
  EXPECT_NE(reader->version(), before);
}

TEST_F(StoreTest, AReaderCannotWrite) {
  auto const writer = Store::open(folder.database());
  ASSERT_TRUE(writer);
  auto reader = Store::open_reader(folder.database());
  ASSERT_TRUE(reader);

  EXPECT_THROW(reader->nightlies().announce(nightly_of("2026-01-01", 'a')), SQLite::Exception);
}

TEST_F(StoreTest, AReaderFailsBeforeTheFirstWriter) {
  auto const reader = Store::open_reader(folder.database());
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::not_found);
  EXPECT_THAT(reader.error().message, HasSubstr(folder.database().string()));
}

TEST_F(StoreTest, AFileThatIsNotADatabaseIsRefusedAndKept) {
  std::string const text(4096, 'x');
  std::ofstream{folder.database()} << text;

  auto const store = Store::open(folder.database());

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::refused);
  std::ifstream file{folder.database()};
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>{file}, {}), text);
}

TEST_F(StoreTest, AFolderThatDoesNotExistIsNamed) {
  auto const file = folder.database() / "below" / "a.db";
  auto const store = Store::open(file);
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr(file.string()));
}

TEST_F(StoreTest, AStoryHoldsEverythingAboutAnIncident) {
  auto store = Store::open(folder.database());
  ASSERT_TRUE(store);
  store->nightlies().announce(nightly_of("2026-01-01", 'a'));
  store->nightlies().announce(nightly_of("2026-01-02", 'b'));
  auto const control = outcome_of({"nightly/2"}, 0, 10);
  auto treatment = outcome_of({"nightly/2"}, 1, 12);
  treatment.key.commit = sha_of('b');
  treatment.version = "2.10.0a0";
  auto crashed = outcome_of({"nightly/2"}, 2, 0);
  crashed.key.commit = sha_of('b');
  crashed.values.clear();
  crashed.error_code = JobError::crashed;
  crashed.version = "unknown";
  for (auto const& outcome : {control, treatment, crashed})
    store->jobs().record({outcome});
  store->incidents().record(NightlyId{2}, SeriesChange{latency_of("dlrm"), slower()});
  auto const incident = store->incidents().open(NightlyId{1}, NightlyId{2}, early);
  BisectionRequest request;
  request.series = {latency_of("dlrm")};
  store->bisections().ask(request, incident.id, early);
  store->bisections().ask(request, std::nullopt, early);

  auto const story = story_of(*store, incident);

  EXPECT_EQ(story.baseline.date, "2026-01-01");
  EXPECT_EQ(story.nightly.date, "2026-01-02");
  EXPECT_EQ(story.bisections.size(), 1U);
  EXPECT_EQ(story.baseline_pytorch, "2.9.0a0");
  EXPECT_EQ(story.nightly_pytorch, "2.10.0a0");
  EXPECT_THAT(story.fingerprint, HasSubstr("lab"));
  EXPECT_EQ(story.incident.changes.size(), 1U);
}

}  // namespace
}  // namespace torchwatch::tests
