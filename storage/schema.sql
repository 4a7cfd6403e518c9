-- The database of torchwatch, with a comment for each table and column. storage/DESIGN.md has a picture of the tables, the
-- states, and when each part writes.
--
-- Times are seconds since 1970 in UTC. Commits are 40 hexadecimal digits. Benchmarks have TorchBench's names
-- ("test_train[dlrm-cpu-eager]"). A column with a closed set of words lists them. An unknown stored word is an error that
-- names the column.

PRAGMA application_id = 1415005250;  -- "TWDB"

-- Nightlies and their measurements ------------------------------------------------------------------------------------

-- A build that a feed announced. One row for each date and commit. For a published file: one row for each date, version
-- and edition, which is the contents of the file.
CREATE TABLE nightly (
  id INTEGER PRIMARY KEY,                        -- in the order announced
  date TEXT NOT NULL,                            -- "YYYY-MM-DD" of the feed; determines the order of nightlies
  version TEXT NOT NULL,                         -- PyTorch's version, for people
  commit_sha TEXT NOT NULL,                      -- trunk commit, or the nightly branch's if only that is known; empty until the file was fetched
  release_sha TEXT NOT NULL,                     -- commit of the nightly branch; empty if the feed has none
  prefix TEXT NOT NULL,                          -- directory of the build, "./..." if it is in that of this file; empty until it is built or fetched
  state TEXT NOT NULL,                           -- announced, prepared, swept, screened, confirmed, bisected, done, failed
  baseline_id INTEGER REFERENCES nightly(id),    -- the nightly it is compared with; series_baseline has the exceptions
  failure TEXT NOT NULL DEFAULT '',              -- why it failed
  announced_at INTEGER NOT NULL,                 -- when it was first seen
  file_url TEXT,                                 -- current address of its file; NULL if it has none
  file_sha256 TEXT NOT NULL DEFAULT '',          -- digest of its contents; empty before the download, unless the index page has it
  file_etag TEXT NOT NULL DEFAULT '',            -- the server's ETag of the file that was downloaded; empty until then
  file_last_modified TEXT NOT NULL DEFAULT '',   -- the server's Last-Modified of that file; empty until then
  file_bytes INTEGER NOT NULL DEFAULT 0,         -- size of that file; 0 until then
  file_aliases TEXT NOT NULL DEFAULT '',         -- other ETags of servers for the same contents, a line each
  release_date TEXT NOT NULL DEFAULT ''          -- "YYYY-MM-DD" of `release_sha` on the nightly branch; empty until the file was fetched, or if the branch lacks it
) STRICT;
CREATE INDEX nightly_by_date ON nightly (date);
CREATE UNIQUE INDEX nightly_of_commit ON nightly (date, commit_sha) WHERE file_url IS NULL;
CREATE UNIQUE INDEX nightly_of_file
ON nightly (date, version, file_sha256) WHERE file_url IS NOT NULL;

-- The Python interpreter whose wheels a feed uses. Chosen at the first look, and again after a week without wheels for it.
CREATE TABLE interpreter (
  feed TEXT PRIMARY KEY,                         -- address of its page
  python TEXT NOT NULL,                          -- Python tag, "cp313"; empty for archives, which have none
  abi TEXT NOT NULL                              -- ABI tag, "cp313", "cp313t"
) STRICT, WITHOUT ROWID;

-- A host as a runner reported it. Equal reports share one row, which is kept while a job or night refers to it.
CREATE TABLE fingerprint (
  id INTEGER PRIMARY KEY,
  json TEXT NOT NULL UNIQUE                      -- JSON object: host, CPU, threads, libraries
) STRICT;

-- One worker process.
CREATE TABLE job (
  id INTEGER PRIMARY KEY,                        -- in the order recorded
  campaign TEXT NOT NULL,                        -- its purpose: see storage/domain/campaign.h
  fleet TEXT NOT NULL,                           -- where it ran; only values of one fleet are compared
  benchmark TEXT NOT NULL,
  commit_sha TEXT NOT NULL,                      -- commit of the build it measured
  round INTEGER NOT NULL,                        -- repetition within the campaign, from 0
  error_code TEXT NOT NULL,                      -- failed, unsupported, crashed, timeout, memory, device, device_memory, protocol, launch, cache, lost; empty if it has values
  error TEXT NOT NULL,                           -- the error for people
  version TEXT NOT NULL,                         -- PyTorch's version that the worker reported
  fingerprint_id INTEGER NOT NULL REFERENCES fingerprint(id),  -- the host it ran on
  seconds REAL NOT NULL,                         -- wall-clock cost of the process
  finished_at INTEGER NOT NULL,
  accounts TEXT NOT NULL,                        -- JSON object, name to number: memory in bytes, shares of a GPU's time, TFLOPS
  profile TEXT NOT NULL,                         -- JSON array, one element for each operator: name, calls, ms, bytes; empty unless requested
  seed INTEGER NOT NULL,                         -- 32 bits that determine the random orders of its round
  place INTEGER NOT NULL,                        -- its place in the round, from 0 (runner/turn_order.h)
  slot INTEGER NOT NULL DEFAULT 0,               -- number of the fleet's slot that measured it, from 0
  UNIQUE (campaign, fleet, benchmark, commit_sha, round)
) STRICT;
CREATE INDEX job_by_series ON job (fleet, benchmark, finished_at);
CREATE INDEX job_by_fingerprint ON job (fingerprint_id);

-- One metric of a job with values.
CREATE TABLE result (
  job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
  metric TEXT NOT NULL,                          -- latency, cmem, gmem, leak, or the name of a row in `metric`
  value REAL NOT NULL,                           -- in the metric's unit
  samples TEXT NOT NULL,                         -- JSON array of numbers, one a run
  outliers TEXT NOT NULL,                        -- JSON array of places in `samples` far from the rest; they are still part of `value`
  PRIMARY KEY (job_id, metric)
) STRICT, WITHOUT ROWID;

-- A metric that a suite declares, or declared once. The four of the native suite have no row. Written when the service
-- starts.
CREATE TABLE metric (
  name TEXT PRIMARY KEY,
  unit TEXT NOT NULL,                            -- "ms", "bytes", "1/s"
  is_higher_better INTEGER NOT NULL,             -- 1 for throughputs; else lower values are better
  is_exact INTEGER NOT NULL,                     -- 1 if two processes of one build report the same value
  threshold REAL NOT NULL,                       -- smallest relative change that is reported; 0: decide.threshold
  floor REAL NOT NULL                            -- smaller changes never count, in the unit
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
  processes INTEGER NOT NULL,                    -- number of these processes
  verdict TEXT,                                  -- as in `comparison`; NULL if there was no baseline
  fingerprint_id INTEGER NOT NULL REFERENCES fingerprint(id),  -- the host with the highest id among theirs
  is_judged INTEGER NOT NULL DEFAULT 0,          -- 1 if it may be the series' baseline: it was decided, or had no baseline
  PRIMARY KEY (series_id, nightly_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX night_by_nightly ON night (nightly_id);
CREATE INDEX night_by_fingerprint ON night (fingerprint_id);

-- The figures of the Trust page from many nightlies. One row, written after `night` and the verdicts, because computing
-- the figures for each request would keep the HTTP thread busy.
CREATE TABLE trust_figures (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  noise TEXT NOT NULL,                           -- JSON array, one array for each series: fleet, benchmark, metric, nights; then level, between and within, if the last 30 nightlies show them
  hosts TEXT NOT NULL,                           -- JSON array, one object for each host: fleet, fingerprint (object), ratio, low, high, series, nights (last 30)
  aa_months TEXT NOT NULL,                       -- JSON array, one array for each month of nightlies: "2026-01", number of self-comparisons, number of those with a change
  costs TEXT NOT NULL,                           -- JSON array, one array for each verdict and number of pairs: both, and the number of such verdicts on the last 365 nightlies
  incident_months TEXT NOT NULL                  -- JSON array, one array for each month of nightlies: "2026-01", number of incidents; then number, median and maximum of the seconds to the culprit, and of those to the fix. Also written after incidents changed
) STRICT;

-- Verdicts -------------------------------------------------------------------------------------------------------------

-- The verdict on one series of a nightly, with its evidence.
CREATE TABLE comparison (
  nightly_id INTEGER NOT NULL REFERENCES nightly(id),
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  verdict TEXT NOT NULL,                         -- regression, improvement, unchanged, inconclusive
  before REAL NOT NULL,                          -- level of the baseline, measured side by side with the nightly
  after REAL NOT NULL,                           -- level of the nightly
  ratio REAL,                                    -- `after` divided by `before`; NULL if `before` is zero
  low REAL,                                      -- lower end of its interval
  high REAL,                                     -- upper end of its interval
  error_bound REAL NOT NULL,                     -- probability that the interval misses the true ratio
  pairs INTEGER NOT NULL,                        -- processes measured of each build
  muted INTEGER NOT NULL DEFAULT 0,              -- 1 if the series was muted when the verdict was recorded
  PRIMARY KEY (nightly_id, fleet, benchmark, metric)
) STRICT, WITHOUT ROWID;

-- The baseline of one series, if it differs from `nightly.baseline_id`: the last nightly that judged the series. Written
-- before the nightly is measured.
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

-- The anchor of a benchmark: the older nightly that this nightly is compared with. Written before it is measured.
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

-- A nightly with at least one regression that is not muted and belongs to no earlier incident. Its changes are those
-- regressions, and those of later nightlies that joined it (incident_series).
CREATE TABLE incident (
  id INTEGER PRIMARY KEY,                        -- in the order opened
  baseline_id INTEGER NOT NULL REFERENCES nightly(id),        -- the oldest baseline of its series; all changes lie between this nightly
  nightly_id INTEGER NOT NULL UNIQUE REFERENCES nightly(id),  -- and this one
  report_key TEXT NOT NULL DEFAULT '',           -- key by which the report is found again; written before it is published
  report TEXT NOT NULL DEFAULT '',               -- the issue's URL or the file's path, as "./..."; written after it is published
  opened_at INTEGER NOT NULL,                    -- when the first regression was confirmed
  edition_id INTEGER REFERENCES nightly(id),     -- the last later edition of the nightly's file that also has regressions; NULL if none
  correction TEXT NOT NULL DEFAULT '',           -- result of the last later edition, for people; empty without one
  is_correction_reported INTEGER NOT NULL DEFAULT 0, -- 1 once an event has the correction
  state TEXT NOT NULL DEFAULT 'open',            -- that of the last event: open, explained, fix_expected, fixed, partly_fixed, returned, accepted, false_alarm, stale
  joined_id INTEGER REFERENCES incident(id)      -- the earlier incident that has its series, because one commit caused both; then this one was never reported. Else NULL
) STRICT;
CREATE INDEX incident_by_edition ON incident (edition_id);

-- A regression that a later nightly confirmed and that belongs to an earlier incident.
CREATE TABLE incident_series (
  nightly_id INTEGER NOT NULL REFERENCES nightly(id),
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  incident_id INTEGER NOT NULL REFERENCES incident(id),
  is_return INTEGER NOT NULL,                    -- 1 if the incident had this series, and was fixed; 0 if the series is new to it
  PRIMARY KEY (nightly_id, fleet, benchmark, metric)
) STRICT, WITHOUT ROWID;
CREATE INDEX incident_series_by_incident ON incident_series (incident_id);

-- The last good build of a series of an incident compared with a later nightly. Columns as in `comparison`. The series is
-- back if the verdict is unchanged or improvement, until a later row of incident_series has it.
CREATE TABLE incident_recovery (
  incident_id INTEGER NOT NULL REFERENCES incident(id),
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
  PRIMARY KEY (incident_id, nightly_id, fleet, benchmark, metric)
) STRICT, WITHOUT ROWID;

-- A step in the life of an incident. Rows are only added, each in one transaction with the new state of the incident and
-- the messages about it.
CREATE TABLE incident_event (
  id INTEGER PRIMARY KEY,                        -- in the order stored
  incident_id INTEGER NOT NULL REFERENCES incident(id),
  kind TEXT NOT NULL,                            -- opened, explained, series_joined, fix_expected, fixed, partly_fixed, returned, ruled, stale, answered
  state TEXT NOT NULL,                           -- the state of the incident afterwards
  nightly_id INTEGER REFERENCES nightly(id),     -- the nightly that showed it; NULL if none did
  commit_sha TEXT NOT NULL,                      -- the commit that it is about; empty if none is known
  detail TEXT NOT NULL,                          -- for people
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX incident_event_by_incident ON incident_event (incident_id);

-- A message about an event or an alarm, or a reply to a comment, as it is sent. Messages of one incident, or of one alarm,
-- to one destination are sent in the order of their ids.
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY,                        -- in the order stored
  incident_id INTEGER REFERENCES incident(id),   -- NULL for a message about an alarm
  event_id INTEGER REFERENCES incident_event(id), -- NULL for a reply, and for a message about an alarm
  alarm_id INTEGER REFERENCES alarm(id),         -- NULL for a message about an incident
  destination TEXT NOT NULL,                     -- github, file, webhook, email, pull_request
  action TEXT NOT NULL,                          -- open_issue, edit_body, comment, close_completed, close_not_planned, reopen
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  marker TEXT NOT NULL,                          -- hidden line of the body by which the sent message is recognized
  labels TEXT NOT NULL,                          -- a line each
  sent_at INTEGER,                               -- when it was sent, written before that, or when a backup without its arrival was restored; NULL before, and when the destination replied that it did nothing
  done_at INTEGER,                               -- when it was sent or given up; NULL until then
  attempts INTEGER NOT NULL DEFAULT 0,           -- the failed ones
  next_at INTEGER,                               -- it is not sent before this time; NULL: at once
  rejected_at INTEGER,                           -- when the destination rejected it first; NULL: it did not
  failure TEXT NOT NULL DEFAULT '',              -- why the last attempt failed, or why it was given up; empty if it was sent
  place TEXT NOT NULL DEFAULT '',                -- address of what was made: of an issue, comment, file ("./...")
  body_digest TEXT NOT NULL DEFAULT '',          -- digest of the issue's body as it was afterwards; empty if the message did not write it
  CHECK ((incident_id IS NULL) <> (alarm_id IS NULL))
) STRICT;
CREATE INDEX outbox_by_incident ON outbox (incident_id, destination);
CREATE INDEX outbox_by_alarm ON outbox (alarm_id) WHERE alarm_id IS NOT NULL;
CREATE INDEX outbox_unfinished ON outbox (id) WHERE done_at IS NULL;

-- The last pause that GitHub requested. At most one row.
CREATE TABLE github_pause (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  ends_at INTEGER NOT NULL                       -- no request is sent before this time
) STRICT;

-- A comment on a report that is answered or was ignored. A row is written before anything is done, so that no comment is
-- carried out twice.
CREATE TABLE answered_comment (
  comment_id INTEGER PRIMARY KEY,                -- GitHub's id; of the closing of an issue: the id of its incident, negative
  incident_id INTEGER NOT NULL REFERENCES incident(id),
  command TEXT NOT NULL,                         -- its commands, a line each; empty: none is carried out
  who TEXT NOT NULL,                             -- GitHub name of its author
  at INTEGER NOT NULL,                           -- when it was first read
  reply TEXT                                     -- Markdown, written with its message in `outbox`; empty: no reply; NULL until its commands were carried out
) STRICT;
CREATE INDEX open_answer ON answered_comment (comment_id) WHERE reply IS NULL;

-- How far each list of GitHub was read.
CREATE TABLE github_list (
  name TEXT PRIMARY KEY,                         -- comments, closed_issues
  since INTEGER NOT NULL,                        -- all earlier changes were read
  etag TEXT NOT NULL,                            -- GitHub's ETag of the last answer for `since`; empty: there was none
  last_comment INTEGER NOT NULL                  -- highest id of a comment that was read
) STRICT, WITHOUT ROWID;

-- A decision of a user. Rows are only added; a later one overrides an earlier one.
CREATE TABLE ruling (
  id INTEGER PRIMARY KEY,                        -- in the order given
  kind TEXT NOT NULL,                            -- for incidents: accept, false_alarm; for series: accept, mute, unmute
  incident_id INTEGER REFERENCES incident(id),   -- NULL for a ruling on series
  fleet TEXT NOT NULL,                           -- the series; an empty fleet, benchmark or metric matches all
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  who TEXT NOT NULL,
  why TEXT NOT NULL,
  given_at INTEGER NOT NULL,
  until INTEGER                                  -- when a mute ends; NULL: only when it is unmuted
) STRICT;
CREATE INDEX ruling_by_incident ON ruling (incident_id);

-- A present or past problem of torchwatch itself. At most one alarm of a kind and subject is open.
CREATE TABLE alarm (
  id INTEGER PRIMARY KEY,                        -- in the order raised
  kind TEXT NOT NULL,                            -- one of AlarmKind (storage/domain/alarm.h)
  subject TEXT NOT NULL,                         -- a fleet, slot, benchmark or series of a fleet, or nightly; empty if the kind has no subject
  detail TEXT NOT NULL,                          -- for people
  raised_at INTEGER NOT NULL,
  cleared_at INTEGER                             -- NULL while it is open
) STRICT;
CREATE UNIQUE INDEX open_alarm ON alarm (kind, subject) WHERE cleared_at IS NULL;

-- The state of a slot that was compared with the others of its fleet. Written after a sweep.
CREATE TABLE slot_state (
  fleet TEXT NOT NULL,
  slot INTEGER NOT NULL,                         -- its number in the fleet, from 0
  use TEXT NOT NULL,                             -- in_use, quarantined
  since INTEGER NOT NULL,                        -- when its use began, or when it was first reviewed
  reason TEXT NOT NULL,                          -- why it is slow or noisy, for people; empty if it is neither
  benchmarks INTEGER NOT NULL,                   -- benchmarks by which it was compared on the last night
  level REAL,                                    -- its times by those of the fleet; NULL if not comparable
  noise REAL,                                    -- its noise by that of the fleet; NULL if not comparable
  PRIMARY KEY (fleet, slot)
) STRICT;

-- The last nightly that was measured and judged. One row, written when another nightly is seen to be judged, and at the first
-- look. The alarm `nothing_judged` compares it with the time.
CREATE TABLE last_judged (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  nightly_id INTEGER REFERENCES nightly(id),     -- NULL: none was judged yet
  at INTEGER NOT NULL                            -- when that was first seen
) STRICT;

-- The parts of the configuration that matter for the history, as of the last start. One row.
CREATE TABLE configuration (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  json TEXT NOT NULL                             -- JSON object: keys of the configuration, and the benchmarks of each fleet
) STRICT;

-- A key of the configuration that changed from one start to the next.
CREATE TABLE configuration_change (
  id INTEGER PRIMARY KEY,                        -- in the order seen
  key TEXT NOT NULL,                             -- "decide.threshold", "fleets"
  before TEXT NOT NULL,                          -- its value as JSON; empty: none
  after TEXT NOT NULL,
  effect TEXT NOT NULL,                          -- what it means for the history, for people
  at INTEGER NOT NULL                            -- when it was first used
) STRICT;

-- Builds ---------------------------------------------------------------------------------------------------------------

-- The recipes that ever built commits. Each is stored once.
CREATE TABLE recipe (
  id INTEGER PRIMARY KEY,
  contents TEXT NOT NULL,                        -- program: git's id of its text, then the tools it builds with, a line each; artifacts: their address
  kind TEXT NOT NULL,                            -- program, or artifacts (builds of another system)
  UNIQUE (kind, contents)
) STRICT;

-- The final result of building a commit by a recipe. A temporary failure leaves no row. The table has rowids because
-- integrity_check of SQLite 3.40 wrongly reports a NULL in a WITHOUT ROWID table whose key columns do not come first.
CREATE TABLE build (
  commit_sha TEXT NOT NULL,
  state TEXT NOT NULL,                           -- built, or unbuildable (permanent)
  prefix TEXT NOT NULL,                          -- directory of the build, if built: "./..." if it is in that of this file
  note TEXT NOT NULL,                            -- why it is unbuildable
  finished_at INTEGER NOT NULL,
  seconds REAL NOT NULL,                         -- wall-clock cost; 0: unknown
  is_incremental INTEGER NOT NULL,               -- 1 if built in a worktree where another commit was built before
  recipe_id INTEGER NOT NULL,                    -- the recipe that built or rejected it
  PRIMARY KEY (commit_sha, recipe_id)
) STRICT;

-- A build in `state_dir/builds`, as last seen there. The directories decide: a row without a directory is deleted, and a
-- directory without a row gets one.
CREATE TABLE kept_build (
  name TEXT PRIMARY KEY,                         -- name of its directory
  bytes INTEGER NOT NULL,                        -- size of its files when it was last used; holes of sparse files count
  made_at INTEGER NOT NULL,                      -- when it was first seen
  used_at INTEGER NOT NULL,                      -- when it was last measured, with a precision of an hour
  pinned_by TEXT NOT NULL DEFAULT '',            -- the user who pinned it; empty: not pinned
  pinned_why TEXT NOT NULL DEFAULT '',
  pinned_at INTEGER
) STRICT, WITHOUT ROWID;

-- A nightly whose removed build a user requested back. Deleted when the build is available, or will never be.
CREATE TABLE wanted_build (
  nightly_id INTEGER PRIMARY KEY REFERENCES nightly(id),
  who TEXT NOT NULL,                             -- who and why become the pin of the build
  why TEXT NOT NULL,
  asked_at INTEGER NOT NULL
) STRICT;

-- A step that failed for a temporary reason. Any process retries it at growing intervals, until a day after `since`. The
-- row is deleted when the step succeeds. It is kept for nightlies, bisections and their commits that were given up, and for
-- a day for builds that were given up. A host that can start no program makes no attempt. A version without a wheel for the
-- interpreter of the feed is retried in the same way, until `feed.python_wait_s` ends.
CREATE TABLE retry (
  subject TEXT PRIMARY KEY,                      -- "nightly", "bisection" or "commits of bisection" and its id, "build", commits and recipe, or "wheel" and a version
  since INTEGER NOT NULL,                        -- time of the first attempt
  tried_at INTEGER NOT NULL,                     -- time of the last attempt
  reason TEXT NOT NULL                           -- why the last attempt failed
) STRICT, WITHOUT ROWID;

-- Bisections -----------------------------------------------------------------------------------------------------------

-- A request to find the commits that changed some series, with its state and result.
CREATE TABLE bisection (
  id INTEGER PRIMARY KEY,                        -- in the order requested
  incident_id INTEGER REFERENCES incident(id),   -- the incident it explains; NULL for a user's request without an incident
  start_sha TEXT NOT NULL,                       -- last commit before the change
  end_sha TEXT NOT NULL,                         -- first commit known to be after it
  threshold REAL NOT NULL,                       -- smallest relative change that counts
  direction TEXT NOT NULL,                       -- increase, decrease, both
  state TEXT NOT NULL,                           -- queued, running, paused, done, failed, cancelled
  outcome TEXT,                                  -- culprit, range, environment, not_reproduced, layout, undecided; NULL before `done`
  failure TEXT NOT NULL DEFAULT '',              -- why it failed
  asked_at INTEGER NOT NULL,
  prior TEXT NOT NULL,                           -- weights of the commits before the first measurement: uniform (all alike), paths (less for commits that changed only files that benchmarks hardly use)
  recipe_id INTEGER NOT NULL DEFAULT 0,          -- the recipe that builds its commits; 0 before it builds any
  package_differences TEXT,                      -- differences of the published builds at its ends, without those of their commits, a line each; NULL if the bisection made these builds itself
  build_variation TEXT,                              -- JSON object, fleet to number: standard deviation of the logarithms of times between builds of one commit, when the bisection began
  base_sha TEXT,                                 -- newest commit that both ends have, if the end lacks commits of the start; else NULL, and before it begins
  missing_commits INTEGER NOT NULL DEFAULT 0,    -- number of commits that the end lacks: from the base to the start
  added_commits INTEGER NOT NULL DEFAULT 0,      -- number of commits from the base to the end; 0 unless the end lacks commits
  event_id INTEGER REFERENCES incident_event(id),  -- the event that reports its result; NULL until it ended and was reported
  outer_id INTEGER REFERENCES bisection(id),     -- the bisection whose culprit is the merge that this one searches; NULL if it searches no merge
  merge_sha TEXT,                                -- the merge
  merged_commits INTEGER NOT NULL DEFAULT 0      -- number of commits that the merge brought, without itself
) STRICT;
CREATE UNIQUE INDEX bisection_into_merge ON bisection (outer_id, merge_sha) WHERE outer_id IS NOT NULL;

-- A series that a bisection must explain.
CREATE TABLE bisection_series (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,                      -- in the order requested
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  PRIMARY KEY (bisection_id, ordinal)
) STRICT, WITHOUT ROWID;

-- A commit that a bisection may build, without its start. Stored so that readers need no clone of the repository.
CREATE TABLE bisection_commit (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,                      -- from the start to the end: oldest first, except commits from the start back to the base
  commit_sha TEXT NOT NULL,
  subject TEXT NOT NULL,
  author TEXT NOT NULL,
  time INTEGER NOT NULL,
  pull_request INTEGER,
  PRIMARY KEY (bisection_id, ordinal)
) STRICT, WITHOUT ROWID;

-- One round of a bisection, in which some commits are measured side by side. Written when it is planned, and again when it
-- is done.
CREATE TABLE bisection_step (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,                      -- in the order planned, from 0
  wave INTEGER NOT NULL,                         -- steps of one wave are measured at the same time
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  commits TEXT NOT NULL,                         -- JSON array, in ancestry order
  reason TEXT NOT NULL,                          -- why these commits, for people
  is_done INTEGER NOT NULL,                      -- 0 while it is only planned
  readings TEXT NOT NULL,                        -- JSON array, one element for each metric: metric, levels in the order of `commits`; empty if it failed
  skipped_sha TEXT,                              -- the commit that could not be built or measured; NULL if all could
  note TEXT NOT NULL,                            -- why it was skipped
  beliefs TEXT NOT NULL,                         -- JSON array, one element for each series, of the probabilities after its wave: fleet, benchmark, metric, no_change (probability), first, last (commits between which a change is most likely), probability (that it is there)
  stage TEXT NOT NULL,                           -- nightlies: published builds are measured; commits: builds of the recipe
  is_unbuilt INTEGER NOT NULL,                   -- 1 if the skipped commit has no build, 0 if its benchmark could not be measured
  PRIMARY KEY (bisection_id, ordinal)
) STRICT, WITHOUT ROWID;

-- One change that a bisection found.
CREATE TABLE bisection_finding (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  finding INTEGER NOT NULL,                      -- from 0
  no_revert_check TEXT NOT NULL,                 -- why its commit could not be reverted and measured; empty if it was
  is_gradual INTEGER NOT NULL,                   -- 1 if many of its suspects caused it, each a little
  reverted_by_sha TEXT,                          -- trunk commit that reverted its only suspect, as known at the end; NULL if none
  approvers TEXT NOT NULL,                       -- GitHub names of the users who approved its only suspect, a line each
  earlier_incident_id INTEGER REFERENCES incident(id),  -- newest earlier incident whose culprit has the title or pull request of its only suspect; NULL if none
  missing INTEGER NOT NULL,                      -- number of its suspects that the end lacks; they come first
  merged INTEGER NOT NULL,                       -- number of commits that its only suspect, a merge, brought, without itself; else 0
  PRIMARY KEY (bisection_id, finding)
) STRICT, WITHOUT ROWID;

-- A suspect of a finding. A single suspect is a culprit if it was proved; several suspects are a range that contains one.
CREATE TABLE bisection_suspect (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  finding INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,                      -- commits that the end lacks first, newest first; then oldest first
  commit_sha TEXT NOT NULL,
  subject TEXT NOT NULL,
  author TEXT NOT NULL,
  time INTEGER NOT NULL,
  pull_request INTEGER,
  PRIMARY KEY (bisection_id, finding, ordinal)
) STRICT, WITHOUT ROWID;

-- The change of one series that a finding explains. Each finding has at least one. The three groups of columns are
-- comparisons, NULL if they were not made: the commit against its parent (proof), the newest commit against itself with the
-- commit reverted (revert_check), the commit against its parent in another layout (rebuilt).
CREATE TABLE bisection_effect (
  bisection_id INTEGER NOT NULL REFERENCES bisection(id) ON DELETE CASCADE,
  finding INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,                      -- the largest effect first
  fleet TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  metric TEXT NOT NULL,
  before REAL NOT NULL,                          -- levels, as the bisection estimated them
  after REAL NOT NULL,
  probability REAL NOT NULL,                     -- probability that the finding is right for the series
  share REAL NOT NULL,                           -- part of the change between the ends that the proof shows
  proof_verdict TEXT, proof_before REAL, proof_after REAL, proof_ratio REAL,
  proof_low REAL, proof_high REAL, proof_error_bound REAL, proof_pairs INTEGER,
  revert_check_verdict TEXT, revert_check_before REAL, revert_check_after REAL, revert_check_ratio REAL,
  revert_check_low REAL, revert_check_high REAL, revert_check_error_bound REAL, revert_check_pairs INTEGER,
  rebuilt_verdict TEXT, rebuilt_before REAL, rebuilt_after REAL, rebuilt_ratio REAL,
  rebuilt_low REAL, rebuilt_high REAL, rebuilt_error_bound REAL, rebuilt_pairs INTEGER,
  is_doubted INTEGER NOT NULL,                   -- 1 if both proofs show a change, but it is within the variation of builds of one commit
  PRIMARY KEY (bisection_id, finding, ordinal)
) STRICT, WITHOUT ROWID;

-- The published builds of the nightlies compared again, when no commit explains the change. Columns as in `comparison`.
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
