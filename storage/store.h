#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "storage/alarms.h"
#include "storage/anchors.h"
#include "storage/answers.h"
#include "storage/base/result.h"
#include "storage/baselines.h"
#include "storage/bisections.h"
#include "storage/builds.h"
#include "storage/configurations.h"
#include "storage/histories.h"
#include "storage/incident_events.h"
#include "storage/incidents.h"
#include "storage/interpreters.h"
#include "storage/jobs.h"
#include "storage/kept_builds.h"
#include "storage/nightlies.h"
#include "storage/outbox.h"
#include "storage/recipes.h"
#include "storage/retries.h"
#include "storage/rulings.h"
#include "storage/slots.h"
#include "storage/tallies.h"
#include "storage/trust.h"
#include "storage/writer_lock.h"

namespace torchwatch::storage {

/// One connection to the database file, with its tables. Not thread-safe: each thread needs its own
/// Store.
///
/// There is one writer at a time. SQLite's write-ahead log allows any number of readers next to it.
class Store {
 public:
  /// Opens `file` for writing, creates it if necessary, and brings it to the newest version. Locks
  /// the file and its directory, so a directory has one writer. Fails with unavailable, naming the
  /// file, when another process writes to it. Fails with invalid_argument when it has a metric with
  /// another unit or direction than the configuration. Other errors are those of inspect(), and
  /// then nothing was written to it. Declares the metrics of suites that are no longer configured.
  static Result<Store> open(std::filesystem::path const& file);

  /// Opens an existing file for reading only. Never waits for the writer.
  static Result<Store> open_reader(std::filesystem::path const& file);

  Store(Store const&) = delete;
  Store& operator=(Store const&) = delete;
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  /// Closes the connection. A writer seals the file.
  ~Store();

  /// Checks that the database can be written: takes its lock for writing, then writes FILE.probe
  /// next to it and flushes it to the disk. Does not change the database, so version() stays. Fails
  /// with unavailable when the disk is full or missing.
  Result<> try_to_write();

  /// Stores the declarations of metrics that were declared since the database was opened. Throws
  /// SQLite::Exception when the disk fails.
  void record_metrics();

  /// Returns a number that changes after each write by another connection. The call is cheap.
  std::int64_t version();

  Nightlies nightlies() { return Nightlies{*database_}; }

  Interpreters interpreters() { return Interpreters{*database_}; }

  Jobs jobs() { return Jobs{*database_}; }

  Histories histories() { return Histories{*database_}; }

  Incidents incidents() { return Incidents{*database_}; }

  IncidentEvents incident_events() { return IncidentEvents{*database_}; }

  Outbox outbox() { return Outbox{*database_}; }

  Bisections bisections() { return Bisections{*database_}; }

  Builds builds() { return Builds{*database_}; }

  Configurations configurations() { return Configurations{*database_}; }

  KeptBuilds kept_builds() { return KeptBuilds{*database_}; }

  Recipes recipes() { return Recipes{*database_}; }

  Retries retries() { return Retries{*database_}; }

  Alarms alarms() { return Alarms{*database_}; }

  Anchors anchors() { return Anchors{*database_}; }

  Answers answers() { return Answers{*database_}; }

  Baselines baselines() { return Baselines{*database_}; }

  Rulings rulings() { return Rulings{*database_}; }

  Slots slots() { return Slots{*database_}; }

  Trust trust() { return Trust{*database_}; }

  Tallies tallies() { return tallies_of(*database_); }

 private:
  explicit Store(std::unique_ptr<Database> database, std::unique_ptr<WriterLock> lock);

  std::unique_ptr<WriterLock> lock_;  // released after the database is closed
  std::unique_ptr<Database> database_;
};

/// Reads the data of a report on `incident`.
IncidentStory story_of(Store& store, Incident const& incident);

}  // namespace torchwatch::storage
