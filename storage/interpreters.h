#pragma once

#include <optional>
#include <string>

#include "storage/domain/build.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// The Python whose wheels each feed follows. Throws SQLite::Exception when the disk fails.
class Interpreters {
 public:
  explicit Interpreters(SQLite::Database& database) : database_{database} {}

  /// `feed`: the address of its page.
  std::optional<Interpreter> of(std::string const& feed) const;

  /// Stores the one that is followed from now on.
  void follow(std::string const& feed, Interpreter const& interpreter);

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
