#include "storage/migrations.h"

#include <array>
#include <stdexcept>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

namespace torchwatch::storage {
namespace {

constexpr std::string_view nightlies_and_jobs = R"sql(
CREATE TABLE nightly (
  id INTEGER PRIMARY KEY,
  date TEXT NOT NULL,
  version TEXT NOT NULL,
  commit_sha TEXT NOT NULL,
  release_sha TEXT NOT NULL,
  prefix TEXT NOT NULL,
  state TEXT NOT NULL,
  baseline_id INTEGER REFERENCES nightly(id),
  failure TEXT NOT NULL DEFAULT '',
  announced_at INTEGER NOT NULL,
  UNIQUE (date, commit_sha)
) STRICT;
CREATE TABLE fingerprint (
  id INTEGER PRIMARY KEY,
  json TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  campaign TEXT NOT NULL,
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  commit_sha TEXT NOT NULL,
  round INTEGER NOT NULL,
  error_code TEXT NOT NULL,
  error TEXT NOT NULL,
  version TEXT NOT NULL,
  fingerprint_id INTEGER NOT NULL REFERENCES fingerprint(id),
  seconds REAL NOT NULL,
  finished_at INTEGER NOT NULL,
  UNIQUE (campaign, fleet, benchmark, commit_sha, round)
) STRICT;
CREATE INDEX job_by_series ON job (fleet, benchmark, finished_at);
CREATE TABLE result (
  job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
  metric TEXT NOT NULL,
  value REAL NOT NULL,
  samples TEXT NOT NULL,
  PRIMARY KEY (job_id, metric)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::string_view comparisons_and_incidents = R"sql(
CREATE TABLE comparison (
  nightly_id INTEGER NOT NULL REFERENCES nightly(id),
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  verdict TEXT NOT NULL,
  before REAL NOT NULL,
  after REAL NOT NULL,
  ratio REAL,
  low REAL,
  high REAL,
  error_bound REAL NOT NULL,
  pairs INTEGER NOT NULL,
  PRIMARY KEY (nightly_id, fleet, benchmark, metric)
) STRICT, WITHOUT ROWID;
CREATE TABLE incident (
  id INTEGER PRIMARY KEY,
  baseline_id INTEGER NOT NULL REFERENCES nightly(id),
  nightly_id INTEGER NOT NULL UNIQUE REFERENCES nightly(id),
  report_key TEXT NOT NULL DEFAULT '',
  report TEXT NOT NULL DEFAULT '',
  opened_at INTEGER NOT NULL
) STRICT;
)sql";

constexpr std::string_view builds_and_bisections = R"sql(
CREATE TABLE build (
  commit_sha TEXT PRIMARY KEY,
  state TEXT NOT NULL,
  prefix TEXT NOT NULL,
  note TEXT NOT NULL,
  finished_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE bisection (
  id INTEGER PRIMARY KEY,
  incident_id INTEGER REFERENCES incident(id),
  start_sha TEXT NOT NULL,
  end_sha TEXT NOT NULL,
  threshold REAL NOT NULL,
  direction TEXT NOT NULL,
  state TEXT NOT NULL,
  outcome TEXT,
  lead INTEGER,
  proof_verdict TEXT,
  proof_before REAL,
  proof_after REAL,
  proof_ratio REAL,
  proof_low REAL,
  proof_high REAL,
  proof_error_bound REAL,
  proof_pairs INTEGER,
  failure TEXT NOT NULL DEFAULT '',
  asked_at INTEGER NOT NULL
) STRICT;
CREATE TABLE bisection_series (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  explained INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (bisection_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE bisection_step (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  commit_sha TEXT NOT NULL,
  verdict TEXT NOT NULL,
  note TEXT NOT NULL,
  PRIMARY KEY (bisection_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE bisection_suspect (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  commit_sha TEXT NOT NULL,
  subject TEXT NOT NULL,
  author TEXT NOT NULL,
  time INTEGER NOT NULL,
  pull_request INTEGER,
  PRIMARY KEY (bisection_id, ordinal)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::string_view accounts_of_memory = R"sql(
ALTER TABLE job ADD COLUMN accounts TEXT NOT NULL DEFAULT '{}';
)sql";

constexpr std::string_view rulings = R"sql(
CREATE TABLE ruling (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  incident_id INTEGER REFERENCES incident(id),
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  who TEXT NOT NULL,
  why TEXT NOT NULL,
  given_at INTEGER NOT NULL,
  until INTEGER
) STRICT;
CREATE INDEX ruling_by_incident ON ruling (incident_id);
ALTER TABLE comparison ADD COLUMN muted INTEGER NOT NULL DEFAULT 0;
)sql";

constexpr std::string_view builds_against_themselves = R"sql(
CREATE TABLE aa_comparison (
  nightly_id INTEGER NOT NULL REFERENCES nightly(id),
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  verdict TEXT NOT NULL,
  before REAL NOT NULL,
  after REAL NOT NULL,
  ratio REAL,
  low REAL,
  high REAL,
  error_bound REAL NOT NULL,
  pairs INTEGER NOT NULL,
  muted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (nightly_id, fleet, benchmark, metric)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::string_view alarms = R"sql(
CREATE TABLE alarm (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL,
  raised_at INTEGER NOT NULL,
  cleared_at INTEGER
) STRICT;
CREATE UNIQUE INDEX open_alarm ON alarm (kind, subject) WHERE cleared_at IS NULL;
)sql";

constexpr std::string_view anchors_and_outliers = R"sql(
CREATE TABLE anchor (
  nightly_id INTEGER NOT NULL REFERENCES nightly(id),
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  anchor_id INTEGER NOT NULL REFERENCES nightly(id),
  PRIMARY KEY (nightly_id, fleet, benchmark)
) STRICT, WITHOUT ROWID;
CREATE TABLE anchored_comparison (
  nightly_id INTEGER NOT NULL REFERENCES nightly(id),
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  verdict TEXT NOT NULL,
  before REAL NOT NULL,
  after REAL NOT NULL,
  ratio REAL,
  low REAL,
  high REAL,
  error_bound REAL NOT NULL,
  pairs INTEGER NOT NULL,
  muted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (nightly_id, fleet, benchmark, metric)
) STRICT, WITHOUT ROWID;
ALTER TABLE result ADD COLUMN outliers TEXT NOT NULL DEFAULT '[]';
)sql";

constexpr std::string_view profiles = R"sql(
ALTER TABLE job ADD COLUMN profile TEXT NOT NULL DEFAULT '[]';
)sql";

/// The culprit or range of an older search becomes its one finding: the series that led it first,
/// with its proof. Other levels are the means of what was measured of the ends. How sure it was is
/// not known. Of its steps, those that skipped a commit are kept; a search that had not ended
/// begins again.
constexpr std::string_view findings = R"sql(
ALTER TABLE bisection_step RENAME TO old_step;
ALTER TABLE bisection_suspect RENAME TO old_suspect;
CREATE TABLE bisection_step (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  commits TEXT NOT NULL,
  reason TEXT NOT NULL,
  is_done INTEGER NOT NULL,
  readings TEXT NOT NULL,
  skipped_sha TEXT,
  note TEXT NOT NULL,
  beliefs TEXT NOT NULL,
  PRIMARY KEY (bisection_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE bisection_suspect (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  finding INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  commit_sha TEXT NOT NULL,
  subject TEXT NOT NULL,
  author TEXT NOT NULL,
  time INTEGER NOT NULL,
  pull_request INTEGER,
  PRIMARY KEY (bisection_id, finding, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE bisection_effect (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  finding INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  before REAL NOT NULL,
  after REAL NOT NULL,
  probability REAL NOT NULL,
  share REAL NOT NULL,
  proof_verdict TEXT,
  proof_before REAL,
  proof_after REAL,
  proof_ratio REAL,
  proof_low REAL,
  proof_high REAL,
  proof_error_bound REAL,
  proof_pairs INTEGER,
  PRIMARY KEY (bisection_id, finding, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO bisection_step
SELECT bisection.id, row_number() OVER tried - 1, row_number() OVER tried - 1, fleet, benchmark,
       json_array(commit_sha), '', 1, '[]', commit_sha, note, '[]'
FROM old_step
JOIN bisection ON bisection.id = old_step.bisection_id
JOIN bisection_series AS series ON series.bisection_id = bisection.id AND series.ordinal = lead
WHERE verdict = 'skip' AND state IN ('done', 'failed')
WINDOW tried AS (PARTITION BY bisection.id ORDER BY old_step.ordinal);
INSERT INTO bisection_suspect
SELECT bisection_id, 0, ordinal, commit_sha, subject, author, time, pull_request FROM old_suspect;
WITH ends AS (
  SELECT bisection.id, fleet, benchmark, metric,
         avg(value) FILTER (WHERE commit_sha = start_sha) AS before,
         avg(value) FILTER (WHERE commit_sha = end_sha) AS after
  FROM bisection
  JOIN job ON campaign = 'bisect/' || bisection.id || '/ends'
  JOIN result ON result.job_id = job.id
  GROUP BY bisection.id, fleet, benchmark, metric)
INSERT INTO bisection_effect
SELECT series.bisection_id, 0,
       row_number() OVER (PARTITION BY series.bisection_id ORDER BY led.id IS NULL, series.ordinal) - 1,
       series.fleet, series.benchmark, series.metric,
       coalesce(proof_before, ends.before, 0), coalesce(proof_after, ends.after, 0), 0, explained,
       proof_verdict, proof_before, proof_after, proof_ratio, proof_low, proof_high,
       proof_error_bound, proof_pairs
FROM bisection_series AS series
LEFT JOIN bisection AS led ON led.id = series.bisection_id AND led.lead = series.ordinal
LEFT JOIN ends ON ends.id = series.bisection_id AND ends.fleet = series.fleet
               AND ends.benchmark = series.benchmark AND ends.metric = series.metric
WHERE (explained OR led.id IS NOT NULL)
  AND series.bisection_id IN (SELECT bisection_id FROM old_suspect);
DROP TABLE old_step;
DROP TABLE old_suspect;
ALTER TABLE bisection_series DROP COLUMN explained;
ALTER TABLE bisection DROP COLUMN lead;
ALTER TABLE bisection DROP COLUMN proof_verdict;
ALTER TABLE bisection DROP COLUMN proof_before;
ALTER TABLE bisection DROP COLUMN proof_after;
ALTER TABLE bisection DROP COLUMN proof_ratio;
ALTER TABLE bisection DROP COLUMN proof_low;
ALTER TABLE bisection DROP COLUMN proof_high;
ALTER TABLE bisection DROP COLUMN proof_error_bound;
ALTER TABLE bisection DROP COLUMN proof_pairs;
)sql";

/// What a build took; 0: not known.
constexpr std::string_view build_seconds = R"sql(
ALTER TABLE build ADD COLUMN seconds REAL NOT NULL DEFAULT 0;
)sql";

constexpr std::string_view cures = R"sql(
CREATE TABLE bisection_finding (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  finding INTEGER NOT NULL,
  no_cure TEXT NOT NULL,
  PRIMARY KEY (bisection_id, finding)
) STRICT, WITHOUT ROWID;
INSERT INTO bisection_finding SELECT DISTINCT bisection_id, finding, '' FROM bisection_suspect;
ALTER TABLE bisection_effect ADD COLUMN cure_verdict TEXT;
ALTER TABLE bisection_effect ADD COLUMN cure_before REAL;
ALTER TABLE bisection_effect ADD COLUMN cure_after REAL;
ALTER TABLE bisection_effect ADD COLUMN cure_ratio REAL;
ALTER TABLE bisection_effect ADD COLUMN cure_low REAL;
ALTER TABLE bisection_effect ADD COLUMN cure_high REAL;
ALTER TABLE bisection_effect ADD COLUMN cure_error_bound REAL;
ALTER TABLE bisection_effect ADD COLUMN cure_pairs INTEGER;
)sql";

constexpr std::string_view priors = R"sql(
ALTER TABLE bisection ADD COLUMN prior TEXT NOT NULL DEFAULT 'uniform';
)sql";

constexpr std::string_view kinds_of_builds = R"sql(
ALTER TABLE build ADD COLUMN is_incremental INTEGER NOT NULL DEFAULT 0;
)sql";

constexpr std::string_view stages = R"sql(
ALTER TABLE bisection_step ADD COLUMN stage TEXT NOT NULL DEFAULT 'commits';
)sql";

/// Nobody asked by which recipe the older builds were made: 0. The table has rowids because
/// integrity_check of SQLite 3.40 sees a NULL where a key without them does not come first.
constexpr std::string_view recipes_and_packages = R"sql(
CREATE TABLE recipe (
  id INTEGER PRIMARY KEY,
  contents TEXT NOT NULL UNIQUE
) STRICT;
ALTER TABLE build RENAME TO old_build;
CREATE TABLE build (
  commit_sha TEXT NOT NULL,
  state TEXT NOT NULL,
  prefix TEXT NOT NULL,
  note TEXT NOT NULL,
  finished_at INTEGER NOT NULL,
  seconds REAL NOT NULL DEFAULT 0,
  is_incremental INTEGER NOT NULL DEFAULT 0,
  recipe_id INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (commit_sha, recipe_id)
) STRICT;
INSERT INTO build SELECT commit_sha, state, prefix, note, finished_at, seconds, is_incremental, 0
FROM old_build;
DROP TABLE old_build;
ALTER TABLE bisection ADD COLUMN recipe_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE bisection ADD COLUMN package_differences TEXT;
CREATE TABLE package_comparison (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  verdict TEXT NOT NULL,
  before REAL NOT NULL,
  after REAL NOT NULL,
  ratio REAL,
  low REAL,
  high REAL,
  error_bound REAL NOT NULL,
  pairs INTEGER NOT NULL,
  muted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (bisection_id, fleet, benchmark, metric)
) STRICT, WITHOUT ROWID;
)sql";

/// The words of the field: what was called a cure is a revert check.
constexpr std::string_view revert_checks = R"sql(
ALTER TABLE bisection_finding RENAME COLUMN no_cure TO no_revert_check;
ALTER TABLE bisection_effect RENAME COLUMN cure_verdict TO revert_check_verdict;
ALTER TABLE bisection_effect RENAME COLUMN cure_before TO revert_check_before;
ALTER TABLE bisection_effect RENAME COLUMN cure_after TO revert_check_after;
ALTER TABLE bisection_effect RENAME COLUMN cure_ratio TO revert_check_ratio;
ALTER TABLE bisection_effect RENAME COLUMN cure_low TO revert_check_low;
ALTER TABLE bisection_effect RENAME COLUMN cure_high TO revert_check_high;
ALTER TABLE bisection_effect RENAME COLUMN cure_error_bound TO revert_check_error_bound;
ALTER TABLE bisection_effect RENAME COLUMN cure_pairs TO revert_check_pairs;
UPDATE job SET campaign = replace(campaign, '/cure/', '/revert-check/')
WHERE campaign GLOB 'bisect/*/cure/*';
)sql";

/// What stood for `source.artifacts` began with a word; everything else is a program's.
constexpr std::string_view kinds_of_recipes = R"sql(
ALTER TABLE recipe RENAME TO old_recipe;
CREATE TABLE recipe (
  id INTEGER PRIMARY KEY,
  contents TEXT NOT NULL,
  kind TEXT NOT NULL,
  UNIQUE (kind, contents)
) STRICT;
INSERT INTO recipe
SELECT id, substr(contents, 11), 'artifacts' FROM old_recipe WHERE contents GLOB 'artifacts *'
UNION ALL
SELECT id, contents, 'program' FROM old_recipe WHERE contents NOT GLOB 'artifacts *';
DROP TABLE old_recipe;
)sql";

/// A worker has its turn; steps that are done side by side are a wave.
constexpr std::string_view waves = R"sql(
ALTER TABLE bisection_step RENAME COLUMN turn TO wave;
)sql";

/// Nightlies may be published as files, which are known before their commits are.
constexpr std::string_view published_files = R"sql(
CREATE TABLE new_nightly (
  id INTEGER PRIMARY KEY,
  date TEXT NOT NULL,
  version TEXT NOT NULL,
  commit_sha TEXT NOT NULL,
  release_sha TEXT NOT NULL,
  prefix TEXT NOT NULL,
  state TEXT NOT NULL,
  baseline_id INTEGER REFERENCES nightly(id),
  failure TEXT NOT NULL DEFAULT '',
  announced_at INTEGER NOT NULL,
  file_url TEXT,
  file_sha256 TEXT NOT NULL DEFAULT '',
  file_etag TEXT NOT NULL DEFAULT '',
  file_last_modified TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO new_nightly
SELECT id, date, version, commit_sha, release_sha, prefix, state, baseline_id, failure,
       announced_at, NULL, '', '', '' FROM nightly;
DROP TABLE nightly;
ALTER TABLE new_nightly RENAME TO nightly;
CREATE UNIQUE INDEX nightly_of_commit ON nightly (date, commit_sha) WHERE file_url IS NULL;
CREATE UNIQUE INDEX nightly_of_file
ON nightly (file_url, file_sha256, file_etag, file_last_modified) WHERE file_url IS NOT NULL;
)sql";

constexpr std::string_view kept_builds = R"sql(
CREATE TABLE kept_build (
  name TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  made_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  pinned_by TEXT NOT NULL DEFAULT '',
  pinned_why TEXT NOT NULL DEFAULT '',
  pinned_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE wanted_build (
  nightly_id INTEGER PRIMARY KEY REFERENCES nightly(id),
  who TEXT NOT NULL,
  why TEXT NOT NULL,
  asked_at INTEGER NOT NULL
) STRICT;
)sql";

/// "TWCH": soundness.h, application_id.
constexpr std::string_view whose_it_is = "PRAGMA application_id = 1415005000";

/// Who has which place in a round is drawn. Of older rounds it went there and back.
constexpr std::string_view drawn_orders = R"sql(
ALTER TABLE job ADD COLUMN seed INTEGER;
ALTER TABLE job ADD COLUMN place INTEGER;
)sql";

/// Many commits did it, each a little; and proofs once more, of builds with another layout.
constexpr std::string_view more_kinds_of_findings = R"sql(
ALTER TABLE bisection_finding ADD COLUMN is_gradual INTEGER NOT NULL DEFAULT 0;
ALTER TABLE bisection_effect ADD COLUMN rebuilt_verdict TEXT;
ALTER TABLE bisection_effect ADD COLUMN rebuilt_before REAL;
ALTER TABLE bisection_effect ADD COLUMN rebuilt_after REAL;
ALTER TABLE bisection_effect ADD COLUMN rebuilt_ratio REAL;
ALTER TABLE bisection_effect ADD COLUMN rebuilt_low REAL;
ALTER TABLE bisection_effect ADD COLUMN rebuilt_high REAL;
ALTER TABLE bisection_effect ADD COLUMN rebuilt_error_bound REAL;
ALTER TABLE bisection_effect ADD COLUMN rebuilt_pairs INTEGER;
ALTER TABLE bisection_effect ADD COLUMN is_doubted INTEGER NOT NULL DEFAULT 0;
)sql";

/// What stays of every night when its processes are forgotten. Older ones are worked out.
constexpr std::string_view nights = R"sql(
CREATE TABLE series (
  id INTEGER PRIMARY KEY,
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  UNIQUE (fleet, benchmark, metric)
) STRICT;
CREATE TABLE night (
  series_id INTEGER NOT NULL REFERENCES series(id),
  nightly_id INTEGER NOT NULL REFERENCES nightly(id),
  level REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  processes INTEGER NOT NULL,
  verdict TEXT,
  fingerprint_id INTEGER NOT NULL REFERENCES fingerprint(id),
  PRIMARY KEY (series_id, nightly_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX night_by_nightly ON night (nightly_id);
INSERT INTO series (fleet, benchmark, metric)
SELECT DISTINCT fleet, benchmark, metric FROM nightly
JOIN job ON campaign = 'nightly/' || nightly.id AND job.commit_sha = nightly.commit_sha
JOIN result ON result.job_id = job.id ORDER BY fleet, benchmark, metric;
INSERT INTO night
SELECT series.id, nightly, avg(value) FILTER (WHERE place IN ((count + 1) / 2, (count + 2) / 2)),
       min(value), max(value), count,
       (SELECT verdict FROM comparison
        WHERE nightly_id = nightly AND comparison.fleet = ranked.fleet
          AND comparison.benchmark = ranked.benchmark AND comparison.metric = ranked.metric),
       max(fingerprint_id)
FROM (SELECT nightly.id AS nightly, fleet, benchmark, metric, value, fingerprint_id,
             row_number() OVER of_night AS place, count(*) OVER all_night AS count
      FROM nightly
      JOIN job ON campaign = 'nightly/' || nightly.id AND job.commit_sha = nightly.commit_sha
      JOIN result ON result.job_id = job.id
      WINDOW all_night AS (PARTITION BY nightly.id, fleet, benchmark, metric),
             of_night AS (all_night ORDER BY value)) AS ranked
JOIN series USING (fleet, benchmark, metric)
GROUP BY series.id, nightly;
)sql";

/// The commits that a bisection searches, for whoever looks at it while the repository is
/// elsewhere.
constexpr std::string_view searched_commits = R"sql(
CREATE TABLE bisection_commit (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  commit_sha TEXT NOT NULL,
  subject TEXT NOT NULL,
  author TEXT NOT NULL,
  time INTEGER NOT NULL,
  pull_request INTEGER,
  PRIMARY KEY (bisection_id, ordinal)
) STRICT, WITHOUT ROWID;
)sql";

/// What clients call their requests, so that one that is sent again does nothing twice.
constexpr std::string_view request_keys = R"sql(
CREATE TABLE request_key (
  name TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  given_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
)sql";

/// The newest nightlies are found without reading all of them.
constexpr std::string_view nightlies_by_date = R"sql(
CREATE INDEX nightly_by_date ON nightly (date);
)sql";

/// Whether a step's commit was skipped for its build or for its measurement was in its note alone.
constexpr std::string_view unbuilt_commits = R"sql(
ALTER TABLE bisection_step ADD COLUMN is_unbuilt INTEGER NOT NULL DEFAULT 0;
UPDATE bisection_step SET is_unbuilt = 1
WHERE skipped_sha IS NOT NULL AND note NOT LIKE 'could not be measured: %';
)sql";

/// Which hosts nothing refers to any more is found without reading all jobs for each.
constexpr std::string_view hosts_of_jobs = R"sql(
CREATE INDEX job_by_fingerprint ON job (fingerprint_id);
CREATE INDEX night_by_fingerprint ON night (fingerprint_id);
)sql";

/// A bisection that was cut off goes on with what it began with.
constexpr std::string_view noise_of_builds = R"sql(
ALTER TABLE bisection ADD COLUMN build_noise TEXT;
)sql";

/// What a bisection finds after its incident was reported is told beside the report, once. What had
/// ended before this was recorded is left as it is.
constexpr std::string_view told_bisections = R"sql(
ALTER TABLE bisection ADD COLUMN is_told INTEGER NOT NULL DEFAULT 0;
UPDATE bisection SET is_told = 1
WHERE state IN ('done', 'failed', 'cancelled')
  AND incident_id IN (SELECT id FROM incident WHERE report <> '');
)sql";

/// A report that says of a bisection that it goes on is followed by how that ended, whichever way.
constexpr std::string_view promised_bisections = R"sql(
ALTER TABLE bisection ADD COLUMN is_promised INTEGER NOT NULL DEFAULT 0;
UPDATE bisection SET is_promised = 1
WHERE state = 'paused' AND incident_id IN (SELECT id FROM incident WHERE report <> '');
)sql";

constexpr std::array steps{nightlies_and_jobs,
                           comparisons_and_incidents,
                           builds_and_bisections,
                           accounts_of_memory,
                           rulings,
                           builds_against_themselves,
                           alarms,
                           anchors_and_outliers,
                           profiles,
                           findings,
                           build_seconds,
                           cures,
                           priors,
                           kinds_of_builds,
                           stages,
                           recipes_and_packages,
                           revert_checks,
                           kinds_of_recipes,
                           waves,
                           published_files,
                           kept_builds,
                           whose_it_is,
                           drawn_orders,
                           more_kinds_of_findings,
                           nights,
                           searched_commits,
                           request_keys,
                           nightlies_by_date,
                           unbuilt_commits,
                           hosts_of_jobs,
                           noise_of_builds,
                           told_bisections,
                           promised_bisections};

/// Foreign keys are off while this lives: a table that others refer to is replaced by a new one of
/// its name, and looked at when it is done (https://www.sqlite.org/lang_altertable.html, 7).
class WithoutForeignKeys {
 public:
  explicit WithoutForeignKeys(SQLite::Database& database)
      : database_{database},
        were_on_{database.execAndGet("PRAGMA foreign_keys").getInt() == 1} {
    database_.exec("PRAGMA foreign_keys = OFF");
  }

  WithoutForeignKeys(WithoutForeignKeys const&) = delete;
  WithoutForeignKeys& operator=(WithoutForeignKeys const&) = delete;

  ~WithoutForeignKeys() {
    if (were_on_) database_.tryExec("PRAGMA foreign_keys = ON");
  }

 private:
  SQLite::Database& database_;
  bool were_on_;
};

}  // namespace

std::span<std::string_view const> migrations() {
  return steps;
}

void migrate(SQLite::Database& database) {
  migrate_to(database, static_cast<int>(steps.size()));
}

void migrate_to(SQLite::Database& database, int version) {
  int const found = database.execAndGet("PRAGMA user_version").getInt();
  if (found > static_cast<int>(steps.size()))
    throw std::runtime_error("database has version " + std::to_string(found) +
                             ", this program knows up to " + std::to_string(steps.size()));
  if (found >= version) return;
  WithoutForeignKeys const tables_may_be_replaced{database};
  SQLite::Transaction transaction{database, SQLite::TransactionBehavior::IMMEDIATE};
  for (int at = found; at < version; ++at) {
    database.exec(std::string{steps.at(static_cast<std::size_t>(at))});
    if (SQLite::Statement broken{database, "PRAGMA foreign_key_check"}; broken.executeStep())
      throw std::runtime_error("migration " + std::to_string(at + 1) + " loses rows of " +
                               broken.getColumn(2).getString());
  }
  database.exec("PRAGMA user_version = " + std::to_string(version));
  transaction.commit();
}

}  // namespace torchwatch::storage
