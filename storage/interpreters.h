#pragma once

#include <optional>
#include <string>

#include "storage/domain/build.h"

namespace torchwatch::storage {

class Database;

/// The Python interpreter for which each feed takes wheels. Throws SQLite::Exception when the disk
/// fails.
class Interpreters {
 public:
  explicit Interpreters(Database& database) : database_{database} {}

  /// Returns the interpreter of a feed. `feed`: the address of its page.
  std::optional<Interpreter> of(std::string const& feed) const;

  /// Stores the interpreter that the feed uses from now on.
  void follow(std::string const& feed, Interpreter const& interpreter);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
