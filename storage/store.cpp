#include "storage/store.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "storage/base/small_file.h"
#include "storage/database.h"
#include "storage/metrics.h"
#include "storage/migrations.h"
#include "storage/soundness.h"
#include "storage/writer_lock.h"

namespace torchwatch::storage {

namespace {

constexpr int busy_timeout_ms = 10'000;

/// Opens a connection for one thread, so SQLite locks no mutex for it.
std::unique_ptr<Database> connect(std::filesystem::path const& file, int flags) {
  auto database =
      std::make_unique<Database>(file.string(), flags | SQLite::OPEN_NOMUTEX, busy_timeout_ms);
  database->exec("PRAGMA foreign_keys = ON");
  return database;
}

}  // namespace

Store::Store(std::unique_ptr<Database> database, std::unique_ptr<WriterLock> lock)
    : lock_{std::move(lock)},
      database_{std::move(database)} {}

Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Store::~Store() {
  if (!lock_ || !database_) return;
  auto const file = database_->getFilename();
  try {
    database_->exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (SQLite::Exception const&) {
    return;  // the write-ahead log has the data
  }
  database_.reset();
  seal(file);
}

Result<> Store::try_to_write() {
  try {
    // Rolled back, because readers would take a commit for new data.
    SQLite::Transaction const transaction{*database_, SQLite::TransactionBehavior::IMMEDIATE};
  } catch (SQLite::Exception const& problem) {
    return Error{ErrorCode::unavailable, problem.what()};
  }
  return write_small_file(database_->getFilename() + ".probe", "The disk can be written.\n");
}

void Store::record_metrics() {
  Metrics{*database_}.record();
}

std::int64_t Store::version() {
  return database_->execAndGet("PRAGMA data_version").getInt64();
}

Result<Store> Store::open(std::filesystem::path const& file) {
  auto lock = std::make_unique<WriterLock>(file);
  if (!lock->is_held()) {
    return Error{ErrorCode::unavailable,
                 "open store: " + file.string() + " is in use by another torchwatch, or " +
                     lock_of(file).string() + " cannot be written"};
  }
  auto const sound = inspect(file);
  if (!sound) return within("open store", sound.error());
  auto const open = break_seal(file);
  if (!open) return within("open store", open.error());
  try {
    auto database = connect(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database->exec("PRAGMA journal_mode = WAL");
    // A published report must survive a power failure.
    database->exec("PRAGMA synchronous = FULL");
    migrate(*database, migrations());
    auto const declared = Metrics{*database}.declare();
    if (!declared) return within("open store: " + file.string(), declared.error());
    Metrics{*database}.record();
    return Store{std::move(database), std::move(lock)};
  } catch (std::exception const& problem) {
    return Error{ErrorCode::corrupt, "open store: " + file.string() + ": " + problem.what()};
  }
}

Result<Store> Store::open_reader(std::filesystem::path const& file) {
  try {
    auto database = connect(file, SQLite::OPEN_READONLY);
    auto const declared = Metrics{*database}.declare();
    if (!declared) return within("read store: " + file.string(), declared.error());
    return Store{std::move(database), nullptr};
  } catch (std::exception const& problem) {
    return Error{ErrorCode::not_found, "read store: " + file.string() + ": " + problem.what()};
  }
}

namespace {

/// Returns the operators in the profiles of the incident.
std::vector<OperatorChange> operators_of(Store& store, IncidentStory const& story) {
  std::map<std::tuple<std::string, Benchmark, std::string>, OperatorChange> operators;
  for (auto const& job : store.jobs().of(Campaign::profile(story.incident.id))) {
    for (auto const& cost : job.profile) {
      auto& change = operators[{job.key.fleet, job.key.benchmark, cost.name}];
      (job.key.commit == story.baseline.commit ? change.before : change.after) = cost;
    }
  }
  std::vector<OperatorChange> list;
  for (auto& [where, change] : operators) {
    std::tie(change.fleet, change.benchmark, change.before.name) = where;
    change.after.name = change.before.name;
    list.push_back(std::move(change));
  }
  auto const rank = [](OperatorChange const& change) {
    return std::tuple{
        change.fleet, change.benchmark, -std::abs(change.after.ms - change.before.ms)};
  };
  std::ranges::stable_sort(list, {}, rank);
  return list;
}

/// True when the incident has a change on that fleet.
bool is_about(Incident const& incident, std::string const& fleet) {
  return std::ranges::any_of(incident.changes, [&fleet](SeriesChange const& change) {
    return change.series.fleet == fleet;
  });
}

/// Returns the later nightlies that the story names.
std::map<NightlyId, Nightly> nightlies_of(Store& store, IncidentStory const& story) {
  std::map<NightlyId, Nightly> nightlies;
  auto const add = [&](NightlyId id) {
    if (!nightlies.contains(id)) nightlies[id] = store.nightlies().find(id).value();
  };
  for (auto const& event : story.events)
    if (event.nightly) add(*event.nightly);
  for (auto const& recovery : story.recoveries)
    add(recovery.nightly);
  for (auto const& later : story.incident.later_series)
    add(later.nightly);
  return nightlies;
}

}  // namespace

IncidentStory story_of(Store& store, Incident const& incident) {
  IncidentStory story;
  story.incident = incident;
  story.baseline = store.nightlies().find(incident.baseline).value();
  story.nightly = store.nightlies().find(incident.nightly).value();
  for (auto const& [series, later] : incident.later_baselines)
    story.later_baselines[later] = store.nightlies().find(later).value();
  story.bisections = store.bisections().of_incident(incident.id);
  story.rulings = store.rulings().on(incident.id);
  story.events = store.incident_events().of(incident.id);
  story.recoveries = store.incidents().recoveries(incident.id);
  story.nightlies = nightlies_of(store, story);
  story.operators = operators_of(store, story);
  for (auto const& job : store.jobs().of(Campaign::of(incident.nightly))) {
    if (!job.ok()) continue;
    if (is_about(incident, job.key.fleet)) story.fingerprint = job.fingerprint;
    if (job.key.commit == story.baseline.commit) story.baseline_pytorch = job.version;
    if (job.key.commit == story.nightly.commit) story.nightly_pytorch = job.version;
  }
  return story;
}

}  // namespace torchwatch::storage
