#include "daemon/api/json.h"

#include <ranges>
#include <utility>

#include "daemon/api/time.h"
#include "storage/domain/words.h"

namespace torchwatch::api {
namespace {

Json null_if_empty(std::string const& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <class T>
Json null_if_none(std::optional<Id<T>> const& id) {
  return id ? Json(id->value) : Json(nullptr);
}

template <class T, class... More>
Json array_of(std::vector<T> const& records, More const&... more) {
  auto array = Json::array();
  for (auto const& record : records)
    array.push_back(json_of(record, more...));
  return array;
}

/// Parses JSON that is stored as text; null if it is invalid.
Json document(std::string const& text) {
  auto json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(nullptr) : json;
}

}  // namespace

std::string text_of(Json const& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string url_of(NightlyId id) {
  return "/api/v1/nightlies/" + std::to_string(id.value);
}

std::string url_of(IncidentId id) {
  return "/api/v1/incidents/" + std::to_string(id.value);
}

std::string url_of(BisectionId id) {
  return "/api/v1/bisections/" + std::to_string(id.value);
}

std::string url_of(RulingId id) {
  return "/api/v1/rulings/" + std::to_string(id.value);
}

std::string url_of(AlarmId id) {
  return "/api/v1/alarms/" + std::to_string(id.value);
}

Json json_of(Series const& series) {
  Json json;
  json["fleet"] = series.fleet;
  json["benchmark"] = name_of(series.benchmark);
  json["metric"] = to_string(series.metric);
  json["unit"] = unit_of(series.metric);
  json["better"] = words::better(series.metric);
  json["name"] = name_of(series);
  return json;
}

Json json_of(Comparison const& comparison, Metric metric) {
  auto const& ratio = comparison.ratio;
  Json json;
  json["better"] = words::better(metric);
  json["headline"] = words::change(metric, comparison);
  json["interval"] = null_if_empty(words::interval(ratio));
  json["certainty"] = null_if_empty(words::certainty(comparison));
  json["verdict"] = to_string(comparison.verdict);
  json["before"] = has_levels(comparison) ? Json(comparison.before) : Json(nullptr);
  json["after"] = has_levels(comparison) ? Json(comparison.after) : Json(nullptr);
  json["ratio"] = ratio ? Json(ratio->ratio) : Json(nullptr);
  json["low"] = ratio ? Json(ratio->low) : Json(nullptr);
  json["high"] = ratio ? Json(ratio->high) : Json(nullptr);
  json["error_bound"] = comparison.error_bound;
  json["pairs"] = comparison.pairs;
  return json;
}

Json json_of(SeriesChange const& change) {
  auto json = json_of(change.series);
  json.update(json_of(change.comparison, change.series.metric));
  json["muted"] = change.muted;
  return json;
}

Json json_of(SeriesPoint const& point) {
  Json json;
  json["commit"] = point.commit.hex;
  json["date"] = null_if_empty(point.date);
  json["campaign"] = point.campaign.name;
  json["value"] = point.value.value;
  json["samples"] = point.value.samples;
  json["outliers"] = point.value.outliers;
  json["measured_at"] = iso8601(point.measured_at);
  json["seed"] = point.seed;
  json["place"] = point.place;
  return json;
}

Json json_of(Nightly const& nightly) {
  Json json;
  json["id"] = nightly.id.value;
  json["url"] = url_of(nightly.id);
  json["date"] = nightly.date;
  json["version"] = null_if_empty(nightly.version);
  json["commit"] = null_if_empty(nightly.commit.hex);
  json["release_commit"] = null_if_empty(nightly.release_commit.hex);
  json["state"] = to_string(nightly.state);
  json["baseline"] = null_if_none(nightly.baseline);
  json["failure"] = null_if_empty(nightly.failure);
  json["announced_at"] = iso8601(nightly.announced_at);
  return json;
}

Json json_of(Commit const& commit, std::string const& project) {
  Json json;
  json["sha"] = commit.sha.hex;
  json["subject"] = commit.subject;
  json["author"] = commit.author;
  json["time"] = iso8601(commit.time);
  json["pull_request"] = commit.pull_request ? Json(*commit.pull_request) : Json(nullptr);
  json["url"] = project.empty() ? Json(nullptr) : Json(project + "/commit/" + commit.sha.hex);
  return json;
}

Json json_of(BisectionRequest const& request) {
  Json json;
  json["start"] = request.start.hex;
  json["end"] = request.end.hex;
  json["series"] = array_of(request.series);
  json["threshold"] = request.threshold;
  json["direction"] = to_string(request.direction);
  json["prior"] = to_string(request.prior);
  return json;
}

Json json_of(SeriesBelief const& belief) {
  Json json;
  json["series"] = json_of(belief.series);
  json["no_change"] = belief.no_change;
  json["suspects"] = Json::array({belief.first.hex, belief.last.hex});
  json["probability"] = belief.probability;
  return json;
}

Json json_of(BisectionStep const& step) {
  Json json;
  json["wave"] = step.wave;
  json["stage"] = to_string(step.stage);
  json["fleet"] = step.fleet;
  json["benchmark"] = name_of(step.benchmark);
  json["commits"] = Json::array();
  for (auto const& commit : step.commits)
    json["commits"].push_back(commit.hex);
  json["reason"] = step.reason;
  json["done"] = step.is_done;
  json["readings"] = Json::object();
  for (auto const& [metric, levels] : step.readings)
    json["readings"][metric.name()] = levels;
  json["units"] = Json::object();
  for (auto const& [metric, levels] : step.readings)
    json["units"][metric.name()] = unit_of(metric);
  json["skipped"] = step.skipped ? Json(step.skipped->hex) : Json(nullptr);
  json["note"] = step.note;
  json["beliefs"] = array_of(step.beliefs);
  return json;
}

Json json_of(Effect const& effect, Finding const& finding) {
  auto const metric = effect.series.metric;
  Json json;
  json["series"] = json_of(effect.series);
  json["reason"] = words::evidence(effect, finding);
  json["before"] = effect.before;
  json["after"] = effect.after;
  json["probability"] = effect.probability;
  json["proof"] = effect.proof ? json_of(*effect.proof, metric) : Json(nullptr);
  json["share"] = effect.share;
  json["revert_check"] =
      effect.revert_check ? json_of(*effect.revert_check, metric) : Json(nullptr);
  json["rebuilt"] = effect.rebuilt ? json_of(*effect.rebuilt, metric) : Json(nullptr);
  json["is_doubted"] = effect.is_doubted;
  return json;
}

namespace {

Json brief_of(EarlierIncident const& earlier) {
  Json json;
  json["id"] = earlier.id.value;
  json["url"] = url_of(earlier.id);
  json["date"] = earlier.date;
  json["report"] = null_if_empty(earlier.report);
  return json;
}

}  // namespace

Json json_of(Finding const& finding, Bisection const& bisection, std::string const& project) {
  auto const [headline, reason, quote] = words::summary(finding, bisection);
  Json json;
  json["headline"] = headline;
  json["reason"] = reason;
  json["kind"] = to_string(kind_of(finding));
  json["culprit"] =
      is_culprit(finding) ? json_of(finding.suspects.front(), project) : Json(nullptr);
  json["suspects"] = array_of(finding.suspects, project);
  json["effects"] = array_of(finding.effects, finding);
  json["no_revert_check"] = null_if_empty(finding.no_revert_check);
  json["reverted_by"] = finding.reverted_by ? Json(finding.reverted_by->hex) : Json(nullptr);
  json["earlier_incident"] = finding.earlier ? brief_of(*finding.earlier) : Json(nullptr);
  json["approvers"] = finding.approvers;
  json["missing"] = finding.missing;
  json["merged"] = finding.merged;
  json["searched_by"] = null_if_none(finding.searched_by);
  return json;
}

namespace {

Json ancestry_of(Bisection const& bisection) {
  if (!bisection.ancestry) return nullptr;
  auto const& [base, missing, added] = *bisection.ancestry;
  Json json;
  json["base"] = base.hex;
  json["missing"] = missing;
  json["added"] = added;
  return json;
}

Json searched_merge_of(Bisection const& bisection) {
  if (!bisection.inside) return nullptr;
  auto const& [outer, merge, merged] = *bisection.inside;
  Json json;
  json["bisection"] = outer.value;
  json["merge"] = merge.hex;
  json["merged"] = merged;
  return json;
}

Json packages_of(Bisection const& bisection) {
  if (!bisection.packages) return nullptr;
  auto const& packages = *bisection.packages;
  auto const introduction = words::package_differences(bisection);
  Json json;
  json["headline"] = null_if_empty(introduction.headline);
  json["reason"] = null_if_empty(introduction.reason);
  json["differences"] = packages.differences;
  json["changes"] = array_of(packages.changes);
  return json;
}

Json without_steps(Bisection const& bisection, std::string const& project) {
  Json json;
  json["id"] = bisection.id.value;
  json["url"] = url_of(bisection.id);
  json["incident"] = null_if_none(bisection.incident);
  json["state"] = to_string(bisection.state);
  json["outcome"] = bisection.outcome ? Json(to_string(*bisection.outcome)) : Json(nullptr);
  json["headline"] = words::summary(bisection).headline;
  json["request"] = json_of(bisection.request);
  json["ancestry"] = ancestry_of(bisection);
  json["inside"] = searched_merge_of(bisection);
  json["recipe"] = bisection.recipe.value > 0 ? Json(bisection.recipe.value) : Json(nullptr);
  json["findings"] = array_of(bisection.findings, bisection, project);
  json["packages"] = packages_of(bisection);
  json["failure"] = null_if_empty(bisection.failure);
  json["asked_at"] = iso8601(bisection.asked_at);
  return json;
}

}  // namespace

Json json_of(Bisection const& bisection, std::string const& project) {
  auto json = without_steps(bisection, project);
  json["reason"] = null_if_empty(words::full_reason(words::summary(bisection)));
  json["steps"] = array_of(bisection.steps);
  return json;
}

Json json_of(Bisection const& bisection, StepTally const& steps, std::string const& project) {
  auto json = without_steps(bisection, project);
  json["steps_planned"] = steps.planned;
  json["steps_done"] = steps.done;
  return json;
}

Json json_of(KeptBuild const& build) {
  Json json;
  json["name"] = build.name;
  json["url"] = "/api/v1/builds/" + build.name;
  json["bytes"] = build.bytes;
  json["made_at"] = iso8601(build.made_at);
  json["used_at"] = iso8601(build.used_at);
  json["pin"] = nullptr;
  if (build.pin)
    json["pin"] = {{"who", build.pin->who},
                   {"why", build.pin->why},
                   {"given_at", iso8601(build.pin->given_at)}};
  return json;
}

Json json_of(builds::BuildWithUsers const& listed) {
  auto json = json_of(listed.build);
  json["in_use_by"] = listed.users;
  return json;
}

Json json_of(Alarm const& alarm) {
  Json json;
  json["id"] = alarm.id.value;
  json["url"] = url_of(alarm.id);
  json["kind"] = to_string(alarm.kind);
  json["subject"] = null_if_empty(alarm.subject);
  json["detail"] = alarm.detail;
  json["raised_at"] = iso8601(alarm.raised_at);
  json["cleared_at"] = alarm.cleared_at ? Json(iso8601(*alarm.cleared_at)) : Json(nullptr);
  return json;
}

Json json_of(SlotState const& slot) {
  Json json;
  json["fleet"] = slot.fleet;
  json["slot"] = slot.slot;
  json["use"] = to_string(slot.use);
  json["since"] = iso8601(slot.since);
  json["reason"] = null_if_empty(slot.reason);
  json["benchmarks"] = slot.benchmarks;
  json["level"] = slot.level ? Json(*slot.level) : Json(nullptr);
  json["noise"] = slot.noise ? Json(*slot.noise) : Json(nullptr);
  return json;
}

Json json_of(Ruling const& ruling) {
  auto const& [fleet, benchmark, metric] = ruling.series;
  Json json;
  json["id"] = ruling.id.value;
  json["url"] = url_of(ruling.id);
  json["kind"] = to_string(ruling.kind);
  json["incident"] = null_if_none(ruling.incident);
  json["fleet"] = null_if_empty(fleet);
  json["benchmark"] = benchmark ? Json(name_of(*benchmark)) : Json(nullptr);
  json["metric"] = metric ? Json(to_string(*metric)) : Json(nullptr);
  json["who"] = ruling.who;
  json["why"] = ruling.why;
  json["given_at"] = iso8601(ruling.given_at);
  json["until"] = ruling.until ? Json(iso8601(*ruling.until)) : Json(nullptr);
  return json;
}

Json json_of(Incident const& incident, Nightly const& baseline, Nightly const& nightly) {
  Json json;
  json["id"] = incident.id.value;
  json["url"] = url_of(incident.id);
  json["state"] = to_string(incident.state);
  json["opened_at"] = iso8601(incident.opened_at);
  json["report"] = null_if_empty(incident.report);
  json["correction"] = null_if_empty(incident.correction);
  json["baseline"] = json_of(baseline);
  json["nightly"] = json_of(nightly);
  auto const changes = worst_first(incident.changes);
  json["headline"] = words::headline(changes);
  json["changes"] = array_of(changes);
  return json;
}

Json culprit_of(std::vector<Bisection> const& bisections, std::string const& project) {
  for (auto const& bisection : std::ranges::reverse_view(bisections))
    for (auto const& finding : bisection.findings)
      if (is_to_blame(finding)) return json_of(finding.suspects.front(), project);
  return nullptr;
}

Json json_of(OperatorCost const& cost) {
  return {{"calls", cost.calls}, {"ms", cost.ms}, {"bytes", cost.bytes}};
}

Json json_of(OperatorChange const& change) {
  Json json;
  json["fleet"] = change.fleet;
  json["benchmark"] = name_of(change.benchmark);
  json["operator"] = change.before.name;
  json["before"] = json_of(change.before);
  json["after"] = json_of(change.after);
  return json;
}

Json json_of(IncidentStory const& story, std::string const& project) {
  auto json = json_of(story.incident, story.baseline, story.nightly);
  json["culprit"] = culprit_of(story.bisections, project);
  json["bisections"] = array_of(story.bisections, project);
  json["rulings"] = array_of(story.rulings);
  json["operators"] = array_of(story.operators);
  json["baseline_pytorch"] = null_if_empty(story.baseline_pytorch);
  json["nightly_pytorch"] = null_if_empty(story.nightly_pytorch);
  json["fingerprint"] = document(story.fingerprint);
  return json;
}

}  // namespace torchwatch::api
