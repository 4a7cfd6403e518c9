#include "storage/rows.h"

#include <cstddef>
#include <string_view>

#include <nlohmann/json.hpp>

namespace torchwatch::storage {
namespace {

constexpr int comparison_columns = 8;

/// The deepest JSON that is read. The program writes at most half of this depth.
constexpr int deepest_json = 32;

/// Returns the change of JSON's depth by a character outside of strings.
int step_of(char c) {
  if (c == '[' || c == '{') return 1;
  return c == ']' || c == '}' ? -1 : 0;
}

bool is_too_deep(std::string_view json) {
  int depth = 0;
  bool is_in_string = false;
  for (std::size_t at = 0; at < json.size() && depth <= deepest_json; ++at) {
    if (json[at] == '"') is_in_string = !is_in_string;
    if (!is_in_string)
      depth += step_of(json[at]);
    else if (json[at] == '\\')
      ++at;
  }
  return depth > deepest_json;
}

std::runtime_error bad_json(SQLite::Column const& column, std::string const& found) {
  return std::runtime_error{std::string{"database holds in column "} + column.getName() + " " +
                            found};
}

}  // namespace

std::string read_json_text(SQLite::Column const& column) {
  auto text = column.getString();
  if (is_too_deep(text))
    throw bad_json(column, "JSON nested deeper than " + std::to_string(deepest_json) + " levels");
  return text;
}

nlohmann::json read_json(SQLite::Column const& column) {
  try {
    return nlohmann::json::parse(read_json_text(column));
  } catch (nlohmann::json::exception const& problem) {
    throw bad_json(column, std::string{"text that is not JSON: "} + problem.what());
  }
}

std::string text_of(std::vector<std::string> const& lines) {
  std::string text;
  for (auto const& line : lines)
    text += line + '\n';
  return text;
}

std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size(); start += lines.back().size() + 1)
    lines.push_back(text.substr(start, text.find('\n', start) - start));
  return lines;
}

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
