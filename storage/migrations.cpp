#include "storage/migrations.h"

#include <stdexcept>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/embedded.h"

namespace torchwatch::storage {
namespace {

/// Turns foreign keys off during its lifetime, because a step may replace a referenced table
/// (https://www.sqlite.org/lang_altertable.html, 7). The references are checked after each step.
class WithoutForeignKeys {
 public:
  explicit WithoutForeignKeys(SQLite::Database& database)
      : database_{database},
        were_on_{database.execAndGet("PRAGMA foreign_keys").getInt() == 1} {
    database_.exec("PRAGMA foreign_keys = OFF");
  }

  WithoutForeignKeys(WithoutForeignKeys const&) = delete;
  WithoutForeignKeys& operator=(WithoutForeignKeys const&) = delete;

  ~WithoutForeignKeys() {
    if (were_on_) database_.tryExec("PRAGMA foreign_keys = ON");
  }

 private:
  SQLite::Database& database_;
  bool were_on_;
};

std::string_view step_after(int version, Migrations const& migrations) {
  if (version == 0) return migrations.schema;
  return migrations.steps[static_cast<std::size_t>(version - 1)];
}

void take_step(SQLite::Database& database, int version, Migrations const& migrations) {
  database.exec(std::string{step_after(version, migrations)});
  SQLite::Statement broken{database, "PRAGMA foreign_key_check"};
  if (!broken.executeStep()) return;
  throw std::runtime_error("migration to version " + std::to_string(version + 1) +
                           " loses rows of " + broken.getColumn(2).getString());
}

}  // namespace

Migrations migrations() {
  return {embedded().front().contents, {}};
}

void migrate(SQLite::Database& database, Migrations const& migrations) {
  int const found = database.execAndGet("PRAGMA user_version").getInt();
  if (found > migrations.newest())
    throw std::runtime_error("database has version " + std::to_string(found) +
                             ", this program reads versions up to " +
                             std::to_string(migrations.newest()));
  if (found == migrations.newest()) return;
  WithoutForeignKeys const tables_may_be_replaced{database};
  SQLite::Transaction transaction{database, SQLite::TransactionBehavior::IMMEDIATE};
  for (int version = found; version < migrations.newest(); ++version)
    take_step(database, version, migrations);
  database.exec("PRAGMA user_version = " + std::to_string(migrations.newest()));
  transaction.commit();
}

}  // namespace torchwatch::storage
