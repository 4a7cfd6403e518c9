#pragma once

#include <string>
#include <vector>

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
#include "storage/domain/slot.h"

/// The records as JSON, for clients of the API. Fields are never missing; fields without a value
/// are null. Levels are in the unit of the metric, which the field `unit` names. Times are ISO 8601
/// in UTC.
namespace torchwatch::api {

using Json = nlohmann::ordered_json;

/// Returns JSON in one line. Invalid UTF-8 becomes U+FFFD, and NaN becomes null.
std::string text_of(Json const& json);

/// {fleet, benchmark, metric, unit, better, name}. `better` is "lower" or "higher".
Json json_of(Series const& series);

/// {better, headline, interval, certainty, verdict, before, after, ratio, low, high, error_bound,
/// pairs}. The ratio and its interval are null if the level before is zero.
Json json_of(Comparison const& comparison, Metric metric);

/// The fields of a series and of its comparison in one object, and `muted`.
Json json_of(SeriesChange const& change);

Json json_of(SeriesPoint const& point);

/// A nightly without the prefix of its build, so that no paths of the host are published.
Json json_of(Nightly const& nightly);

/// {sha, subject, author, time, pull_request, url}. `project` is the web address of the watched
/// project, such as "https://github.com/pytorch/pytorch". If it is empty, `url` is null.
Json json_of(Commit const& commit, std::string const& project);

Json json_of(BisectionRequest const& request);

/// {series, no_change, suspects, probability}. `suspects` are the first and the last commit of the
/// range of suspects.
Json json_of(SeriesBelief const& belief);

/// {wave, stage, fleet, benchmark, commits, reason, done, readings, units, skipped, note, beliefs}.
/// `readings` are the levels of the commits, by metric. `units` are those of the same metrics.
Json json_of(BisectionStep const& step);

/// {series, reason, before, after, probability, proof, share, ...}. `finding` contains the effect.
Json json_of(Effect const& effect, Finding const& finding);

/// {headline, reason, kind, culprit, suspects, effects, ...}. `culprit` is null without a proof.
/// `bisection` contains the finding.
Json json_of(Finding const& finding, Bisection const& bisection, std::string const& project);

Json json_of(Bisection const& bisection, std::string const& project);

/// A bisection in a list: with the number of steps instead of the steps, and without `reason`,
/// which needs them.
Json json_of(Bisection const& bisection, StepTally const& steps, std::string const& project);

Json json_of(Alarm const& alarm);
Json json_of(SlotState const& slot);

/// {name, url, bytes, made_at, used_at, pin}. `pin` is {who, why, given_at} or null.
Json json_of(KeptBuild const& build);

/// A build, with its users in `in_use_by`.
Json json_of(builds::BuildWithUsers const& listed);

/// A ruling. `fleet`, `benchmark` and `metric` are null if any value matches.
Json json_of(Ruling const& ruling);

/// An incident with its state, its baseline and its nightly, without its bisections and `culprit`.
Json json_of(Incident const& incident, Nightly const& baseline, Nightly const& nightly);

/// The commit that the newest bisection with a proof found. Null without one. `bisections`: those
/// of an incident, in the order requested.
Json culprit_of(std::vector<Bisection> const& bisections, std::string const& project);

Json json_of(OperatorCost const& cost);

/// {fleet, benchmark, operator, before, after}. `before` and `after` are {calls, ms, bytes} per
/// iteration.
Json json_of(OperatorChange const& change);

/// An incident with its culprit, its bisections, its rulings, the cost of its operators, the
/// versions of PyTorch that were measured, and the fingerprint of the host.
Json json_of(IncidentStory const& story, std::string const& project);

/// Returns the path of a record in the API.
std::string url_of(NightlyId id);
std::string url_of(IncidentId id);
std::string url_of(BisectionId id);
std::string url_of(RulingId id);
std::string url_of(AlarmId id);

}  // namespace torchwatch::api
