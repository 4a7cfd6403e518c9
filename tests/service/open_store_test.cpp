#include "daemon/service/open_store.h"

#include <gmock/gmock.h>

#include "tests/service/damage.h"

namespace torchwatch::service {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class OpenStoreTest : public testing::Test {
 protected:
  OpenStoreTest() { options_.state_dir = (folder_ / "state").string(); }

  fs::path file() const { return store_file(options_); }

  void write(std::string const& bytes) const { std::ofstream{file(), std::ios::binary} << bytes; }

  tests::TemporaryFolder folder_;
  config::Options options_;
};

TEST_F(OpenStoreTest, MakesWhatIsNotThere) {
  ASSERT_TRUE(open_store(options_));
  EXPECT_TRUE(open_store(options_)) << "and opens it again";
}

/// Twenty-five, spread over the file that a service left behind when it stopped.
TEST_F(OpenStoreTest, ServesNoneOfTwentyFiveFlippedBytes) {
  constexpr std::size_t flips = 25;
  fs::create_directories(options_.state_dir);
  tests::make_unsealed_store(file());
  { auto const sealed = open_store(options_); }
  auto const good = tests::text_of(file());
  auto const seal = tests::text_of(file().string() + ".seal");
  for (std::size_t i = 0; i < flips; ++i) {
    auto flipped = good;
    auto& byte = flipped[(2 * i + 1) * good.size() / (2 * flips)];
    byte = static_cast<char>(byte ^ (1 << (i % 8)));
    write(flipped);

    auto const opened = open_store(options_);

    ASSERT_FALSE(opened) << "flip " << i;
    EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
    EXPECT_THAT(opened.error().message,
                AllOf(HasSubstr(file().string() + ": damaged: "), HasSubstr("restore a backup")));
    EXPECT_TRUE(tests::text_of(file()) == flipped) << "flip " << i << " was written to";
    EXPECT_EQ(tests::text_of(file().string() + ".seal"), seal);
    EXPECT_FALSE(fs::exists(file().string() + "-wal"));
  }
  write(good);
  EXPECT_TRUE(open_store(options_));
}

/// A killed service leaves no seal: what SQLite sees is refused, what it does not see is a value
/// that can be read.
TEST_F(OpenStoreTest, AfterAKillServesNothingThatCannotBeRead) {
  constexpr std::size_t flips = 25;
  fs::create_directories(options_.state_dir);
  tests::make_unsealed_store(file());
  auto const good = tests::text_of(file());
  std::size_t refused = 0;
  for (std::size_t i = 0; i < flips; ++i) {
    auto flipped = good;
    auto& byte = flipped[i * good.size() / flips];
    byte = static_cast<char>(byte ^ (1 << (i % 8)));
    for (auto const& left : {"-wal", "-shm", ".seal"})
      fs::remove(file().string() + left);
    write(flipped);

    auto opened = open_store(options_);

    if (!opened) {
      ++refused;
      EXPECT_TRUE(tests::text_of(file()) == flipped) << "flip " << i << " was written to";
      continue;
    }
    for (std::int64_t id = 1; id <= 200; ++id)
      EXPECT_NO_THROW(opened->recipes().find(RecipeId{id})) << "flip " << i;
  }
  EXPECT_GT(refused, 0U);
}

TEST_F(OpenStoreTest, LeavesAForeignDatabaseAsItIs) {
  fs::create_directories(options_.state_dir);
  {
    SQLite::Database database{file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x')");
  }
  auto const before = tests::text_of(file());

  auto const opened = open_store(options_);

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::refused);
  EXPECT_THAT(opened.error().message, HasSubstr("not a database of torchwatch"));
  EXPECT_TRUE(tests::text_of(file()) == before);
}

TEST_F(OpenStoreTest, RejectsAnEmptyDatabaseNextToBuilds) {
  fs::create_directories(fs::path{options_.state_dir} / "builds");
  write("");

  auto const opened = open_store(options_);

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("empty, although builds or reports"));
  EXPECT_EQ(fs::file_size(file()), 0U);
}

TEST_F(OpenStoreTest, TakesAnEmptyDatabaseInAnEmptyDirectory) {
  fs::create_directories(options_.state_dir);
  write("");
  EXPECT_TRUE(open_store(options_));
}

}  // namespace
}  // namespace torchwatch::service
