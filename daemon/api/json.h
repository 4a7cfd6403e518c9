#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "daemon/builds/build_references.h"
#include "storage/domain/alarm.h"
#include "storage/domain/bisection.h"
#include "storage/domain/build.h"
#include "storage/domain/comparison.h"
#include "storage/domain/incident.h"
#include "storage/domain/job.h"
#include "storage/domain/kept_build.h"
#include "storage/domain/ruling.h"

/// The records as JSON, for whoever reads them outside of this program. What is not there is null,
/// never missing. Levels are in the metric's unit, which stands beside them; times are ISO 8601 in
/// UTC.
namespace torchwatch::api {

using Json = nlohmann::ordered_json;

/// One line. Text that is not UTF-8 is repaired, and numbers that are none are null.
std::string text_of(Json const& json);

/// {fleet, benchmark, metric, unit, name}.
Json json_of(Series const& series);

/// {headline, interval, verdict, before, after, ratio, low, high, error_bound, pairs}; the ratio
/// and its interval are null when the level before was zero.
Json json_of(Comparison const& comparison, Metric metric);

/// The series and its comparison in one object.
Json json_of(SeriesChange const& change);

Json json_of(SeriesPoint const& point);

/// Without the prefix: where a build lies on the host is nobody's business.
Json json_of(Nightly const& nightly);

/// {sha, subject, author, time, pull_request, url}. `project` is where the watched project's
/// commits are shown: "https://github.com/pytorch/pytorch"; empty: `url` is null.
Json json_of(Commit const& commit, std::string const& project);

Json json_of(BisectionRequest const& request);

/// {series, no_change, suspects, probability}; `suspects` are the first and the last of those in a
/// row.
Json json_of(SeriesBelief const& belief);

/// {wave, fleet, benchmark, commits, reason, done, readings, skipped, note, beliefs}; `readings`
/// are the levels of the commits, by metric.
Json json_of(BisectionStep const& step);

/// {series, reason, before, after, probability, proof, share, ...}. `finding`: its own.
Json json_of(Effect const& effect, Finding const& finding);

/// {headline, reason, kind, culprit, suspects, effects, ...}; `culprit` is null without a proof.
/// `bisection`: its own.
Json json_of(Finding const& finding, Bisection const& bisection, std::string const& project);

Json json_of(Bisection const& bisection, std::string const& project);

/// For a list: without steps, and without `reason`, which needs them; with the number of steps.
Json json_of(Bisection const& bisection, StepTally const& steps, std::string const& project);

Json json_of(Alarm const& alarm);

/// {name, url, bytes, made_at, used_at, pin}; `pin` is {who, why, given_at} or null.
Json json_of(KeptBuild const& build);

/// The same with its users in `in_use_by`.
Json json_of(builds::BuildWithUsers const& listed);

/// Of which series is null where it may be any.
Json json_of(Ruling const& ruling);

/// An incident with the two nightlies between which it began; without its bisections.
Json json_of(Incident const& incident, Nightly const& baseline, Nightly const& nightly);

Json json_of(OperatorCost const& cost);

/// {fleet, benchmark, operator, before, after}, each {calls, ms, bytes} an iteration.
Json json_of(OperatorChange const& change);

/// An incident with its bisections, what people decided about it, what its operators cost, and what
/// it was measured with and on.
Json json_of(IncidentStory const& story, std::string const& project);

/// Where the HTTP API shows a record.
std::string url_of(NightlyId id);
std::string url_of(IncidentId id);
std::string url_of(BisectionId id);
std::string url_of(RulingId id);
std::string url_of(AlarmId id);

}  // namespace torchwatch::api
