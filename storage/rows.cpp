#include "storage/rows.h"

#include <nlohmann/json.hpp>

namespace torchwatch::storage {
namespace {

constexpr int comparison_columns = 8;

}  // namespace

int bind_one(SQLite::Statement& statement, int at, Series const& series) {
  at = bind_one(statement, at, series.fleet);
  at = bind_one(statement, at, name_of(series.benchmark));
  return bind_one(statement, at, std::string{to_string(series.metric)});
}

int bind_one(SQLite::Statement& statement, int at, Comparison const& comparison) {
  auto const& ratio = comparison.ratio;
  at = bind_one(statement, at, std::string{to_string(comparison.verdict)});
  at = bind_one(statement, at, comparison.before);
  at = bind_one(statement, at, comparison.after);
  at = bind_one(statement, at, ratio ? std::optional{ratio->ratio} : std::nullopt);
  at = bind_one(statement, at, ratio ? std::optional{ratio->low} : std::nullopt);
  at = bind_one(statement, at, ratio ? std::optional{ratio->high} : std::nullopt);
  at = bind_one(statement, at, comparison.error_bound);
  return bind_one(statement, at, comparison.pairs);
}

int bind_one(SQLite::Statement& statement, int at, std::optional<Comparison> const& comparison) {
  if (comparison) return bind_one(statement, at, *comparison);
  for (int column = 0; column < comparison_columns; ++column)
    statement.bind(at++);
  return at;
}

Series read_series(SQLite::Statement& row, int first) {
  return Series{row.getColumn(first).getString(),
                read_word(row.getColumn(first + 1), parse_benchmark),
                read_word(row.getColumn(first + 2), parse_metric)};
}

Comparison read_comparison(SQLite::Statement& row, int first) {
  Comparison comparison;
  comparison.verdict = read_word(row.getColumn(first), parse_verdict);
  comparison.before = row.getColumn(first + 1).getDouble();
  comparison.after = row.getColumn(first + 2).getDouble();
  if (!row.getColumn(first + 3).isNull()) {
    comparison.ratio = RatioInterval{row.getColumn(first + 3).getDouble(),
                                     row.getColumn(first + 4).getDouble(),
                                     row.getColumn(first + 5).getDouble()};
  }
  comparison.error_bound = row.getColumn(first + 6).getDouble();
  comparison.pairs = row.getColumn(first + 7).getInt();
  return comparison;
}

}  // namespace torchwatch::storage
