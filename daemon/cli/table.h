#pragma once

#include <string>
#include <vector>

namespace torchwatch::cli {

using Row = std::vector<std::string>;

/// Prints a table for people, its columns as wide as they need to be. The first row names the
/// columns.
void print_rows(std::vector<Row> const& rows);

}  // namespace torchwatch::cli
