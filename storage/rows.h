#pragma once

/// Small steps between SQLite's rows and our records, for the tables of this folder alone.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <nlohmann/json_fwd.hpp>

#include "storage/base/clock.h"
#include "storage/domain/benchmark.h"
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

/// The text of a column that holds JSON. Throws when that is nested deeper than anything that is
/// written here: to copy or print such JSON takes more stack than a thread has.
std::string read_json_text(SQLite::Column const& column);

/// The value of a column that holds JSON. Throws, naming the column, when it is nested too deep or
/// is no JSON.
nlohmann::json read_json(SQLite::Column const& column);

/// Texts as one column holds them, a line each; and the inverse.
std::string text_of(std::vector<std::string> const& lines);
std::vector<std::string> lines_of(std::string const& text);

/// Binds a value at ?at and returns the next place.
template <class T>
int bind_one(SQLite::Statement& statement, int at, T const& value) {
  statement.bind(at, value);
  return at + 1;
}

/// NULL when it is empty.
template <class T>
int bind_one(SQLite::Statement& statement, int at, std::optional<T> const& value) {
  if (value) return bind_one(statement, at, *value);
  statement.bind(at);
  return at + 1;
}

/// Three columns: fleet, benchmark, metric.
int bind_one(SQLite::Statement& statement, int at, Series const& series);

/// Eight columns: verdict, before, after, ratio, low, high, error_bound, pairs.
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

/// The columns of a series, from `first`.
Series read_series(SQLite::Statement& row, int first);

/// Those of a comparison.
Comparison read_comparison(SQLite::Statement& row, int first);

}  // namespace torchwatch::storage
