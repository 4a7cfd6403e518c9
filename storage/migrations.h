#pragma once

#include <span>
#include <string_view>

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// The SQL that brings a database of any released version to the newest one.
struct Migrations {
  std::string_view schema;                  ///< makes version 1 of an empty database
  std::span<std::string_view const> steps;  ///< step i takes version i + 1 to i + 2

  int newest() const { return 1 + static_cast<int>(steps.size()); }
};

/// Returns the migrations of this program: storage/schema.sql and one step for each later version.
/// From the first release on, steps are added and never edited.
Migrations migrations();

/// Brings `database` to the newest version, all or nothing. `PRAGMA user_version` holds its
/// version; 0 is an empty database. Throws SQLite::Exception when the disk fails or a step fails.
/// Throws std::runtime_error when the database is newer than this program, or when a step leaves a
/// reference to a missing row.
void migrate(SQLite::Database& database, Migrations const& migrations);

}  // namespace torchwatch::storage
