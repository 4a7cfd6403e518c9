#include "storage/rows.h"

namespace torchwatch::storage {

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
