#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace torchwatch::fakes {

/// A limit on the writes of a database, which simulates a kill: after the granted number, each
/// write fails until `grant` is called again. Several objects can use one database, one after the
/// other.
class Executioner {
 public:
  explicit Executioner(std::filesystem::path const& file)
      : database_{file.string(), SQLite::OPEN_READWRITE} {
    database_.exec("CREATE TABLE IF NOT EXISTS granted (writes INTEGER)");
    database_.exec("INSERT INTO granted SELECT 1000000 WHERE NOT EXISTS (SELECT * FROM granted)");
    std::vector<std::string> tables;
    SQLite::Statement query{database_,
                            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN "
                            "('granted') AND name NOT LIKE 'sqlite_%'"};
    while (query.executeStep())
      tables.push_back(query.getColumn(0).getString());
    for (auto const& table : tables)
      for (std::string const event : {"INSERT", "UPDATE", "DELETE"})
        database_.exec(
            "CREATE TRIGGER IF NOT EXISTS kill_" + event + "_" + table + " BEFORE " + event +
            " ON " + table +
            " BEGIN SELECT RAISE(ABORT, 'killed') WHERE (SELECT writes FROM granted) < 1; "
            "UPDATE granted SET writes = writes - 1; END");
  }

  /// Allows this many writes from now on.
  void grant(int writes) {
    database_.exec("UPDATE granted SET writes = " + std::to_string(writes));
  }

  /// Returns how many of the granted writes are left. A write that was rolled back does not count.
  int left() { return database_.execAndGet("SELECT writes FROM granted").getInt(); }

 private:
  SQLite::Database database_;
};

/// The writes before which a test kills a service: every write. Under the sanitizers, where a kill
/// takes ten times as long, one in five, beginning with a random one.
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

/// The number of seeds that a test with ten seeds tries: all. In builds that are not optimized
/// (under the sanitizers, for coverage), where each takes up to ten times as long, one.
#ifdef __OPTIMIZE__
inline constexpr int of_ten_seeds = 10;
#else
inline constexpr int of_ten_seeds = 1;
#endif

}  // namespace torchwatch::fakes
