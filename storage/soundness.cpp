#include "storage/soundness.h"

#include <array>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include "storage/base/digest.h"
#include "storage/base/flush.h"
#include "storage/base/small_file.h"
#include "storage/migrations.h"

namespace torchwatch::storage {

namespace fs = std::filesystem;

namespace {

/// The time that inspect_all() waits for a lock of the writer.
constexpr int patience_ms = 10'000;

fs::path seal_of(fs::path file) {
  return file += ".seal";
}

std::string digest_of(fs::path const& file) {
  Sha256 digest;
  std::ifstream stream{file, std::ios::binary};
  std::array<char, 65536> piece{};
  while (stream.read(piece.data(), piece.size()) || stream.gcount() > 0)
    digest.add({piece.data(), static_cast<std::size_t>(stream.gcount())});
  return digest.hex();
}

/// Returns the digest in the seal, or an empty text when the seal is missing or incomplete.
std::string sealed_digest(fs::path const& file) {
  std::ifstream stream{seal_of(file)};
  std::string digest;
  return stream >> digest && is_sha256(digest) ? digest : "";
}

bool has_log(fs::path file) {
  std::error_code missing;
  auto const size = fs::file_size(file += "-wal", missing);
  return !missing && size > 0;
}

Error damaged(fs::path const& file, std::string const& how) {
  return {ErrorCode::corrupt,
          file.string() + ": damaged: " + how +
              "; restore a backup, or save what can be read (sqlite3 FILE .recover | sqlite3 NEW), "
              "or move it away to start with a new database"};
}

bool is_damage(int error_code) {
  return error_code == SQLITE_CORRUPT || error_code == SQLITE_NOTADB;
}

Error stopped(fs::path const& file) {
  return {ErrorCode::cancelled, file.string() + ": the check was stopped before its end"};
}

Error foreign(fs::path const& file, std::string const& why) {
  return {ErrorCode::refused, file.string() + ": not a database of torchwatch: " + why};
}

int pragma(SQLite::Database& database, char const* name) {
  return database.execAndGet(std::string{"PRAGMA "} + name).getInt();
}

/// True for a new database, without a schema.
bool is_empty(SQLite::Database& database) {
  return pragma(database, "application_id") == 0 && pragma(database, "user_version") == 0 &&
         database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
}

/// The application_id of development versions before 1.0.0: "TWCH".
constexpr int development_id = 0x54574348;

Error written_by_development_version(fs::path const& file) {
  return {ErrorCode::refused,
          file.string() +
              ": written by a development version of torchwatch; 1.0.0 and later cannot read it. "
              "Move it away to start with a new database; the builds next to it are used again"};
}

std::string complaint_of(SQLite::Database& database, char const* check) {
  auto const answer = database.execAndGet(std::string{"PRAGMA "} + check + "(1)").getString();
  return answer == "ok" ? "" : answer;
}

/// Checks that the database is ours, and not newer than this program. `file`: for messages.
Result<> inspect_kind(SQLite::Database& database, fs::path const& file) {
  int const id = pragma(database, "application_id");
  if (id == development_id) return written_by_development_version(file);
  if (id != application_id && !is_empty(database))
    return foreign(file, "application_id " + std::to_string(id));
  int const newest = migrations().newest();
  if (int const version = pragma(database, "user_version"); version > newest) {
    return Error{ErrorCode::refused,
                 file.string() + ": database has version " + std::to_string(version) +
                     ", this program reads versions up to " + std::to_string(newest) +
                     ": install a newer torchwatch"};
  }
  return {};
}

Result<> inspect_contents(fs::path const& file) {
  SQLite::Database database{file.string(), SQLite::OPEN_READONLY};
  auto const known = inspect_kind(database, file);
  if (!known) return known;
  auto const complaint = complaint_of(database, "quick_check");
  if (!complaint.empty()) return damaged(file, complaint);
  return {};
}

Error damaged_copy(fs::path const& file, std::string const& how) {
  return {ErrorCode::corrupt, file.string() + ": damaged: " + how};
}

/// Returns the first row that refers to a missing one; empty when there is none.
std::string broken_reference(SQLite::Database& database) {
  SQLite::Statement broken{database, "PRAGMA foreign_key_check"};
  if (!broken.executeStep()) return {};
  return "a row of " + broken.getColumn(0).getString() + " refers to a missing row of " +
         broken.getColumn(2).getString();
}

}  // namespace

bool begins_like_a_database(fs::path const& file) {
  std::string magic(16, ' ');
  std::ifstream{file, std::ios::binary}.read(magic.data(), 16);
  return magic == std::string{"SQLite format 3"} + '\0';
}

Result<> inspect(fs::path const& file) {
  std::error_code missing;
  auto const size = fs::file_size(file, missing);
  if (missing || size == 0) return {};
  auto const digest = sealed_digest(file);
  if (!digest.empty() && (has_log(file) || digest_of(file) != digest)) {
    return damaged(file,
                   "it was changed after torchwatch closed it (if this was intended, remove " +
                       seal_of(file).string() + ")");
  }
  if (!begins_like_a_database(file))
    return foreign(file, "it does not begin like a SQLite database");
  try {
    return inspect_contents(file);
  } catch (SQLite::Exception const& problem) {
    return damaged(file, problem.what());
  }
}

Result<> inspect_all(fs::path const& file, std::stop_token const& stop) {
  try {
    SQLite::Database database{file.string(), SQLite::OPEN_READONLY};
    database.setBusyTimeout(patience_ms);
    std::stop_callback const interruption{stop, [handle = database.getHandle()] {
                                            sqlite3_interrupt(handle);
                                          }};
    if (stop.stop_requested()) return stopped(file);
    auto const complaint = complaint_of(database, "integrity_check");
    if (!complaint.empty()) return damaged(file, complaint);
    return {};
  } catch (SQLite::Exception const& problem) {
    if (problem.getErrorCode() == SQLITE_INTERRUPT) return stopped(file);
    if (is_damage(problem.getErrorCode())) return damaged(file, problem.what());
    return Error{ErrorCode::unavailable, file.string() + ": " + problem.what()};
  }
}

Result<> inspect_copy(fs::path const& copy, fs::path const& original) {
  if (!begins_like_a_database(copy))
    return foreign(original, "it does not begin like a SQLite database");
  try {
    SQLite::Database database{copy.string(), SQLite::OPEN_READONLY};
    auto const known = inspect_kind(database, original);
    if (!known) return known;
    if (is_empty(database)) return foreign(original, "it has no tables");
    auto complaint = complaint_of(database, "integrity_check");
    if (complaint.empty()) complaint = broken_reference(database);
    if (!complaint.empty()) return damaged_copy(original, complaint);
    return {};
  } catch (SQLite::Exception const& problem) {
    if (is_damage(problem.getErrorCode())) return damaged_copy(original, problem.what());
    return Error{ErrorCode::unavailable, original.string() + ": " + problem.what()};
  }
}

void seal(fs::path const& file) {
  if (has_log(file)) return;
  // Without a seal, the next start checks the whole database.
  static_cast<void>(write_small_file(seal_of(file), digest_of(file) + '\n'));
}

Result<> break_seal(fs::path const& file) {
  std::error_code problem;
  if (!fs::remove(seal_of(file), problem) && !problem) return {};
  if (!problem && flush_to_disk(file.parent_path())) return {};
  return Error{ErrorCode::unavailable, "remove " + seal_of(file).string()};
}

}  // namespace torchwatch::storage
