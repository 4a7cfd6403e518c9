#pragma once

/// Small steps between SQLite's rows and our records, for the tables of this folder alone.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "storage/base/clock.h"
#include "storage/database.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/comparison.h"

namespace torchwatch::storage {

inline std::int64_t seconds_of(Timestamp time) {
  return time.time_since_epoch().count();
}

inline Timestamp read_time(SQLite::Column const& column) {
  return Timestamp{std::chrono::seconds{column.getInt64()}};
}

/// Returns the value of a word in a closed set. Throws when the column holds another word.
template <class Parse>
auto read_word(SQLite::Column const& column, Parse parse) {
  auto const value = parse(column.getString());
  if (!value)
    throw std::runtime_error("database holds unknown word \"" + column.getString() +
                             "\" in column " + column.getName());
  return *value;
}

/// Returns the text of a column that holds JSON. Throws when the JSON is nested deeper than any
/// that the program writes, because copying or printing it could overflow the stack.
std::string read_json_text(SQLite::Column const& column);

/// Returns the value of a column that holds JSON. Throws an error that names the column when the
/// text is nested too deep or is not JSON.
nlohmann::json read_json(SQLite::Column const& column);

/// Joins texts into the lines of one column; lines_of() is the inverse.
std::string text_of(std::vector<std::string> const& lines);
std::vector<std::string> lines_of(std::string const& text);

/// Binds a value at ?at and returns the next place.
template <class T>
int bind_one(SQLite::Statement& statement, int at, T const& value) {
  statement.bind(at, value);
  return at + 1;
}

/// Binds NULL when `value` is empty.
template <class T>
int bind_one(SQLite::Statement& statement, int at, std::optional<T> const& value) {
  if (value) return bind_one(statement, at, *value);
  statement.bind(at);
  return at + 1;
}

/// Binds three columns: fleet, benchmark, metric.
int bind_one(SQLite::Statement& statement, int at, Series const& series);

/// Binds eight columns: verdict, before, after, ratio, low, high, error_bound, pairs.
int bind_one(SQLite::Statement& statement, int at, Comparison const& comparison);
int bind_one(SQLite::Statement& statement, int at, std::optional<Comparison> const& comparison);

/// Binds values to ?1, ?2, ...
template <class... Values>
void bind_all(SQLite::Statement& statement, Values const&... values) {
  int at = 1;
  ((at = bind_one(statement, at, values)), ...);
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

/// Reads the three columns of a series, from `first`.
Series read_series(SQLite::Statement& row, int first);

/// Reads the eight columns of a comparison, from `first`.
Comparison read_comparison(SQLite::Statement& row, int first);

}  // namespace torchwatch::storage
