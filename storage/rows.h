#pragma once

/// Small steps between SQLite's rows and our records, for the tables of this folder alone.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/domain/clock.h"
#include "storage/domain/comparison.h"

namespace torchwatch::storage {

inline std::int64_t seconds_of(Timestamp time) {
  return time.time_since_epoch().count();
}

inline Timestamp read_time(SQLite::Column const& column) {
  return Timestamp{std::chrono::seconds{column.getInt64()}};
}

/// A word of a closed set. Throws when the database holds another one.
template <class Parse>
auto read_word(SQLite::Column const& column, Parse parse) {
  auto const value = parse(column.getString());
  if (!value)
    throw std::runtime_error("database holds unknown word \"" + column.getString() +
                             "\" in column " + column.getName());
  return *value;
}

template <class T>
void bind_one(SQLite::Statement& statement, int at, T const& value) {
  statement.bind(at, value);
}

template <class T>
void bind_one(SQLite::Statement& statement, int at, std::optional<T> const& value) {
  if (value)
    statement.bind(at, *value);
  else
    statement.bind(at);
}

/// Binds values to ?1, ?2, ... ; an empty optional is NULL.
template <class... Values>
void bind_all(SQLite::Statement& statement, Values const&... values) {
  int at = 0;
  (bind_one(statement, ++at, values), ...);
}

template <class Read>
auto read_all(SQLite::Statement& query, Read read) {
  std::vector<decltype(read(query))> rows;
  while (query.executeStep())
    rows.push_back(read(query));
  return rows;
}

template <class Read>
auto read_one(SQLite::Statement& query, Read read) -> std::optional<decltype(read(query))> {
  if (!query.executeStep()) return std::nullopt;
  return read(query);
}

/// Eight columns from `first`: verdict, before, after, ratio, low, high, error_bound, pairs.
Comparison read_comparison(SQLite::Statement& row, int first);

}  // namespace torchwatch::storage
