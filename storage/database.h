#pragma once

/// The connection to the database and its statements, for the tables of this folder alone.

#include <filesystem>
#include <string>
#include <unordered_map>

#include <SQLiteCpp/SQLiteCpp.h>

namespace torchwatch::storage {

/// One connection, which keeps the statements that it prepared. Preparing one takes longer than
/// most of them run. There are as many as the program has texts of SQL, about 150, and SQLite
/// prepares one again after a change of the schema. Not thread-safe.
class Database : public SQLite::Database {
 public:
  using SQLite::Database::Database;

  /// Returns the absolute path of the directory of the file. The first call decides.
  std::filesystem::path const& directory();

 private:
  friend class Statement;
  std::unordered_map<std::string, SQLite::Statement> idle_;  // by their SQL
  std::filesystem::path directory_;                          // empty before the first use
};

/// A statement of a connection. It is prepared once, and returned at the end of the scope, without
/// its values and its lock. Another one of the same SQL may be in use at the same time.
class Statement {
 public:
  /// `database` must outlive it. Throws SQLite::Exception when the SQL is wrong.
  Statement(Database& database, std::string const& sql);
  Statement(Statement const&) = delete;
  Statement& operator=(Statement const&) = delete;
  ~Statement();

  // NOLINTNEXTLINE(google-explicit-constructor): it is one
  operator SQLite::Statement&() { return prepared_.mapped(); }

  bool executeStep() { return prepared_.mapped().executeStep(); }

  int exec() { return prepared_.mapped().exec(); }

  void reset() { prepared_.mapped().reset(); }

  SQLite::Column getColumn(int at) const { return prepared_.mapped().getColumn(at); }

 private:
  Database& database_;
  decltype(Database::idle_)::node_type prepared_;
};

}  // namespace torchwatch::storage
