#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/domain/job.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// How much of a campaign there is, and from when to when it was measured.
struct Extent {
  std::int64_t processes = 0;
  Timestamp first_at{};  ///< when the first was stored ...
  Timestamp last_at{};   ///< ... and the last
};

/// Where the time of a benchmark's iteration went on a GPU, in shares that add up to 1.
struct GpuShares {
  FleetBenchmark which;
  double active = 0;
  double data_movement = 0;
  double idle = 0;
};

/// What was measured: one row a process. Throws SQLite::Exception when the disk fails.
class Jobs {
 public:
  explicit Jobs(SQLite::Database& database) : database_{database} {}

  /// Keeps the outcomes of one or more rounds with their values, all of them or none. Rounds that
  /// are all known already stay as they were first recorded. Otherwise whatever else was kept of
  /// them goes: it was measured beside another build, at another time.
  void record(std::vector<JobOutcome> const& outcomes);

  std::optional<JobOutcome> find(JobKey const& key) const;

  /// Every outcome of a campaign, by benchmark, commit and round.
  std::vector<JobOutcome> of(Campaign const& campaign) const;

  /// What the first `rounds` rounds of a campaign gave, in the same order: of each outcome its key
  /// and its values, without what is marked in them. Reads no more of the disk than that, so twenty
  /// nights of a thousand series cost a fraction of a second.
  std::vector<JobOutcome> values_of(Campaign const& campaign, int rounds) const;

  /// Nothing when nothing of it is stored. Reads an index and two rows.
  std::optional<Extent> extent_of(Campaign const& campaign) const;

  /// What profiles of incidents say of a commit's builds, by fleet and benchmark; the means where
  /// there are several.
  std::vector<GpuShares> gpu_shares(CommitSha const& commit) const;
  /// What the profile of a nightly's suite says.
  std::vector<GpuShares> gpu_shares(Campaign const& suite_profile) const;

  /// Those whose suite was profiled, newest first.
  std::vector<NightlyId> profiled_nightlies() const;

  /// The campaigns of which something is stored.
  std::vector<Campaign> campaigns() const;

  /// Removes at most `most` jobs of a campaign, with their values. Returns the number removed.
  int remove(Campaign const& campaign, int most);

  /// Removes at most `most` host descriptions that no job refers to. Returns the number removed.
  int remove_unused_hosts(int most);

  /// Every stored value of one series, oldest first; failed jobs have none.
  std::vector<SeriesPoint> history(Series const& series) const;

 private:
  void clear_rounds_of(std::vector<JobOutcome> const& outcomes);
  bool is_known(JobOutcome const& outcome) const;
  void insert(JobOutcome const& outcome);

  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
