#pragma once

#include <string>
#include <vector>

/// Tables and progress for a terminal.
namespace torchwatch::cli {

using Row = std::vector<std::string>;

/// Prints a table whose columns are as wide as their longest cell. The first row names the columns.
/// `rows` must not be empty.
void print_rows(std::vector<Row> const& rows);

/// Shows progress on standard error. On a terminal each text replaces the last one, and an empty
/// text clears the line. Elsewhere each text is a line.
void print_progress(std::string const& text);

/// Shows progress that changes often: on a terminal only.
void print_fleeting_progress(std::string const& text);

}  // namespace torchwatch::cli
