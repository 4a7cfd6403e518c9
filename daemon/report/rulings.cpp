#include "daemon/report/rulings.h"

#include <string>
#include <utility>

#include <spdlog/spdlog.h>

namespace torchwatch::report {
namespace {

/// Clears the drift alarms of accepted series: their level is the reference now.
void end_drift(storage::Store& store, SeriesFilter const& accepted, Timestamp now) {
  for (auto const& series : store.histories().series())
    if (accepted.matches(series))
      store.alarms().clear(AlarmKind::drift, drift_subject(series), now);
}

}  // namespace

Result<Ruling> give_ruling(storage::Store& store, Ruling ruling, Timestamp now) {
  if (ruling.incident && !store.incidents().find(*ruling.incident))
    return Error{ErrorCode::not_found,
                 "incident: found " + std::to_string(ruling.incident->value) +
                     ", allowed the id of an incident"};
  if (ruling.until && *ruling.until <= now)
    return Error{ErrorCode::invalid_argument,
                 "until: found a time in the past, allowed is one in the future"};
  ruling.given_at = now;
  auto given = store.rulings().give(std::move(ruling));
  if (given.kind == RulingKind::accept && !given.incident) end_drift(store, given.series, now);
  spdlog::info("ruling_given id={} kind={} incident={} who=\"{}\"",
               given.id.value,
               to_string(given.kind),
               given.incident ? std::to_string(given.incident->value) : "none",
               given.who);
  return given;
}

}  // namespace torchwatch::report
