#include "storage/backup.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include "storage/base/digest.h"
#include "storage/base/flush.h"
#include "storage/soundness.h"
#include "storage/writer_lock.h"

namespace torchwatch::storage {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view digest_begin = "torchwatch backup, SHA-256 ";
constexpr std::size_t digest_digits = 64;
/// The bytes after the database: the text, the digest and the end of the line.
constexpr std::size_t footer_bytes = digest_begin.size() + digest_digits + 1;
/// The smallest page of a SQLite database. Its size is a multiple of it.
constexpr std::uintmax_t smallest_page = 512;
constexpr int source_timeout_ms = 10'000;
constexpr std::chrono::milliseconds between_tries{100};
constexpr int most_tries = 300;

constexpr std::array main_tables{"nightly",
                                 "job",
                                 "comparison",
                                 "incident",
                                 "incident_event",
                                 "outbox",
                                 "ruling",
                                 "bisection",
                                 "build"};

fs::path with_suffix(fs::path file, std::string const& suffix) {
  return file += suffix;
}

Error failed(fs::path const& file, std::string const& what, std::string const& why) {
  return {ErrorCode::unavailable, file.string() + ": " + what + ": " + why};
}

/// Returns the error of an exception of SQLite. `file`: the file that the message names.
Error error_of(fs::path const& file, SQLite::Exception const& problem) {
  bool const is_broken =
      problem.getErrorCode() == SQLITE_CORRUPT || problem.getErrorCode() == SQLITE_NOTADB;
  return {is_broken ? ErrorCode::corrupt : ErrorCode::unavailable,
          file.string() + (is_broken ? ": damaged: " : ": ") + problem.what()};
}

/// A file that is written under another name until it is complete. The destructor removes it, also
/// the files that SQLite made next to it.
class Unfinished {
 public:
  explicit Unfinished(fs::path path) : path_{std::move(path)} { remove(); }

  Unfinished(Unfinished const&) = delete;
  Unfinished& operator=(Unfinished const&) = delete;

  ~Unfinished() { remove(); }

  fs::path const& path() const { return path_; }

  /// Gives the file its name, all or nothing, and waits for the disk.
  Result<> finish(fs::path const& name) const {
    if (auto const flushed = flush_to_disk(path_); !flushed) return flushed;
    std::error_code problem;
    fs::rename(path_, name, problem);
    if (problem) return failed(name, "cannot be written", problem.message());
    return flush_to_disk(name.parent_path());
  }

 private:
  void remove() const {
    std::error_code ignored;  // writing it reports the problem
    for (auto const* const suffix : {"", "-journal", "-wal", "-shm"})
      fs::remove(with_suffix(path_, suffix), ignored);
  }

  fs::path path_;
};

std::vector<TableCount> main_counts_of(SQLite::Database& database) {
  std::vector<TableCount> counts;
  for (auto const* const table : main_tables)
    counts.push_back(
        {table, database.execAndGet(std::string{"SELECT count(*) FROM "} + table).getInt64()});
  return counts;
}

/// Copies all pages in one step, so that they are of one moment. Readers and the writer of a
/// write-ahead log do not wait for it. Another reader may briefly lock the file when it opens or
/// closes it.
void copy_pages(SQLite::Database& from, SQLite::Database& to) {
  SQLite::Backup backup{to, from};
  for (int tries = 0; backup.executeStep(-1) != SQLITE_DONE; ++tries) {
    if (tries == most_tries) throw SQLite::Exception{"the database is locked", SQLITE_BUSY};
    std::this_thread::sleep_for(between_tries);
  }
}

/// Copies the database into one new file, and checks it.
Result<std::vector<TableCount>> copy_database(fs::path const& database, fs::path const& copy) {
  try {
    SQLite::Database from{database.string(), SQLite::OPEN_READONLY, source_timeout_ms};
    SQLite::Database to{copy.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
    copy_pages(from, to);
    // The copy is one file, without a write-ahead log.
    to.exec("PRAGMA journal_mode = DELETE");
  } catch (SQLite::Exception const& problem) {
    return error_of(database, problem);
  }
  auto const sound = inspect_copy(copy, database);
  if (!sound) return sound.error();
  try {
    SQLite::Database finished{copy.string(), SQLite::OPEN_READONLY};
    return main_counts_of(finished);
  } catch (SQLite::Exception const& problem) {
    return error_of(database, problem);
  }
}

/// Reads the first `bytes` of a file, and hands them to `take` in pieces. Returns false when the
/// file cannot be read or `take` returns false.
template <class Take>
bool read_pieces(fs::path const& file, std::uintmax_t bytes, Take take) {
  std::ifstream stream{file, std::ios::binary};
  std::array<char, 65536> piece{};
  while (bytes > 0) {
    auto const wanted = std::min<std::uintmax_t>(bytes, piece.size());
    if (!stream.read(piece.data(), static_cast<std::streamsize>(wanted))) return false;
    if (!take(std::string_view{piece.data(), static_cast<std::size_t>(wanted)})) return false;
    bytes -= wanted;
  }
  return true;
}

/// Appends the line with the SHA-256 of the file.
Result<> add_footer(fs::path const& file, fs::path const& shown) {
  std::error_code problem;
  auto const bytes = fs::file_size(file, problem);
  Sha256 digest;
  bool const is_read = !problem && read_pieces(file, bytes, [&](std::string_view piece) {
    digest.add(piece);
    return true;
  });
  std::ofstream stream{file, std::ios::binary | std::ios::app};
  if (is_read) stream << digest_begin << digest.hex() << '\n';
  if (is_read && stream.flush()) return {};
  return failed(shown, "cannot be written", std::generic_category().message(errno));
}

/// True when `file` is the database, or a file that SQLite or torchwatch keeps next to it.
bool belongs_to(fs::path const& file, fs::path const& database) {
  std::error_code ignored;
  if (fs::equivalent(file, database, ignored)) return true;
  auto const folder = file.has_parent_path() ? file.parent_path() : fs::path{"."};
  auto const own = database.has_parent_path() ? database.parent_path() : fs::path{"."};
  return fs::equivalent(folder, own, ignored) &&
         file.filename().string().starts_with(database.filename().string());
}

/// The contents of a backup file.
struct BackupFile {
  std::uintmax_t bytes = 0;  ///< size of the database in it
  std::string digest{};      ///< SHA-256 of the database; empty: unknown
};

Error unusable(fs::path const& file, std::string const& how) {
  return {ErrorCode::corrupt, file.string() + ": damaged: " + how + "; use another backup"};
}

Result<BackupFile> read_footer(fs::path const& file) {
  std::error_code problem;
  bool const is_file = fs::is_regular_file(file, problem);
  if (!is_file && (!problem || problem == std::errc::no_such_file_or_directory))
    return Error{ErrorCode::not_found, file.string() + ": is not a file"};
  auto const size = is_file ? fs::file_size(file, problem) : 0;
  if (problem) return failed(file, "cannot be read", problem.message());
  BackupFile found{size, {}};
  if (size <= footer_bytes) return found;
  std::string footer(footer_bytes, ' ');
  std::ifstream stream{file, std::ios::binary};
  stream.seekg(static_cast<std::streamoff>(size - footer_bytes));
  if (!stream.read(footer.data(), footer_bytes))
    return failed(file, "cannot be read", std::generic_category().message(errno));
  auto const digest = footer.substr(digest_begin.size(), digest_digits);
  if (footer.starts_with(digest_begin) && is_sha256(digest)) found = {size - footer_bytes, digest};
  return found;
}

/// Copies the database in a backup file to `copy`.
Result<> unpack(fs::path const& file, fs::path const& copy) {
  auto const found = read_footer(file);
  if (!found) return found.error();
  bool const is_whole = !found->digest.empty() || found->bytes % smallest_page == 0;
  if (!is_whole && begins_like_a_database(file))
    return unusable(file, "its end is missing or was changed");
  Sha256 digest;
  std::ofstream stream{copy, std::ios::binary | std::ios::trunc};
  bool const is_read = read_pieces(file, found->bytes, [&](std::string_view piece) {
    digest.add(piece);
    return static_cast<bool>(
        stream.write(piece.data(), static_cast<std::streamsize>(piece.size())));
  });
  int const problem = errno;
  if (!stream.flush())
    return failed(copy, "cannot be written", std::generic_category().message(problem));
  if (!is_read) return failed(file, "cannot be read", std::generic_category().message(problem));
  if (!found->digest.empty() && digest.hex() != found->digest)
    return unusable(file, "its contents do not have its SHA-256");
  return {};
}

/// Prepares a copy for the sender: a message that has not arrived as far as the backup shows may
/// have arrived since. Edits and states are read from GitHub before they are written.
void expect_messages_to_have_arrived(SQLite::Database& database, Timestamp now) {
  SQLite::Statement update{database,
                           "UPDATE outbox SET sent_at = ? WHERE done_at IS NULL "
                           "AND destination IN ('github', 'pull_request') "
                           "AND action IN ('open_issue', 'comment')"};
  update.bind(1, static_cast<std::int64_t>(now.time_since_epoch().count()));
  update.exec();
}

/// Checks the unpacked copy and makes it ready for use. `file`: for messages.
Result<std::vector<TableCount>> make_ready(fs::path const& copy,
                                           fs::path const& file,
                                           Timestamp now) {
  auto const sound = inspect_copy(copy, file);
  if (!sound && sound.error().code == ErrorCode::corrupt)
    return Error{ErrorCode::corrupt, sound.error().message + "; use another backup"};
  if (!sound) return sound.error();
  try {
    SQLite::Database database{copy.string(), SQLite::OPEN_READWRITE};
    database.exec("PRAGMA journal_mode = DELETE");
    expect_messages_to_have_arrived(database, now);
    return main_counts_of(database);
  } catch (SQLite::Exception const& problem) {
    return error_of(file, problem);
  }
}

/// The files of SQLite next to a database with changes that are not yet in it.
constexpr std::array logs{"-wal", "-journal"};

/// Returns a name for the database that is replaced: torchwatch.sqlite.before-restore-1.
fs::path free_name(fs::path const& database) {
  int number = 1;
  fs::path name;
  do
    name = with_suffix(database, ".before-restore-" + std::to_string(number++));
  while (fs::exists(name) || std::ranges::any_of(logs, [&](char const* log) {
           return fs::exists(with_suffix(name, log));
         }));
  return name;
}

/// Moves the changes of a killed writer from its log into the database. Returns false when a reader
/// prevents it, or the database is too damaged.
bool merge_log(fs::path const& database) {
  try {
    SQLite::Database old{database.string(), SQLite::OPEN_READWRITE, source_timeout_ms};
    constexpr auto checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    return old.execAndGet(checkpoint).getInt() == 0;
  } catch (SQLite::Exception const&) {
    return false;
  }
}

/// Gives the old database a second name. A log that cannot be merged goes with it, after that: a
/// process that ends in between leaves the old database with its log.
Result<> keep_old(fs::path const& database, fs::path const& name) {
  bool const is_merged = merge_log(database);
  std::error_code problem;
  fs::create_hard_link(database, name, problem);
  if (problem) {
    // The file system has no hard links.
    problem.clear();
    fs::copy_file(database, name, problem);
  }
  if (problem) return failed(name, "cannot be written", problem.message());
  for (auto const* const log : logs) {
    auto const own = with_suffix(database, log);
    if (is_merged || !fs::exists(own)) continue;
    fs::rename(own, with_suffix(name, log), problem);
    if (problem) return failed(own, "cannot be moved", problem.message());
  }
  return flush_to_disk(name);
}

/// Permanently removes the files next to a database that is replaced or gone. SQLite would apply
/// its logs to the new one.
Result<> remove_leftovers(fs::path const& database) {
  std::error_code problem;
  for (auto const* const suffix : {"-journal", "-wal", "-shm", ".checked"}) {
    fs::remove(with_suffix(database, suffix), problem);
    if (problem)
      return failed(with_suffix(database, suffix), "cannot be removed", problem.message());
  }
  if (auto const broken = break_seal(database); !broken) return broken;
  return flush_to_disk(database.parent_path());
}

Error in_use(fs::path const& database) {
  return {ErrorCode::unavailable,
          database.string() + " is in use by another torchwatch, or " + lock_of(database).string() +
              " cannot be written: stop the service first"};
}

std::int64_t size_of(fs::path const& file) {
  std::error_code missing;
  auto const bytes = fs::file_size(file, missing);
  return missing ? 0 : static_cast<std::int64_t>(bytes);
}

}  // namespace

Result<Copy> back_up(fs::path const& database, fs::path const& file, IfExists if_exists) {
  if (!fs::is_regular_file(database))
    return Error{ErrorCode::not_found, database.string() + ": there is no database"};
  if (belongs_to(file, database))
    return Error{
        ErrorCode::refused,
        file.string() + ": is a file of the database, or has the name of one; choose another"};
  if (fs::is_directory(file))
    return Error{ErrorCode::refused, file.string() + ": is a directory, not a file"};
  if (if_exists == IfExists::refuse && fs::exists(file))
    return Error{ErrorCode::refused, file.string() + ": exists; --force replaces it"};
  Unfinished const copy{with_suffix(file, ".new")};
  auto counts = copy_database(database, copy.path());
  if (!counts) return counts.error();
  auto const completed = add_footer(copy.path(), file);
  if (!completed) return completed.error();
  auto const finished = copy.finish(file);
  if (!finished) return finished.error();
  return Copy{file, size_of(file), std::move(*counts)};
}

Result<Restored> restore(fs::path const& file,
                         fs::path const& database,
                         IfExists if_exists,
                         Timestamp now) {
  std::error_code problem;
  if (!fs::exists(file, problem))
    return Error{ErrorCode::not_found, file.string() + ": there is no such file"};
  auto const unfinished = with_suffix(database, ".restored");
  if (fs::equivalent(file, database, problem))
    return Error{ErrorCode::refused, file.string() + ": is the database itself"};
  if (fs::equivalent(file, unfinished, problem))
    return Error{ErrorCode::refused,
                 file.string() + ": restore writes to it; give it another name"};
  problem.clear();
  if (database.has_parent_path()) fs::create_directories(database.parent_path(), problem);
  if (problem) return failed(database.parent_path(), "cannot be made", problem.message());
  WriterLock const lock{database};
  if (!lock.is_held()) return in_use(database);
  bool const has_old = fs::exists(database);
  if (has_old && if_exists == IfExists::refuse)
    return Error{ErrorCode::refused,
                 database.string() +
                     ": there is a database; --force replaces it, and keeps it "
                     "under another name"};
  Unfinished const copy{unfinished};
  auto const unpacked = unpack(file, copy.path());
  if (!unpacked) return unpacked.error();
  auto counts = make_ready(copy.path(), file, now);
  if (!counts) return counts.error();
  Restored restored;
  if (has_old) {
    restored.replaced = free_name(database);
    auto const kept = keep_old(database, restored.replaced);
    if (!kept) return kept.error();
  }
  auto const removed = remove_leftovers(database);
  if (!removed) return removed.error();
  auto const finished = copy.finish(database);
  if (!finished) return finished.error();
  restored.database = Copy{database, size_of(database), std::move(*counts)};
  return restored;
}

}  // namespace torchwatch::storage
