#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/comparing.h"
#include "daemon/fleets.h"
#include "daemon/measuring.h"
#include "storage/store.h"

namespace torchwatch {

/// The verdicts on one nightly, from its sweep beside the baseline to the incident. What it decides
/// follows from what is stored, so it may be asked again. Single-threaded.
class Judging {
 public:
  /// All arguments must outlive it.
  Judging(config::DecideOptions const& options,
          storage::Store& store,
          Clock const& clock,
          Fleets& fleets,
          Measuring& measuring)
      : options_{options},
        store_{store},
        clock_{clock},
        fleets_{fleets},
        measuring_{measuring} {}

  /// Tells the log what the sweep leaves to be decided.
  void screen(Nightly const& nightly, Nightly const& baseline);

  /// Measures whatever may have grown until it is decided, and of the nightly's benchmarks a sample
  /// against themselves and a share against their anchors. Keeps every verdict, and opens the
  /// incident when there is a regression that nobody muted: true then.
  boost::asio::awaitable<Result<bool>> confirm(Nightly const& nightly, Nightly const& baseline);

 private:
  /// Series of one benchmark and fleet, which are decided together.
  using Group = std::vector<Series>;

  /// One comparison to be made, and what it came to.
  struct Task {
    BuildComparison comparison;
    Group group;
    BuildComparisonResult result;
  };

  struct Screened {
    std::vector<Group> suspicious;
    std::vector<Group> all;  ///< that were measured
  };

  Screened screen_series(Nightly const& nightly, Nightly const& baseline);
  std::vector<Group> aa_sample(Nightly const& nightly, std::vector<Group> const& all) const;
  std::vector<Task> anchored_tasks(Nightly const& nightly,
                                   Build const& build,
                                   std::vector<Group> const& all);
  std::optional<Build> anchor_of(Nightly const& nightly, Group const& group);
  boost::asio::awaitable<void> decide(Task& task, config::DecideOptions const& options);
  void settle_mutes(std::span<Task> tasks) const;
  bool record(Nightly const& nightly, std::span<Task const> tasks);
  void record_aa(Nightly const& nightly, std::span<Task const> tasks);
  void record_anchored(Nightly const& nightly, std::span<Task const> tasks);

  config::DecideOptions const& options_;
  storage::Store& store_;
  Clock const& clock_;
  Fleets& fleets_;
  Measuring& measuring_;
};

}  // namespace torchwatch
