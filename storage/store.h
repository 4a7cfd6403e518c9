#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "storage/alarms.h"
#include "storage/anchors.h"
#include "storage/base/result.h"
#include "storage/baselines.h"
#include "storage/bisections.h"
#include "storage/builds.h"
#include "storage/histories.h"
#include "storage/incidents.h"
#include "storage/interpreters.h"
#include "storage/jobs.h"
#include "storage/kept_builds.h"
#include "storage/nightlies.h"
#include "storage/recipes.h"
#include "storage/retries.h"
#include "storage/rulings.h"
#include "storage/tallies.h"
#include "storage/trust.h"

namespace torchwatch::storage {

/// One connection to the database file and the tables seen through it. Not thread-safe: one thread
/// a Store.
///
/// There is one writer at a time, and SQLite's write-ahead log lets any number of readers go on
/// beside it.
class Store {
 public:
  /// Opens `file` for writing, makes it if need be, brings it to the newest version, and makes sure
  /// that no other process writes to it: `unavailable` names the file when one does. It locks the
  /// directory of `file` as well, so a directory has one writer. Other errors as inspect's, and
  /// then nothing was written to it.
  static Result<Store> open(std::filesystem::path const& file);

  /// Opens an existing file for reading only. Never waits for the writer.
  static Result<Store> open_reader(std::filesystem::path const& file);

  Store(Store const&) = delete;
  Store& operator=(Store const&) = delete;
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  /// A writing one leaves a sealed file behind.
  ~Store();

  /// Checks that the database can be written: takes its lock for writing, and writes FILE.probe
  /// beside it, down to the disk. Changes nothing in the database, so version() stays. Fails with
  /// unavailable when the disk is full, or gone.
  Result<> try_to_write();

  /// Another number after each write by another connection, and the same while there is none. Costs
  /// nothing.
  std::int64_t version();

  Nightlies nightlies() { return Nightlies{*database_}; }

  Interpreters interpreters() { return Interpreters{*database_}; }

  Jobs jobs() { return Jobs{*database_}; }

  Histories histories() { return Histories{*database_}; }

  Incidents incidents() { return Incidents{*database_}; }

  Bisections bisections() { return Bisections{*database_}; }

  Builds builds() { return Builds{*database_}; }

  KeptBuilds kept_builds() { return KeptBuilds{*database_}; }

  Recipes recipes() { return Recipes{*database_}; }

  Retries retries() { return Retries{*database_}; }

  Alarms alarms() { return Alarms{*database_}; }

  Anchors anchors() { return Anchors{*database_}; }

  Baselines baselines() { return Baselines{*database_}; }

  Rulings rulings() { return Rulings{*database_}; }

  Trust trust() { return Trust{*database_}; }

  Tallies tallies() { return tallies_of(*database_); }

 private:
  class WriterLock;
  explicit Store(std::unique_ptr<SQLite::Database> database, std::unique_ptr<WriterLock> lock);

  std::unique_ptr<WriterLock> lock_;  // released after the database is closed
  std::unique_ptr<SQLite::Database> database_;
};

/// Whether some process, this one or another, has `file` open for writing. Whoever opens it in the
/// very instant of the question is refused, and may try again.
bool has_writer(std::filesystem::path const& file);

/// Everything a report on `incident` tells, read in one go.
IncidentStory story_of(Store& store, Incident const& incident);

}  // namespace torchwatch::storage
