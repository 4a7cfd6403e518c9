#include "daemon/cli/terminal.h"

#include <algorithm>
#include <cstddef>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace torchwatch::cli {

void print_rows(std::vector<Row> const& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (auto const& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  for (auto const& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      std::cout << fmt::format("{:<{}}  ", row[i], widths[i]);
    std::cout << row.back() << '\n';
  }
}

void print_progress(std::string const& text) {
  if (::isatty(STDERR_FILENO) == 1)
    std::cerr << "\r\033[K" << text << std::flush;
  else if (!text.empty())
    std::cerr << text << '\n';
}

void print_fleeting_progress(std::string const& text) {
  if (::isatty(STDERR_FILENO) == 1) print_progress(text);
}

}  // namespace torchwatch::cli
