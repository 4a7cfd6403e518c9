#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/domain/job.h"

namespace torchwatch::storage {

class Database;

/// The number of stored processes of a campaign and their period.
struct Extent {
  std::int64_t processes = 0;
  Timestamp first_at{};  ///< when the first was stored
  Timestamp last_at{};   ///< when the last was stored
};

/// The shares of the time of a benchmark's iteration on a GPU. They add up to 1.
struct GpuShares {
  FleetBenchmark which;
  double active = 0;
  double data_movement = 0;
  double idle = 0;
};

/// The outcomes of processes, one row each. Throws SQLite::Exception when the disk fails.
class Jobs {
 public:
  explicit Jobs(Database& database) : database_{database} {}

  /// Stores the outcomes of one or more rounds with their values, all or nothing. If every outcome
  /// is stored already, changes nothing. Otherwise deletes what is stored of these rounds first,
  /// because it was measured next to another build, at another time.
  void record(std::vector<JobOutcome> const& outcomes);

  std::optional<JobOutcome> find(JobKey const& key) const;

  /// Returns all outcomes of a campaign, ordered by benchmark, commit and round.
  std::vector<JobOutcome> of(Campaign const& campaign) const;

  /// Returns the outcomes with values in the first `rounds` rounds of a campaign, in the order of
  /// of(). They have only keys and values, without outliers. Reads nothing else from the disk, so
  /// 20 nightlies of 1000 series take a fraction of a second.
  std::vector<JobOutcome> values_of(Campaign const& campaign, int rounds) const;

  /// Returns the extent of a campaign, or nothing if none of it is stored. Reads an index and two
  /// rows.
  std::optional<Extent> extent_of(Campaign const& campaign) const;

  /// Returns the GPU shares in incidents' profiles of a commit's builds, ordered by fleet and
  /// benchmark. Several profiles of a benchmark are averaged.
  std::vector<GpuShares> gpu_shares(CommitSha const& commit) const;
  /// Returns the GPU shares in the profile of a nightly's suite.
  std::vector<GpuShares> gpu_shares(Campaign const& suite_profile) const;

  /// Returns the nightlies whose suite was profiled, newest first.
  std::vector<NightlyId> profiled_nightlies() const;

  /// Returns the campaigns with stored outcomes.
  std::vector<Campaign> campaigns() const;

  /// Removes at most `most` jobs of a campaign, with their values. Returns the number removed.
  int remove(Campaign const& campaign, int most);

  /// Removes at most `most` host descriptions that no job refers to. Returns the number removed.
  int remove_unused_hosts(int most);

  /// Returns all stored values of one series, oldest first. Failed jobs have none.
  std::vector<SeriesPoint> history(Series const& series) const;

 private:
  void clear_rounds_of(std::vector<JobOutcome> const& outcomes);
  bool is_known(JobOutcome const& outcome) const;
  void insert(JobOutcome const& outcome);

  Database& database_;
};

}  // namespace torchwatch::storage
