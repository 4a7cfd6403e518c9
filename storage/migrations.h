#pragma once

#include <span>
#include <string_view>

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// SQL that brings a database of any released version to the newest one.
struct Migrations {
  std::string_view schema;                  ///< makes version 1 of an empty database
  std::span<std::string_view const> steps;  ///< step i takes version i + 1 to i + 2

  int newest() const { return 1 + static_cast<int>(steps.size()); }
};

/// The migrations of this program: storage/schema.sql, and a step a later version. From the first
/// release on, steps are added and never edited.
Migrations migrations();

/// Brings `database` to the newest version, entirely or not at all. `PRAGMA user_version` holds its
/// version; 0 is an empty database. Throws SQLite::Exception when the disk fails or a step does not
/// apply, and std::runtime_error when the database is newer than this program or a step leaves a
/// reference to a row that is gone.
void migrate(SQLite::Database& database, Migrations const& migrations);

}  // namespace torchwatch::storage
