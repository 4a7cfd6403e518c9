#pragma once

#include <vector>

#include "storage/domain/trust_figures.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// The figures of the Trust page that take a walk through nights: worked out once a nightly, and
/// stored. Throws SQLite::Exception when the disk fails.
class Trust {
 public:
  explicit Trust(SQLite::Database& database) : database_{database} {}

  /// Stores figures in place of the ones before.
  void keep(TrustFigures const& figures);

  /// Empty before the first figures, as are the others.
  std::vector<SeriesNoise> noise() const;
  std::vector<HostFigures> hosts() const;
  std::vector<AaMonth> aa_months() const;
  std::vector<VerdictCost> costs() const;

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
