#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace torchwatch::fakes {

/// Lets a database take so many writes and no more, until told otherwise.
class Executioner {
 public:
  explicit Executioner(std::filesystem::path const& file)
      : database_{file.string(), SQLite::OPEN_READWRITE} {
    database_.exec("CREATE TABLE mercy (writes INTEGER)");
    database_.exec("INSERT INTO mercy VALUES (1000000)");
    std::vector<std::string> tables;
    SQLite::Statement query{database_,
                            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN "
                            "('mercy') AND name NOT LIKE 'sqlite_%'"};
    while (query.executeStep())
      tables.push_back(query.getColumn(0).getString());
    for (auto const& table : tables)
      for (std::string const event : {"INSERT", "UPDATE", "DELETE"})
        database_.exec("CREATE TRIGGER kill_" + event + "_" + table + " BEFORE " + event + " ON " +
                       table +
                       " BEGIN SELECT RAISE(ABORT, 'killed') WHERE (SELECT writes FROM mercy) < 1; "
                       "UPDATE mercy SET writes = writes - 1; END");
  }

  void grant(int writes) { database_.exec("UPDATE mercy SET writes = " + std::to_string(writes)); }

 private:
  SQLite::Database database_;
};

}  // namespace torchwatch::fakes
