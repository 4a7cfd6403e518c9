#pragma once

#include <vector>

#include "storage/domain/trust_figures.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// The figures of the Trust page that need the summaries of many nightlies. They are computed once
/// a nightly and stored. Throws SQLite::Exception when the disk fails.
class Trust {
 public:
  explicit Trust(SQLite::Database& database) : database_{database} {}

  /// Replaces the stored figures.
  void keep(TrustFigures const& figures);

  /// The stored figures; empty before the first keep().
  std::vector<SeriesNoise> noise() const;
  std::vector<HostFigures> hosts() const;
  std::vector<AaMonth> aa_months() const;
  std::vector<VerdictCost> costs() const;

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
