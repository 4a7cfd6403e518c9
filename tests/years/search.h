#pragma once

#include <set>
#include <vector>

#include "storage/builds.h"
#include "storage/domain/bisection.h"
#include "tests/years/hostile.h"
#include "tests/years/plan.h"
#include "tests/years/processes.h"

namespace torchwatch::years {

/// What is true of the commits between the ends of a bisection, of which it only sees measurements.
struct Truth {
  std::size_t night = 0;        ///< of the nightly at the start
  std::vector<Commit> commits;  ///< those after the start
  std::vector<Cause> causes;    ///< of what the commits did
  /// Commits that do not build, by position: the build of position p has the first p commits.
  std::set<std::size_t> unbuildable{};
  bool is_layout = false;  ///< the causes are only there in the usual layout

  /// Of a cause: its commit.
  std::size_t position_of(Cause const& cause) const;
};

/// How far a bisection gets.
struct Patience {
  int waves = 1000;
  int readings = 400;  ///< config::BisectOptions
};

/// What a bisection is carried out with; all of it outlives that.
struct Surroundings {
  Processes const& processes;
  Texts const& texts;
  Timestamp at{};
  Chance& chance;
};

/// A bisection as the service would have carried it out.
struct CarriedOut {
  Bisection bisection;
  std::vector<JobOutcome> outcomes;
  std::vector<storage::BuildRecord> builds;
};

/// Lets bisect::Search ask, measures for it, proves what it finds and tells what it concludes.
/// With too few waves it stays as it was then, its last step planned. `bisection`: as it was asked
/// for, with its recipe.
CarriedOut carry_out(Bisection bisection,
                     Truth const& truth,
                     Patience patience,
                     Surroundings around);

}  // namespace torchwatch::years
