#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/clock.h"
#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"

namespace torchwatch {

enum class RulingKind {
  accept,       ///< an incident's change is wanted, or the level that series have now: the
                ///< reference from now on
  false_alarm,  ///< an incident reported a change that did not happen
  mute,         ///< regressions of these series are recorded, and not reported
  unmute,       ///< ends every mute of these very series
};

std::string_view to_string(RulingKind kind);
std::optional<RulingKind> parse_ruling_kind(std::string_view text);

/// What a kind may be about; `accept` may be about either.
bool may_be_on_incident(RulingKind kind);
bool may_be_on_series(RulingKind kind);

/// Series by what they have in common. What is empty may be anything.
struct SeriesFilter {
  std::string fleet{};
  std::optional<Benchmark> benchmark{};
  std::optional<Metric> metric{};
  friend bool operator==(SeriesFilter const&, SeriesFilter const&) = default;

  bool matches(Series const& one) const;
};

/// What a person decided. Rulings are only ever added.
struct Ruling {
  RulingId id;
  RulingKind kind = RulingKind::accept;
  std::optional<IncidentId> incident;  ///< of those that are about one
  SeriesFilter series;                 ///< of the others
  std::string who;
  std::string why;
  Timestamp given_at{};
  std::optional<Timestamp> until;  ///< a mute's end; nothing: until it is unmuted
};

}  // namespace torchwatch
