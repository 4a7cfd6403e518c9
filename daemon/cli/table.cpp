#include "daemon/cli/table.h"

#include <algorithm>
#include <cstddef>
#include <iostream>

#include <fmt/format.h>

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

}  // namespace torchwatch::cli
