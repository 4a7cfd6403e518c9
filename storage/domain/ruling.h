#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/clock.h"
#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"

namespace torchwatch {

enum class RulingKind {
  accept,       ///< the change of an incident, or the present level of series, is intended and
                ///< becomes the reference
  false_alarm,  ///< an incident reported a change that did not happen
  mute,         ///< regressions of these series are recorded but not reported
  unmute,       ///< ends every mute with the same series filter
};

std::string_view to_string(RulingKind kind);
std::optional<RulingKind> parse_ruling_kind(std::string_view text);

/// True when rulings of the kind can be about an incident or about series. `accept` allows both.
bool may_be_on_incident(RulingKind kind);
bool may_be_on_series(RulingKind kind);

/// The series with this fleet, benchmark and metric. An empty field matches all values.
struct SeriesFilter {
  std::string fleet{};
  std::optional<Benchmark> benchmark{};
  std::optional<Metric> metric{};
  friend bool operator==(SeriesFilter const&, SeriesFilter const&) = default;

  bool matches(Series const& one) const;
};

/// A decision of a user. Rulings are never changed or removed.
struct Ruling {
  RulingId id;
  RulingKind kind = RulingKind::accept;
  std::optional<IncidentId> incident;  ///< for rulings about an incident
  SeriesFilter series;                 ///< for rulings about series
  std::string who;
  std::string why;
  Timestamp given_at{};
  std::optional<Timestamp> until;  ///< end of a mute; absent: until it is unmuted
};

}  // namespace torchwatch
