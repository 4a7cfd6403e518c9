#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// What a table takes in the database file, its indices included.
struct TableRoom {
  std::string table;
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
};

/// Of all tables, the largest first. Reads every page of the file, so it takes seconds for a large
/// one. Throws SQLite::Exception when the disk fails.
std::vector<TableRoom> room_of(SQLite::Database& database);

}  // namespace torchwatch::storage
