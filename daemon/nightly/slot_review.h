#pragma once

#include <cstddef>
#include <vector>

#include "bisect/compare/slot_comparison.h"
#include "config/options.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Compares the slots of each fleet by the rounds of a sweep. A slot that is slow or noisy beyond
/// its fleet is quarantined: it measures no rounds that verdicts use, only check rounds next to
/// later sweeps. It returns after one night on which it measured well.
///
/// Until then it has made no verdict wrong, because both builds of a comparison run on one slot. A
/// noisy slot makes comparisons longer.
///
/// At least half of the slots of a fleet stay in use. One that is unfit but has to stay raises the
/// same alarm. Single-threaded.
class SlotReview {
 public:
  /// All arguments must outlive it.
  SlotReview(config::Options const& options, storage::Store& store, Clock const& clock)
      : options_{options},
        store_{store},
        clock_{clock} {}

  /// Stores the states of the slots after the sweep of a nightly, and sets their alarms. A repeated
  /// call reads the same rounds and changes nothing.
  void run(Nightly const& nightly);

 private:
  /// A slot with its figures of one night.
  struct Reviewed {
    std::size_t slot = 0;
    bisect::SlotFigures figures;
    bisect::SlotFinding finding = bisect::SlotFinding::unknown;
  };

  void review(Nightly const& nightly, config::FleetOptions const& fleet);
  bisect::SlotFinding finding_on(config::FleetOptions const& fleet,
                                 std::size_t slot,
                                 bisect::SlotFigures const& figures) const;
  void update(config::FleetOptions const& fleet, Reviewed const& reviewed);
  void set_alarm(SlotState const& state, Reviewed const& reviewed);
  bool may_lose_one(config::FleetOptions const& fleet) const;

  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
};

}  // namespace torchwatch::nightly
