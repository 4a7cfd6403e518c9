#include "storage/backup.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <stop_token>
#include <string>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/store.h"
#include "tests/storage/samples.h"

namespace torchwatch::tests {
namespace {

namespace fs = std::filesystem;
using storage::IfExists;
using storage::Store;
using ::testing::AllOf;
using ::testing::HasSubstr;

class BackupTest : public ::testing::Test {
 protected:
  fs::path file() const { return folder / "backup.sqlite"; }

  fs::path state() const { return folder / "state"; }

  fs::path database() const { return state() / "torchwatch.sqlite"; }

  fs::path other() const { return folder / "other/place/torchwatch.sqlite"; }

  /// Makes a database with recipes 1 to `count`.
  void make(int count) const {
    fs::create_directories(state());
    auto store = Store::open(database()).value();
    add_recipes(store, count);
  }

  static void add_recipes(Store& store, int count) {
    for (int i = 1; i <= count; ++i)
      store.recipes().with(RecipeKind::program,
                           "recipe " + std::to_string(i) + std::string(200, 'x'));
  }

  Result<storage::Copy> back_up(IfExists if_exists = IfExists::refuse) const {
    return storage::back_up(database(), file(), if_exists);
  }

  Result<storage::Restored> restore(IfExists if_exists = IfExists::refuse) const {
    return storage::restore(file(), other(), if_exists, early);
  }

  /// Returns the error of a restore that must fail and must leave `other()` as it is.
  Error refusal(IfExists if_exists = IfExists::refuse) const {
    auto const before = text_of(other());
    auto const restored = restore(if_exists);
    EXPECT_FALSE(restored);
    EXPECT_EQ(text_of(other()), before);
    EXPECT_FALSE(fs::exists(other().string() + ".restored"));
    return restored ? Error{} : restored.error();
  }

  void write(std::string const& bytes) const { std::ofstream{file(), std::ios::binary} << bytes; }

  /// Returns the number of recipes; -1 when the database cannot be opened.
  static int recipes_in(fs::path const& database) {
    auto const store = Store::open(database);
    if (!store) return -1;
    SQLite::Database reader{database.string(), SQLite::OPEN_READONLY};
    return reader.execAndGet("SELECT count(*) FROM recipe").getInt();
  }

  TemporaryFolder folder;
};

TEST_F(BackupTest, RestoredCopyHasTheRowsOfTheDatabase) {
  make(200);
  {
    auto store = Store::open(database()).value();
    store.nightlies().announce(nightly_of("2026-01-01", 'a'));
    auto const copy = back_up();
    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_EQ(copy->counts.front().table, "nightly");
    EXPECT_EQ(copy->counts.front().rows, 1);
    EXPECT_EQ(copy->bytes, static_cast<std::int64_t>(fs::file_size(file())));
  }

  auto const restored = restore();

  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_TRUE(restored->replaced.empty());
  EXPECT_EQ(restored->database.counts.front().rows, 1);
  EXPECT_EQ(recipes_in(other()), 200);
}

TEST_F(BackupTest, BackupWhileAThreadWrites_IsOfOneMoment) {
  make(10);
  auto store = Store::open(database()).value();
  std::atomic<int> written = 10;
  std::jthread const writer{[&](std::stop_token const& stop) {
    while (!stop.stop_requested()) {
      store.recipes().with(RecipeKind::program, "more " + std::to_string(written));
      ++written;
    }
  }};
  for (int i = 0; i < 5; ++i) {
    int const before = written;
    auto const copy = back_up(IfExists::replace);
    EXPECT_TRUE(copy) << copy.error().message;
    int const after = written;
    auto const restored = restore(i == 0 ? IfExists::refuse : IfExists::replace);
    ASSERT_TRUE(restored) << restored.error().message;
    int const found = recipes_in(other());
    EXPECT_GE(found, before);
    EXPECT_LE(found, after + 1);
  }
}

TEST_F(BackupTest, ExistingFile_IsReplacedOnlyOnRequest) {
  make(1);
  write("a letter");
  auto const refused = back_up();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--force replaces it"));
  EXPECT_EQ(text_of(file()), "a letter");

  EXPECT_TRUE(back_up(IfExists::replace));
  EXPECT_TRUE(restore());
}

TEST_F(BackupTest, FilesOfTheDatabaseItself_AreNeverReplaced) {
  make(1);
  fs::create_symlink(database(), folder / "link");
  for (auto const& name : {database(), folder / "link", fs::path{database().string() + "-wal"}}) {
    auto const refused = storage::back_up(database(), name, IfExists::replace);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::refused) << name;
  }
  EXPECT_EQ(recipes_in(database()), 1);
}

TEST_F(BackupTest, WithoutADatabase_FailsAndWritesNothing) {
  auto const missing = back_up();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(BackupTest, DamagedDatabase_IsNotBackedUp) {
  make(200);
  auto bytes = text_of(database());
  bytes.replace(bytes.size() / 2, 4096, 4096, '\0');
  std::ofstream{database(), std::ios::binary} << bytes;
  auto const refused = back_up();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_THAT(refused.error().message, HasSubstr(database().string() + ": damaged: "));
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_FALSE(fs::exists(file().string() + ".new"));
}

TEST_F(BackupTest, FlippedByte_IsRefused) {
  constexpr std::size_t flips = 25;
  make(200);
  ASSERT_TRUE(back_up());
  auto const good = text_of(file());
  for (std::size_t i = 0; i < flips; ++i) {
    auto flipped = good;
    auto& byte = flipped[(2 * i + 1) * good.size() / (2 * flips)];
    byte = static_cast<char>(byte ^ 0x40);
    write(flipped);
    auto const error = refusal();
    EXPECT_EQ(error.code, ErrorCode::corrupt) << i;
    EXPECT_THAT(error.message,
                AllOf(HasSubstr(file().string() + ": damaged: "), HasSubstr("another backup")));
  }
  write(good);
  EXPECT_TRUE(restore());
}

TEST_F(BackupTest, TruncatedFile_IsRefused) {
  make(200);
  ASSERT_TRUE(back_up());
  auto const good = text_of(file());
  for (auto const left : {good.size() - 1, good.size() - 200, good.size() / 2, std::size_t{8192}}) {
    write(good.substr(0, left));
    EXPECT_EQ(refusal().code, ErrorCode::corrupt) << left;
  }
  write("");
  EXPECT_EQ(refusal().code, ErrorCode::refused);
}

TEST_F(BackupTest, BackupOfANewerProgram_IsRefused) {
  make(1);
  fs::remove(database().string() + ".seal");
  SQLite::Database{database().string(), SQLite::OPEN_READWRITE}.exec("PRAGMA user_version = 99");
  fs::copy_file(database(), file());
  auto const error = refusal();
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("database has version 99"), HasSubstr("install a newer torchwatch")));
}

TEST_F(BackupTest, OtherFiles_AreRefused) {
  write("a letter to my grandmother" + std::string(1000, '.'));
  EXPECT_THAT(refusal().message, HasSubstr("not a database of torchwatch"));
  fs::remove(file());
  SQLite::Database{file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE}.exec(
      "CREATE TABLE bookmarks (url TEXT)");
  EXPECT_THAT(refusal().message, HasSubstr("not a database of torchwatch"));
  fs::remove(file());
  EXPECT_EQ(refusal().code, ErrorCode::not_found);
}

TEST_F(BackupTest, CopyOfAClosedDatabase_IsRestoredToo) {
  make(3);
  fs::copy_file(database(), file());
  ASSERT_TRUE(restore());
  EXPECT_EQ(recipes_in(other()), 3);
}

TEST_F(BackupTest, RestoreIntoAStateInUse_IsRefused) {
  make(1);
  ASSERT_TRUE(back_up());
  fs::create_directories(other().parent_path());
  auto const service = Store::open(other());
  ASSERT_TRUE(service);
  auto const refused = restore(IfExists::replace);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("stop the service first"));
}

TEST_F(BackupTest, RestoreOverADatabase_KeepsItUnderAnotherName) {
  make(3);
  ASSERT_TRUE(back_up());
  ASSERT_TRUE(restore());
  {
    auto store = Store::open(other()).value();
    add_recipes(store, 7);
  }
  EXPECT_EQ(refusal().code, ErrorCode::refused);

  auto const restored = restore(IfExists::replace);

  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->replaced.string(), other().string() + ".before-restore-1");
  EXPECT_EQ(recipes_in(other()), 3) << "its seal was that of the old database";
  EXPECT_EQ(recipes_in(restored->replaced), 7);
  EXPECT_EQ(restore(IfExists::replace)->replaced.string(), other().string() + ".before-restore-2");
}

TEST_F(BackupTest, LogOfAKilledService_StaysWithTheReplacedDatabase) {
  make(3);
  ASSERT_TRUE(back_up());
  ASSERT_TRUE(restore());
  auto const child = ::fork();
  if (child == 0) {
    auto store = Store::open(other()).value();
    add_recipes(store, 7);
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(fs::exists(other().string() + "-wal"));

  auto const restored = restore(IfExists::replace);

  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(recipes_in(other()), 3);
  EXPECT_EQ(recipes_in(restored->replaced), 7);
}

TEST_F(BackupTest, LogsOfADatabaseThatCannotBeRead_AreNotAppliedToTheNewOne) {
  make(3);
  ASSERT_TRUE(back_up());
  fs::create_directories(other().parent_path());
  std::ofstream{other()} << "not a database" << std::string(5000, '.');
  for (auto const* const log : {"-wal", "-journal"})
    std::ofstream{other().string() + log} << "its log";

  auto const restored = restore(IfExists::replace);

  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(recipes_in(other()), 3);
  EXPECT_FALSE(fs::exists(other().string() + "-journal"));
  EXPECT_THAT(text_of(restored->replaced), HasSubstr("not a database"));
}

TEST_F(BackupTest, FileThatRestoreWritesTo_IsNoBackup) {
  make(3);
  ASSERT_TRUE(back_up());
  fs::create_directories(other().parent_path());
  auto const name = other().string() + ".restored";
  fs::rename(file(), name);
  auto const refused = storage::restore(name, other(), IfExists::replace, early);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::refused);
  EXPECT_TRUE(fs::exists(name));
}

/// Runs `task` in a process that is killed by its first write beyond `bytes` of a file.
template <class Task>
bool is_killed_beyond(std::size_t bytes, Task task) {
  auto const child = ::fork();
  if (child == 0) {
    rlimit const no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    rlimit const limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_DFL);
    task();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

TEST_F(BackupTest, KilledBackup_LeavesTheOldOne) {
  make(3);
  ASSERT_TRUE(back_up());
  auto const old = text_of(file());
  {
    auto store = Store::open(database()).value();
    add_recipes(store, 300);
  }
  int kills = 0;
  for (std::size_t bytes = 0;; bytes += 16384) {
    bool const is_killed =
        is_killed_beyond(bytes, [&] { static_cast<void>(back_up(IfExists::replace)); });
    if (!is_killed) break;
    ++kills;
    EXPECT_EQ(text_of(file()), old) << bytes;
  }
  EXPECT_GE(kills, 5);
  ASSERT_TRUE(restore());
  EXPECT_EQ(recipes_in(other()), 300) << "the last one was not killed";
}

TEST_F(BackupTest, KilledRestore_LeavesTheOldDatabase) {
  make(300);
  ASSERT_TRUE(back_up());
  fs::create_directories(other().parent_path());
  {
    auto store = Store::open(other()).value();
    add_recipes(store, 7);
  }
  int kills = 0;
  for (std::size_t bytes = 0;; bytes += 16384) {
    bool const is_killed =
        is_killed_beyond(bytes, [&] { static_cast<void>(restore(IfExists::replace)); });
    if (!is_killed) break;
    ++kills;
    EXPECT_EQ(recipes_in(other()), 7) << bytes;
  }
  EXPECT_GE(kills, 5);
  EXPECT_EQ(recipes_in(other()), 300) << "the last one was not killed";
  EXPECT_FALSE(fs::exists(other().string() + ".restored"));
}

TEST_F(BackupTest, RestoreAfterAKilledOne_Succeeds) {
  make(3);
  ASSERT_TRUE(back_up());
  fs::create_directories(other().parent_path());
  std::ofstream{other().string() + ".restored"} << "half of a copy";
  std::ofstream{other().string() + ".restored-wal"} << "its log";
  std::ofstream{other().string() + "-wal"} << "the log of a database that is gone";
  ASSERT_TRUE(restore());
  EXPECT_EQ(recipes_in(other()), 3);
}

// Paths ---------------------------------------------------------------------------------------

TEST_F(BackupTest, PathsInTheState_AreThoseOfTheRestoredState) {
  make(1);
  {
    auto store = Store::open(database()).value();
    auto inside = nightly_of("2026-01-01", 'a');
    inside.prefix = (state() / "builds/nightly-1/libtorch").string();
    store.nightlies().announce(inside);
    auto outside = nightly_of("2026-01-02", 'b');
    outside.prefix = "/srv/nightlies/2026-01-02";
    store.nightlies().announce(outside);
    storage::BuildRecord build;
    build.commit = sha_of('c');
    build.recipe = RecipeId{1};
    build.prefix = (state() / "builds/c-1").string();
    store.builds().record(build);
    EXPECT_EQ(store.builds().find_at(build.prefix)->commit, build.commit);
    EXPECT_EQ(store.nightlies().all().front().prefix, inside.prefix);
  }
  ASSERT_TRUE(back_up());
  ASSERT_TRUE(restore());

  auto store = Store::open(other()).value();

  auto const here = other().parent_path();
  EXPECT_EQ(store.nightlies().all().front().prefix, (here / "builds/nightly-1/libtorch").string());
  EXPECT_EQ(store.nightlies().all().back().prefix, "/srv/nightlies/2026-01-02");
  EXPECT_EQ(store.builds().find(sha_of('c'), RecipeId{1})->prefix, (here / "builds/c-1").string());
  EXPECT_FALSE(store.builds().find_at((state() / "builds/c-1").string()))
      << "a build of the original";
}

TEST_F(BackupTest, ReportInTheState_IsThatOfTheRestoredState) {
  make(1);
  auto const report = (state() / "reports/incident-1.md").string();
  IncidentId incident;
  {
    auto store = Store::open(database()).value();
    store.nightlies().announce(nightly_of("2026-01-01", 'a'));
    store.nightlies().announce(nightly_of("2026-01-02", 'b'));
    incident = store.incidents().open(NightlyId{1}, NightlyId{2}, early).id;
    store.incidents().reported(incident, report);
    EXPECT_EQ(store.incidents().reported_at(report)->id, incident);
  }
  ASSERT_TRUE(back_up());
  ASSERT_TRUE(restore());

  auto store = Store::open(other()).value();

  auto const moved = (other().parent_path() / "reports/incident-1.md").string();
  EXPECT_EQ(store.incidents().find(incident)->report, moved);
  EXPECT_FALSE(store.incidents().reported_at(report));
}

TEST_F(BackupTest, UnfinishedMessagesToGithub_CountAsSentAfterARestore) {
  make(1);
  {
    auto store = Store::open(database()).value();
    store.nightlies().announce(nightly_of("2026-01-01", 'a'));
    store.nightlies().announce(nightly_of("2026-01-02", 'b'));
    IncidentEvent event;
    event.incident = store.incidents().open(NightlyId{1}, NightlyId{2}, early).id;
    std::vector<OutboxMessage> messages;
    for (auto const action : {OutboxAction::open_issue, OutboxAction::edit_body}) {
      OutboxMessage message;
      message.destination = "github";
      message.action = action;
      messages.push_back(message);
    }
    store.incident_events().add(event, messages);
  }
  ASSERT_TRUE(back_up());
  ASSERT_TRUE(restore());

  auto const messages = Store::open(other())->outbox().unfinished();

  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages.front().sent_at, early);
  EXPECT_EQ(messages.back().sent_at, std::nullopt) << "an edit looks at the issue in any case";
}

}  // namespace
}  // namespace torchwatch::tests
