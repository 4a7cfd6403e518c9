#pragma once

#include <span>
#include <string_view>

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// Step i takes a database from version i to version i + 1. Steps are only ever added, never
/// edited.
std::span<std::string_view const> migrations();

/// Brings `database` to the newest version, wholly or not at all; `PRAGMA user_version` says
/// where it is. Throws SQLite::Exception, and std::runtime_error when the database is newer than
/// this program.
void migrate(SQLite::Database& database);

/// As migrate, but stops at `version`: what tests use to make old databases.
void migrate_to(SQLite::Database& database, int version);

}  // namespace torchwatch::storage
