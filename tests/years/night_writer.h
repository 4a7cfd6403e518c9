#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tests/years/history.h"
#include "tests/years/verdicts.h"

namespace torchwatch::years {

NightlyId id_of(std::size_t night);

/// The build of a nightly, to be measured for `campaign`.
Runner build_of(History const& history, Campaign campaign, std::size_t night);

/// Writes one night: what its sweep measured, what was compared, and what that came to.
class NightWriter {
 public:
  /// All arguments must outlive it.
  NightWriter(History const& history,
              storage::Store& store,
              std::filesystem::path const& state_dir,
              std::size_t night);

  /// All of it but its incident. Processes that the service would have forgotten by now are gone
  /// again. Whether something grew that nobody has muted.
  bool write();

 private:
  using Swept = std::vector<std::vector<JobOutcome>>;  // of each benchmark

  void announce(std::filesystem::path const& state_dir);
  void sweep_half();
  void sweep_broken();
  void judge();
  std::vector<JobOutcome> sweep(std::size_t benchmark, bool is_compared, int rounds);
  std::vector<Runner> builds(std::size_t benchmark, bool with_baseline) const;
  std::vector<std::size_t> suspicious(Measured const& benchmark);
  bool may_have_moved(TrueSeries const& one);
  void compare(Question const& question, std::vector<JobOutcome> swept);
  Measured const& sample_of(std::string const& fleet) const;
  std::vector<Runner> twice(std::string const& fleet) const;
  void compare_with_itself();
  void compare_with_anchors();
  void profile_suite();
  void compare_with_anchor(Measured const& benchmark, std::size_t anchor);
  std::optional<std::size_t> anchor_of(Measured const& benchmark) const;
  void look_at_drift(SeriesChange const& change, std::size_t anchor);
  bool is_muted(Series const& series) const;
  void keep(std::vector<JobOutcome> outcomes);
  void store_outcomes();
  Occasion occasion() const;
  Question question_about(Measured const& benchmark, std::vector<Runner> pair) const;

  History const& history_;
  storage::Store& store_;
  std::size_t night_;
  Night const& planned_;
  Campaign campaign_;
  Processes processes_;
  Chance chance_;
  bool is_raw_;  // its processes stay
  bool has_regression_ = false;
  std::vector<JobOutcome> outcomes_;
};

}  // namespace torchwatch::years
