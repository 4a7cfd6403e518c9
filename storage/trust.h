#pragma once

#include <vector>

#include "storage/domain/trust_figures.h"

namespace torchwatch::storage {

class Database;

/// The figures of the Trust page that need the summaries of many nightlies. They are computed once
/// a nightly and stored. Throws SQLite::Exception when the disk fails.
class Trust {
 public:
  explicit Trust(Database& database) : database_{database} {}

  /// Replaces the stored figures.
  void keep(TrustFigures const& figures);

  /// Replaces only the figures of incidents.
  void keep_incident_months(std::vector<IncidentMonth> const& months);

  /// The stored figures; empty before the first keep().
  std::vector<SeriesNoise> noise() const;
  std::vector<HostFigures> hosts() const;
  std::vector<AaMonth> aa_months() const;
  std::vector<VerdictCost> costs() const;
  std::vector<IncidentMonth> incident_months() const;

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
