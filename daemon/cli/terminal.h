#pragma once

#include <string>
#include <vector>

/// What commands show to people.
namespace torchwatch::cli {

using Row = std::vector<std::string>;

/// Prints a table for people, its columns as wide as they need to be. The first row names the
/// columns.
void print_rows(std::vector<Row> const& rows);

/// Shows how far a command is, on standard error: one line that is written over again and again on
/// a terminal, a line each time elsewhere. An empty text wipes the terminal's line.
void print_progress(std::string const& text);

/// The same on a terminal, nothing elsewhere: for what changes often.
void print_fleeting_progress(std::string const& text);

}  // namespace torchwatch::cli
