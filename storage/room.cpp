#include "storage/room.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

std::int64_t rows_in(SQLite::Database& database, std::string const& table) {
  return database.execAndGet("SELECT count(*) FROM \"" + table + '"').getInt64();
}

}  // namespace

std::vector<TableRoom> room_of(SQLite::Database& database) {
  SQLite::Statement query{database,
                          "SELECT tbl_name, sum(pgsize) AS bytes FROM dbstat "
                          "JOIN sqlite_schema USING (name) GROUP BY tbl_name "
                          "ORDER BY bytes DESC, tbl_name"};
  auto rooms = read_all(query, [](SQLite::Statement& row) {
    return TableRoom{row.getColumn(0).getString(), 0, row.getColumn(1).getInt64()};
  });
  for (auto& room : rooms)
    room.rows = rows_in(database, room.table);
  return rooms;
}

}  // namespace torchwatch::storage
