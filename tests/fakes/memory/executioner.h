#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace torchwatch::fakes {

/// Lets a database take so many writes and no more, until told otherwise. One after the other may
/// have the same database.
class Executioner {
 public:
  explicit Executioner(std::filesystem::path const& file)
      : database_{file.string(), SQLite::OPEN_READWRITE} {
    database_.exec("CREATE TABLE IF NOT EXISTS mercy (writes INTEGER)");
    database_.exec("INSERT INTO mercy SELECT 1000000 WHERE NOT EXISTS (SELECT * FROM mercy)");
    std::vector<std::string> tables;
    SQLite::Statement query{database_,
                            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN "
                            "('mercy') AND name NOT LIKE 'sqlite_%'"};
    while (query.executeStep())
      tables.push_back(query.getColumn(0).getString());
    for (auto const& table : tables)
      for (std::string const event : {"INSERT", "UPDATE", "DELETE"})
        database_.exec("CREATE TRIGGER IF NOT EXISTS kill_" + event + "_" + table + " BEFORE " +
                       event + " ON " + table +
                       " BEGIN SELECT RAISE(ABORT, 'killed') WHERE (SELECT writes FROM mercy) < 1; "
                       "UPDATE mercy SET writes = writes - 1; END");
  }

  void grant(int writes) { database_.exec("UPDATE mercy SET writes = " + std::to_string(writes)); }

  /// How many of the granted writes were not made. A write that was rolled back was not made.
  int left() { return database_.execAndGet("SELECT writes FROM mercy").getInt(); }

 private:
  SQLite::Database database_;
};

/// Before which writes a service is killed: before each; under the sanitizers, where a kill takes
/// ten times as long, before one in five, from a random one on.
class KillPoints {
 public:
  int stride() const { return stride_; }

  int first() const { return first_; }

 private:
#ifdef __SANITIZE_ADDRESS__
  int stride_ = 5;
#else
  int stride_ = 1;
#endif
  int first_ = static_cast<int>(std::random_device{}() % static_cast<unsigned>(stride_));
};

/// How many of the ten seeds of a test are tried: all; in builds that are not optimized (under the
/// sanitizers, for coverage), where each takes up to ten times as long, one.
#ifdef __OPTIMIZE__
inline constexpr int of_ten_seeds = 10;
#else
inline constexpr int of_ten_seeds = 1;
#endif

}  // namespace torchwatch::fakes
