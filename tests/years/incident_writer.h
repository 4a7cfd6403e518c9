#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include "storage/domain/ruling.h"
#include "storage/store.h"
#include "tests/years/history.h"
#include "tests/years/search.h"

namespace torchwatch::years {

/// Writes what comes of regressions: incidents, bisections, profiles, reports, rulings, builds.
class IncidentWriter {
 public:
  /// All arguments must outlive it.
  IncidentWriter(History const& history,
                 storage::Store& store,
                 std::filesystem::path const& state_dir)
      : history_{history},
        store_{store},
        state_dir_{state_dir} {}

  /// The incident of a night whose verdicts are stored.
  void write(std::size_t night);

  /// Bisections that people asked for, of which one waits; and all rulings, in their order.
  void finish();

 private:
  PlannedIncident planned_of(std::size_t night) const;
  void bisect(Incident const& incident, PlannedIncident const& planned);
  Truth truth_of(PlannedIncident const& planned, Chance& chance) const;
  void blame_packages(Bisection& bisection, Incident const& incident) const;
  std::string_view operator_of(PlannedIncident const& planned, Series const& series) const;
  void profile(Incident const& incident, PlannedIncident const& planned);
  void report(Incident const& incident);
  void rule(Incident const& incident, Ending ending);
  void store_bisection(CarriedOut done);
  void mute_series();
  void accept_drifts();
  void ask_as_person();
  RecipeId recipe_of(std::size_t night);

  History const& history_;
  storage::Store& store_;
  std::filesystem::path const& state_dir_;
  std::vector<Ruling> rulings_;
};

}  // namespace torchwatch::years
