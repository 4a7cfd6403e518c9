-- The database of torchwatch: one comment a table and a column. storage/DESIGN.md has the picture, the states and who
-- writes what when.
--
-- Times are seconds since 1970 in UTC; commits are 40 hexadecimal digits; benchmarks have TorchBench's names
-- ("test_train[dlrm-cpu-eager]"). A column with a closed set of words lists them; a stored word that the program does not
-- know is an error that names the column.

PRAGMA application_id = 1415005250;  -- "TWDB"

-- Nightlies and what they were measured as -----------------------------------------------------------------------------

-- A build that a feed announced. One row a date and commit or, where it is published as a file, a date, version and
-- edition: contents of the file.
CREATE TABLE nightly (
  id INTEGER PRIMARY KEY,                        -- in the order announced
  date TEXT NOT NULL,                            -- "YYYY-MM-DD" of the feed: the order of nightlies
  version TEXT NOT NULL,                         -- PyTorch's version, for people
  commit_sha TEXT NOT NULL,                      -- trunk commit, or the nightly branch's if only that is known; empty until the file was fetched
  release_sha TEXT NOT NULL,                     -- commit of the nightly branch; empty if the feed has none
  prefix TEXT NOT NULL,                          -- directory of the build; empty until it is built or fetched
  state TEXT NOT NULL,                           -- announced, prepared, swept, screened, confirmed, bisected, done, failed
  baseline_id INTEGER REFERENCES nightly(id),    -- the nightly it is compared with; some series with an older one: see series_baseline
  failure TEXT NOT NULL DEFAULT '',              -- why it failed
  announced_at INTEGER NOT NULL,                 -- when it was first seen
  file_url TEXT,                                 -- where its file is published now; NULL if it is not
  file_sha256 TEXT NOT NULL DEFAULT '',          -- digest of its contents; empty until they were downloaded, unless the index page has it
  file_etag TEXT NOT NULL DEFAULT '',            -- the server's ETag of the file that was downloaded; empty until then
  file_last_modified TEXT NOT NULL DEFAULT '',   -- the server's Last-Modified of that file; empty until then
  file_bytes INTEGER NOT NULL DEFAULT 0,         -- of that file; 0 until then
  file_aliases TEXT NOT NULL DEFAULT '',         -- other ETags that servers have for the same contents, a line each
  release_date TEXT NOT NULL DEFAULT ''          -- "YYYY-MM-DD" that the nightly branch has for `release_sha`; empty until the file was fetched, and where the branch does not have it
) STRICT;
CREATE INDEX nightly_by_date ON nightly (date);
CREATE UNIQUE INDEX nightly_of_commit ON nightly (date, commit_sha) WHERE file_url IS NULL;
CREATE UNIQUE INDEX nightly_of_file
ON nightly (date, version, file_sha256) WHERE file_url IS NOT NULL;

-- The Python whose wheels a feed follows: chosen at the first look, and anew when a week has none for it.
CREATE TABLE interpreter (
  feed TEXT PRIMARY KEY,                         -- the address of its page
  python TEXT NOT NULL,                          -- Python tag, "cp313"; empty: archives have none
  abi TEXT NOT NULL                              -- ABI tag, "cp313", "cp313t"
) STRICT, WITHOUT ROWID;

-- A host as a runner reported it. Each distinct one is stored once, as long as a job or a night refers to it.
CREATE TABLE fingerprint (
  id INTEGER PRIMARY KEY,
  json TEXT NOT NULL UNIQUE                      -- JSON object: host, CPU, threads, libraries
) STRICT;

-- One worker process.
CREATE TABLE job (
  id INTEGER PRIMARY KEY,                        -- in the order recorded
  campaign TEXT NOT NULL,                        -- what it was measured for: see storage/domain/campaign.h
  fleet TEXT NOT NULL,                           -- where it ran; values are compared inside one fleet only
  benchmark TEXT NOT NULL,
  commit_sha TEXT NOT NULL,                      -- commit of the build it measured
  round INTEGER NOT NULL,                        -- repetition inside the campaign, from 0
  error_code TEXT NOT NULL,                      -- failed, unsupported, crashed, timeout, memory, device, device_memory, protocol, launch, lost; empty if it gave values
  error TEXT NOT NULL,                           -- the error for people
  version TEXT NOT NULL,                         -- PyTorch's version as the worker saw it
  fingerprint_id INTEGER NOT NULL REFERENCES fingerprint(id),  -- the host it ran on
  seconds REAL NOT NULL,                         -- wall-clock cost of the process
  finished_at INTEGER NOT NULL,
  accounts TEXT NOT NULL,                        -- JSON object, name to number: memory in bytes, shares of a GPU's time, TFLOPS
  profile TEXT NOT NULL,                         -- JSON array, an operator each: name, calls, ms, bytes; empty unless asked for
  seed INTEGER NOT NULL,                         -- 32 bits from which the orders of its round were drawn
  place INTEGER NOT NULL,                        -- its place in the round, from 0 (runner/DESIGN.md, Turns)
  UNIQUE (campaign, fleet, benchmark, commit_sha, round)
) STRICT;
CREATE INDEX job_by_series ON job (fleet, benchmark, finished_at);
CREATE INDEX job_by_fingerprint ON job (fingerprint_id);

-- One metric of a job that gave values.
CREATE TABLE result (
  job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
  metric TEXT NOT NULL,                          -- latency, cmem, gmem, leak
  value REAL NOT NULL,                           -- in the metric's unit
  samples TEXT NOT NULL,                         -- JSON array of numbers, one a run
  outliers TEXT NOT NULL,                        -- JSON array of places in `samples` far from the rest; they count all the same
  PRIMARY KEY (job_id, metric)
) STRICT, WITHOUT ROWID;

-- A series that was ever measured on a nightly.
CREATE TABLE series (
  id INTEGER PRIMARY KEY,
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  UNIQUE (fleet, benchmark, metric)
) STRICT;

-- The summary of one nightly on one series. It stays when the nightly's jobs are deleted (`store.raw_nights`). Written
-- when the sweep has ended, and again when the nightly is judged. Charts and change points read nothing else.
CREATE TABLE night (
  series_id INTEGER NOT NULL REFERENCES series(id),
  nightly_id INTEGER NOT NULL REFERENCES nightly(id),
  level REAL NOT NULL,                           -- median over the nightly's own processes
  low REAL NOT NULL,                             -- smallest of them
  high REAL NOT NULL,                            -- largest of them
  processes INTEGER NOT NULL,                    -- how many
  verdict TEXT,                                  -- as in `comparison`; NULL if there was nothing to compare with
  fingerprint_id INTEGER NOT NULL REFERENCES fingerprint(id),  -- of their hosts, the one with the highest id
  is_judged INTEGER NOT NULL DEFAULT 0,          -- 1 if it may be the series' baseline: it was compared and decided, or had no baseline
  PRIMARY KEY (series_id, nightly_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX night_by_nightly ON night (nightly_id);
CREATE INDEX night_by_fingerprint ON night (fingerprint_id);

-- What the Trust page shows of many nights. One row, written after `night` and the verdicts: worked out from all these
-- nights for each answer, it would take most of the answering thread.
CREATE TABLE trust_figures (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  noise TEXT NOT NULL,                           -- JSON array, one array a series: fleet, benchmark, metric, nights; then level, between and within, unless the last 30 nights do not show them
  hosts TEXT NOT NULL,                           -- JSON array, one object a host: fleet, fingerprint (object), ratio, low, high, series, nights (of the last 30)
  aa_months TEXT NOT NULL,                       -- JSON array, one array a month of nightlies: "2026-01", comparisons of builds with themselves, how many of them found a change
  costs TEXT NOT NULL                            -- JSON array, one array a verdict and number of pairs: both, and how many verdicts of the last 365 nightlies took them
) STRICT;

-- Verdicts -------------------------------------------------------------------------------------------------------------

-- The verdict on one series of a nightly, with its evidence.
CREATE TABLE comparison (
  nightly_id INTEGER NOT NULL REFERENCES nightly(id),
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  verdict TEXT NOT NULL,                         -- regression, improvement, unchanged, inconclusive
  before REAL NOT NULL,                          -- level of the baseline, measured next to the nightly
  after REAL NOT NULL,                           -- level of the nightly
  ratio REAL,                                    -- after to before; NULL if `before` is zero
  low REAL,                                      -- lower end of its interval
  high REAL,                                     -- upper end of its interval
  error_bound REAL NOT NULL,                     -- probability that the interval misses the true ratio
  pairs INTEGER NOT NULL,                        -- processes measured of each build
  muted INTEGER NOT NULL DEFAULT 0,              -- 1 if the series was muted when the verdict was recorded
  PRIMARY KEY (nightly_id, fleet, benchmark, metric)
) STRICT, WITHOUT ROWID;

-- The nightly that one series of a nightly is compared with, where that is not `nightly.baseline_id`: the last that judged
-- the series. Written before anything of the nightly is measured.
CREATE TABLE series_baseline (
  nightly_id INTEGER NOT NULL REFERENCES nightly(id),
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  baseline_id INTEGER NOT NULL REFERENCES nightly(id),  -- older than `nightly.baseline_id`
  PRIMARY KEY (nightly_id, fleet, benchmark, metric)
) STRICT, WITHOUT ROWID;

-- A nightly compared with itself (self-comparison): any change is a false alarm. Columns as in `comparison`.
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

-- The anchor of a benchmark: the older nightly that this nightly is compared with. Chosen before anything is measured.
CREATE TABLE anchor (
  nightly_id INTEGER NOT NULL REFERENCES nightly(id),
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  anchor_id INTEGER NOT NULL REFERENCES nightly(id),
  PRIMARY KEY (nightly_id, fleet, benchmark)
) STRICT, WITHOUT ROWID;

-- A nightly compared with its anchor. Columns as in `comparison`.
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

-- A nightly with at least one regression that is not muted. Its changes are those regressions.
CREATE TABLE incident (
  id INTEGER PRIMARY KEY,                        -- in the order opened
  baseline_id INTEGER NOT NULL REFERENCES nightly(id),        -- all changes lie between this nightly, the oldest that a series was compared with,
  nightly_id INTEGER NOT NULL UNIQUE REFERENCES nightly(id),  -- and this one
  report_key TEXT NOT NULL DEFAULT '',           -- finds the report again; written before it is published
  report_sent_at INTEGER,                        -- when the issue was sent to GitHub; NULL unless it is not known what became of that
  report TEXT NOT NULL DEFAULT '',               -- the issue's URL or the file's path; written after it is published
  opened_at INTEGER NOT NULL,                    -- when the first regression was confirmed
  edition_id INTEGER REFERENCES nightly(id),     -- the last later edition of the nightly's file that has regressions, too; NULL: none
  correction TEXT NOT NULL DEFAULT '',           -- what the last later edition came to, for people; empty: there is none
  is_correction_reported INTEGER NOT NULL DEFAULT 0  -- 1 once the report, or a comment on it, has the correction
) STRICT;
CREATE INDEX incident_by_edition ON incident (edition_id);

-- The pause that GitHub asked for last. At most one row.
CREATE TABLE github_pause (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  ends_at INTEGER NOT NULL                       -- no request is sent before
) STRICT;

-- What a person decided. Rows are only added; a later one outweighs an earlier one.
CREATE TABLE ruling (
  id INTEGER PRIMARY KEY,                        -- in the order given
  kind TEXT NOT NULL,                            -- accept or false_alarm of an incident; accept, mute or unmute of series
  incident_id INTEGER REFERENCES incident(id),   -- NULL for a ruling on series
  fleet TEXT NOT NULL,                           -- which series; an empty fleet, benchmark or metric stands for all
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  who TEXT NOT NULL,
  why TEXT NOT NULL,
  given_at INTEGER NOT NULL,
  until INTEGER                                  -- when a mute ends; NULL: when it is unmuted
) STRICT;
CREATE INDEX ruling_by_incident ON ruling (incident_id);

-- Something is or was wrong with the watching itself. At most one of a kind and subject is open.
CREATE TABLE alarm (
  id INTEGER PRIMARY KEY,                        -- in the order raised
  kind TEXT NOT NULL,                            -- one of AlarmKind (storage/domain/alarm.h)
  subject TEXT NOT NULL,                         -- a fleet, one of its slots, a fleet's benchmark or series, or a nightly; empty if there is only one
  detail TEXT NOT NULL,                          -- for people
  raised_at INTEGER NOT NULL,
  cleared_at INTEGER                             -- NULL while it is open
) STRICT;
CREATE UNIQUE INDEX open_alarm ON alarm (kind, subject) WHERE cleared_at IS NULL;

-- Builds ---------------------------------------------------------------------------------------------------------------

-- How commits were ever built. Each recipe is stored once.
CREATE TABLE recipe (
  id INTEGER PRIMARY KEY,
  contents TEXT NOT NULL,                        -- program: git's id of its text and what it builds with, a line each; artifacts: their address
  kind TEXT NOT NULL,                            -- program, or artifacts (builds made elsewhere)
  UNIQUE (kind, contents)
) STRICT;

-- A commit whose building by a recipe ended for good. A failure that may pass leaves no row. The table has rowids because
-- integrity_check of SQLite 3.40 reports a NULL in a key without them that does not come first.
CREATE TABLE build (
  commit_sha TEXT NOT NULL,
  state TEXT NOT NULL,                           -- built, or unbuildable for ever
  prefix TEXT NOT NULL,                          -- directory of a built one
  note TEXT NOT NULL,                            -- why an unbuildable one cannot be built
  finished_at INTEGER NOT NULL,
  seconds REAL NOT NULL,                         -- wall-clock cost; 0: not known
  is_incremental INTEGER NOT NULL,               -- 1 if it was made in a worktree where another was made before
  recipe_id INTEGER NOT NULL,                    -- the recipe that built it, or refused to
  PRIMARY KEY (commit_sha, recipe_id)
) STRICT;

-- A build in `state_dir/builds`, as it was last seen there. The directory is the truth: a row without a directory is
-- deleted, and a directory without a row gets one.
CREATE TABLE kept_build (
  name TEXT PRIMARY KEY,                         -- of its directory
  bytes INTEGER NOT NULL,                        -- of its files when it was last used; holes of sparse files count
  made_at INTEGER NOT NULL,                      -- when it was first seen
  used_at INTEGER NOT NULL,                      -- when it was last measured, to the hour
  pinned_by TEXT NOT NULL DEFAULT '',            -- who wants it kept; empty: not pinned
  pinned_why TEXT NOT NULL DEFAULT '',
  pinned_at INTEGER
) STRICT, WITHOUT ROWID;

-- A nightly whose removed build a user wants back. Deleted when the build is there, or cannot be had.
CREATE TABLE wanted_build (
  nightly_id INTEGER PRIMARY KEY REFERENCES nightly(id),
  who TEXT NOT NULL,                             -- these become its pin
  why TEXT NOT NULL,
  asked_at INTEGER NOT NULL
) STRICT;

-- What could not be had yet. It is tried again at longer and longer intervals until a day after `since`, by whichever
-- process comes next. Deleted when it is there. A nightly or bisection that was given up, or not waited for any longer, keeps its row,
-- as do the commits of a bisection that was given up, and so does a build that was given up, for a day. A host that can start
-- no program makes no attempt. A version that has no wheel yet
-- for the Python that is followed is waited for in the same way, until `feed.python_wait_s` ends.
CREATE TABLE retry (
  subject TEXT PRIMARY KEY,                      -- "nightly", "bisection" or "commits of bisection" and its id, "build", commits and recipe, or "wheel" and a version
  since INTEGER NOT NULL,                        -- first attempt
  tried_at INTEGER NOT NULL,                     -- last attempt
  reason TEXT NOT NULL                           -- why the last attempt failed
) STRICT, WITHOUT ROWID;

-- Bisections -----------------------------------------------------------------------------------------------------------

-- A request to find the commits that changed some series, and how far it has come.
CREATE TABLE bisection (
  id INTEGER PRIMARY KEY,                        -- in the order requested
  incident_id INTEGER REFERENCES incident(id),   -- the incident it explains; NULL if a user asked about something else
  start_sha TEXT NOT NULL,                       -- last commit before the change
  end_sha TEXT NOT NULL,                         -- first commit known to be after it
  threshold REAL NOT NULL,                       -- smallest relative change that counts
  direction TEXT NOT NULL,                       -- increase, decrease, both
  state TEXT NOT NULL,                           -- queued, running, paused, done, failed, cancelled
  outcome TEXT,                                  -- culprit, range, environment, not_reproduced, layout, undecided; NULL before `done`
  failure TEXT NOT NULL DEFAULT '',              -- why it failed
  asked_at INTEGER NOT NULL,
  prior TEXT NOT NULL,                           -- which commits are likely before anything is measured: uniform (all alike), paths (less if a commit hardly touches what benchmarks run)
  recipe_id INTEGER NOT NULL DEFAULT 0,          -- the recipe that builds its commits; 0 before it builds any
  package_differences TEXT,                      -- how the nightlies at its ends differ besides their commits, a line each; NULL if they came with its own builds
  build_variation TEXT,                              -- JSON object, fleet to number: standard deviation of logarithms of times between builds of equal commits, as known when it began
  base_sha TEXT,                                 -- newest commit that both ends have, where the end lacks some of the start's; else NULL, and before it begins
  missing_commits INTEGER NOT NULL DEFAULT 0,    -- how many the end lacks: those from the base to the start
  added_commits INTEGER NOT NULL DEFAULT 0,      -- how many lie between the base and the end; 0 unless the end lacks some
  is_reported INTEGER NOT NULL DEFAULT 0,            -- 1 once the incident's report, or an addition to it, has what it found
  is_announced_as_running INTEGER NOT NULL DEFAULT 0,        -- 1 if the report says that it is running: how it ends is then added to it
  outer_id INTEGER REFERENCES bisection(id),     -- the bisection whose culprit is a merge that this one searches; NULL if it searches none
  merge_sha TEXT,                                -- that merge
  merged_commits INTEGER NOT NULL DEFAULT 0      -- how many commits the merge brought besides itself
) STRICT;
CREATE UNIQUE INDEX bisection_into_merge ON bisection (outer_id, merge_sha) WHERE outer_id IS NOT NULL;

-- A series that a bisection is to explain.
CREATE TABLE bisection_series (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,                      -- in the order requested
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  PRIMARY KEY (bisection_id, ordinal)
) STRICT, WITHOUT ROWID;

-- A commit that a bisection may build, apart from its start. Whoever reads it needs no clone of the repository.
CREATE TABLE bisection_commit (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,                      -- from the start to the end: oldest first, but for those that go back to the base
  commit_sha TEXT NOT NULL,
  subject TEXT NOT NULL,
  author TEXT NOT NULL,
  time INTEGER NOT NULL,
  pull_request INTEGER,
  PRIMARY KEY (bisection_id, ordinal)
) STRICT, WITHOUT ROWID;

-- One round of a bisection: some commits were measured next to each other, or could not be. Written when it is planned, and
-- again when it is done.
CREATE TABLE bisection_step (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,                      -- in the order planned, from 0
  wave INTEGER NOT NULL,                         -- steps of one wave are made at the same time
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  commits TEXT NOT NULL,                         -- JSON array, in ancestry order
  reason TEXT NOT NULL,                          -- why these commits, for people
  is_done INTEGER NOT NULL,                      -- 0 while it is only planned
  readings TEXT NOT NULL,                        -- JSON array, one a metric: metric, levels in the order of `commits`; empty if it failed
  skipped_sha TEXT,                              -- the commit that could not be built or measured; NULL if all could
  note TEXT NOT NULL,                            -- why it could not
  beliefs TEXT NOT NULL,                         -- JSON array, one a series, of what was believed after its wave: fleet, benchmark, metric, no_change (probability), first, last (commits between which a change lies most likely), probability (that it does)
  stage TEXT NOT NULL,                           -- nightlies: packages of the feed were measured; commits: builds of the recipe
  is_unbuilt INTEGER NOT NULL,                   -- 1 if the skipped commit could not be built, 0 if its benchmark could not be measured
  PRIMARY KEY (bisection_id, ordinal)
) STRICT, WITHOUT ROWID;

-- One change that a bisection found.
CREATE TABLE bisection_finding (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  finding INTEGER NOT NULL,                      -- from 0
  no_revert_check TEXT NOT NULL,                 -- why its commit could not be reverted and measured; empty if it was
  is_gradual INTEGER NOT NULL,                   -- 1 if many of its suspects caused it, each a little
  reverted_by_sha TEXT,                          -- trunk commit that reverted its one suspect, as known at the end; NULL if none
  approvers TEXT NOT NULL,                       -- GitHub names of those who approved its one suspect, a line each
  earlier_incident_id INTEGER REFERENCES incident(id),  -- whose culprit has the title or pull request of its one suspect; NULL if none
  missing INTEGER NOT NULL,                      -- how many of its suspects, the first ones, the end lacks
  merged INTEGER NOT NULL,                       -- how many commits its one suspect, a merge, brought besides itself; else 0
  PRIMARY KEY (bisection_id, finding)
) STRICT, WITHOUT ROWID;

-- A commit of a finding. One suspect is a culprit if it was proved; several are a range that holds one.
CREATE TABLE bisection_suspect (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  finding INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,                      -- those that the end lacks first, newest first; then oldest first
  commit_sha TEXT NOT NULL,
  subject TEXT NOT NULL,
  author TEXT NOT NULL,
  time INTEGER NOT NULL,
  pull_request INTEGER,
  PRIMARY KEY (bisection_id, finding, ordinal)
) STRICT, WITHOUT ROWID;

-- What a finding changed of one series. Each finding has at least one. The three groups of columns are comparisons, NULL if
-- they were not made: the commit against its parent (proof), the newest commit against itself with the commit reverted
-- (revert_check), the commit against its parent in another layout (rebuilt).
CREATE TABLE bisection_effect (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  finding INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,                      -- the largest effect first
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  before REAL NOT NULL,                          -- levels, as the bisection estimated them
  after REAL NOT NULL,
  probability REAL NOT NULL,                     -- of the answer given for the series
  share REAL NOT NULL,                           -- of the change between the ends, which the proof shows
  proof_verdict TEXT, proof_before REAL, proof_after REAL, proof_ratio REAL,
  proof_low REAL, proof_high REAL, proof_error_bound REAL, proof_pairs INTEGER,
  revert_check_verdict TEXT, revert_check_before REAL, revert_check_after REAL, revert_check_ratio REAL,
  revert_check_low REAL, revert_check_high REAL, revert_check_error_bound REAL, revert_check_pairs INTEGER,
  rebuilt_verdict TEXT, rebuilt_before REAL, rebuilt_after REAL, rebuilt_ratio REAL,
  rebuilt_low REAL, rebuilt_high REAL, rebuilt_error_bound REAL, rebuilt_pairs INTEGER,
  is_doubted INTEGER NOT NULL,                   -- 1 if both proofs show a change and yet builds differ too much by themselves
  PRIMARY KEY (bisection_id, finding, ordinal)
) STRICT, WITHOUT ROWID;

-- The nightlies' own builds compared once more, when the commits explain nothing. Columns as in `comparison`.
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
