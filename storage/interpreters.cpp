#include "storage/interpreters.h"

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {

std::optional<Interpreter> Interpreters::of(std::string const& feed) const {
  Statement query{database_, "SELECT python, abi FROM interpreter WHERE feed = ?"};
  bind_all(query, feed);
  return read_one(query, [](SQLite::Statement& row) {
    return Interpreter{row.getColumn(0).getString(), row.getColumn(1).getString()};
  });
}

void Interpreters::follow(std::string const& feed, Interpreter const& interpreter) {
  Statement insert{database_,
                   "INSERT INTO interpreter (feed, python, abi) VALUES (?1, ?2, ?3) "
                   "ON CONFLICT (feed) DO UPDATE SET python = ?2, abi = ?3"};
  bind_all(insert, feed, interpreter.python, interpreter.abi);
  insert.exec();
}

}  // namespace torchwatch::storage
