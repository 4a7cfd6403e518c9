#include "storage/soundness.h"

#include <fstream>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include "storage/store.h"
#include "tests/storage/samples.h"
#include "tests/temporary_folder.h"

namespace torchwatch::tests {
namespace {

namespace fs = std::filesystem;
using storage::Store;
using ::testing::AllOf;
using ::testing::HasSubstr;

class SoundnessTest : public ::testing::Test {
 protected:
  fs::path file() const { return folder_.database(); }

  void make() const {
    auto store = Store::open(file()).value();
    for (int i = 0; i < 200; ++i)
      store.recipes().with(RecipeKind::program,
                           "recipe " + std::to_string(i) + std::string(200, 'x'));
  }

  void break_seal() const { fs::remove(file().string() + ".seal"); }

  void write(std::string const& bytes) const { std::ofstream{file(), std::ios::binary} << bytes; }

  SQLite::Database database() const {
    return SQLite::Database{file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  }

  /// The error of a Store that must not open, and must not have written.
  Error refusal() const {
    auto const before = text_of(file());
    auto const store = Store::open(file());
    EXPECT_FALSE(store);
    EXPECT_EQ(text_of(file()), before) << "it was written to";
    return store ? Error{} : store.error();
  }

  TemporaryFolder folder_;
};

TEST_F(SoundnessTest, AClosedStoreOpensAgain) {
  make();
  EXPECT_TRUE(storage::inspect_all(file(), {}));
  EXPECT_TRUE(fs::exists(file().string() + ".seal"));
  {
    auto const open = Store::open(file());
    ASSERT_TRUE(open) << open.error().message;
    EXPECT_FALSE(fs::exists(file().string() + ".seal"));
  }
  EXPECT_TRUE(Store::open(file()));
}

TEST_F(SoundnessTest, AFlippedByteIsDetected) {
  constexpr std::size_t flips = 25;
  make();
  auto const good = text_of(file());
  ASSERT_GT(good.size(), 100'000U);
  for (std::size_t i = 0; i < flips; ++i) {
    auto flipped = good;
    auto& byte = flipped[(2 * i + 1) * good.size() / (2 * flips)];
    byte = static_cast<char>(byte ^ 0x40);
    write(flipped);
    auto const error = refusal();
    EXPECT_EQ(error.code, ErrorCode::corrupt) << i;
    EXPECT_THAT(error.message,
                AllOf(HasSubstr(file().string() + ": damaged: "), HasSubstr("restore a backup")));
  }
  write(good);
  EXPECT_TRUE(Store::open(file()));
}

TEST_F(SoundnessTest, ATornPageIsDetectedAfterAKill) {
  make();
  break_seal();
  auto torn = text_of(file());
  torn.replace(torn.size() / 2, 4096, 4096, '\0');
  write(torn);
  EXPECT_EQ(refusal().code, ErrorCode::corrupt);
  auto const found = storage::inspect_all(file(), {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::corrupt);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr(file().string() + ": damaged: "), HasSubstr(".recover")));
}

TEST_F(SoundnessTest, InspectAllReportsWhyItEnded) {
  make();
  std::stop_source stop;
  stop.request_stop();
  auto const stopped = storage::inspect_all(file(), stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);

  auto const missing = storage::inspect_all(file().string() + ".other", {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(fs::exists(file().string() + ".other"));

  write("a letter to my grandmother, and so on until there is something to read");
  auto const damaged = storage::inspect_all(file(), {});
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::corrupt);
}

TEST_F(SoundnessTest, ATruncatedFileIsDetected) {
  make();
  break_seal();
  fs::resize_file(file(), fs::file_size(file()) / 2);
  EXPECT_EQ(refusal().code, ErrorCode::corrupt);
}

TEST_F(SoundnessTest, AnotherProgramsDatabaseIsLeftAlone) {
  database().exec("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x')");
  auto error = refusal();
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(error.message, HasSubstr(file().string() + ": not a database of torchwatch"));

  database().exec("PRAGMA user_version = 3");
  EXPECT_EQ(refusal().code, ErrorCode::refused);
  database().exec("PRAGMA application_id = 77");
  EXPECT_THAT(refusal().message, HasSubstr("application_id 77"));
  EXPECT_FALSE(fs::exists(file().string() + "-wal"));
}

TEST_F(SoundnessTest, AFileThatIsNotADatabaseIsLeftAlone) {
  write("a letter to my grandmother");
  EXPECT_THAT(refusal().message, HasSubstr("it does not begin like a SQLite database"));
}

TEST_F(SoundnessTest, NewDatabase_HasTheApplicationId) {
  make();
  EXPECT_EQ(database().execAndGet("PRAGMA application_id").getInt(), storage::application_id);
}

TEST_F(SoundnessTest, DatabaseOfADevelopmentVersion_IsRefusedWithWhatToDo) {
  database().exec(
      "CREATE TABLE nightly (id INTEGER PRIMARY KEY); "
      "PRAGMA application_id = 1415005000; PRAGMA user_version = 33");
  auto const error = refusal();
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr(file().string() + ": written by a development version"),
                    HasSubstr("Move it away to start with a new database")));
}

TEST_F(SoundnessTest, AnEditedDatabaseIsRefusedUntilTheSealIsRemoved) {
  make();
  database().exec("DELETE FROM recipe WHERE id = 7");
  EXPECT_THAT(refusal().message,
              HasSubstr("if this was intended, remove " + file().string() + ".seal"));
  break_seal();
  EXPECT_TRUE(Store::open(file()));
}

TEST_F(SoundnessTest, AnIncompleteSealIsIgnored) {
  make();
  std::ofstream{file().string() + ".seal"} << "abc";
  EXPECT_TRUE(Store::open(file()));
}

TEST_F(SoundnessTest, TryToWriteFailsWhenTheDiskCannotBeWritten) {
  auto store = Store::open(file()).value();
  EXPECT_TRUE(store.try_to_write());
  std::filesystem::create_directory(file().string() + ".probe.new");
  auto const refused = store.try_to_write();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().message, HasSubstr(file().string() + ".probe: cannot be written"));
}

}  // namespace
}  // namespace torchwatch::tests
