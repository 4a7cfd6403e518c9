#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tests/years/calendar.h"
#include "tests/years/suite.h"

namespace torchwatch::years {

/// What becomes of an incident.
enum class Ending {
  running,         ///< its bisection is in the middle
  paused,          ///< by a person
  culprit,         ///< proved, and fixed some nights later
  two_culprits,    ///< on series of their own
  accepted,        ///< the culprit's price is worth it
  range,           ///< the culprit lies among commits that do not build
  not_reproduced,  ///< there was no change, which a person says, too
  environment,     ///< the compiler of the nightlies is another one
  layout,          ///< one build was slower, and not its commit
  undecided,       ///< patience ended first
  failed,          ///< an end cannot be built
  cancelled,       ///< by a person
};

/// A series that a commit moves.
struct Moved {
  std::size_t series = 0;
  double factor = 1;
  double added = 0;
};

/// One commit of those between two nightlies.
struct Cause {
  double place = 0;  ///< among them, [0, 1)
  std::size_t blunder = 0;
  std::vector<Moved> moved;
};

struct PlannedIncident {
  std::size_t night = 0;
  Ending ending = Ending::culprit;
  std::vector<Cause> causes;
};

/// A series that a person mutes for a while.
struct PlannedMute {
  std::size_t series = 0;
  std::size_t from = 0;
  std::size_t until = 0;
};

/// A benchmark that gives nothing on builds of the nights [from, until).
struct Outage {
  std::size_t benchmark = 0;
  std::size_t from = 0;
  std::size_t until = never;

  bool holds(std::size_t one, std::size_t night) const {
    return one == benchmark && night >= from && night < until;
  }
};

/// All that happens, before anything is measured.
struct Plan {
  Suite suite;
  std::vector<PlannedIncident> incidents;  ///< oldest first, one a night
  std::vector<PlannedMute> mutes;
  std::vector<Outage> outages;
};

/// Lays out what happens in which night and moves the series accordingly. The newest hundred nights
/// show one of everything, older ones mostly culprits. Pure.
Plan plan_of(Request const& request, Suite suite, std::vector<Night> const& nights);

}  // namespace torchwatch::years
