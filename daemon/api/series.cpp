#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bisect/compare/change_point.h"
#include "daemon/api/handlers.h"
#include "daemon/api/json.h"
#include "daemon/api/pages.h"
#include "storage/base/number.h"
#include "storage/domain/words.h"

namespace torchwatch::api {
namespace {

using http::FieldError;
using http::HttpResponse;

/// Returns the series that a query names. Returns nothing and adds errors if it names none.
std::optional<Series> named_series(Query const& query, std::vector<FieldError>& errors) {
  auto const given = [&](char const* name) {
    auto const at = query.find(name);
    if (at == query.end())
      errors.push_back({name, "found nothing, allowed fleet, benchmark and metric together"});
    return at == query.end() ? std::string{} : at->second;
  };
  auto const fleet = given("fleet");
  auto const benchmark_name = given("benchmark");
  auto const metric_name = given("metric");
  if (!errors.empty()) return std::nullopt;
  auto const benchmark = parse_benchmark(benchmark_name);
  auto const metric = parse_metric(metric_name);
  if (!benchmark)
    errors.push_back(
        {"benchmark",
         "found \"" + benchmark_name + "\", allowed a name like \"test_train[dlrm-cpu-eager]\""});
  if (!metric)
    errors.push_back({"metric", "found \"" + metric_name + "\", allowed " + words::metric_names()});
  if (!errors.empty()) return std::nullopt;
  return Series{fleet, *benchmark, *metric};
}

/// Returns "worse" or "better" for a change of `series` in the direction of `difference`.
std::string_view effect_of(Series const& series, double difference) {
  bool const is_better = (difference > 0) == series.metric.kind().is_higher_better;
  return is_better ? "better" : "worse";
}

HttpResponse no_value_of(Series const& series) {
  return http::problem(404,
                       "series " + name_of(series) + " on fleet \"" + series.fleet +
                           "\": found no values; /api/v1/series lists all series");
}

/// Returns the nightly that a query names; nothing if it names none. Adds an error if its id is not
/// a number.
std::optional<NightlyId> named_nightly(Query const& query, std::vector<FieldError>& errors) {
  auto const at = query.find("nightly");
  if (at == query.end()) return std::nullopt;
  auto const id = parse_number<std::int64_t>(at->second);
  if (id) return NightlyId{*id};
  errors.push_back({"nightly", "found \"" + at->second + "\", allowed the id of a nightly"});
  return std::nullopt;
}

HttpResponse list_points(View const& view, Call const& call) {
  std::vector<FieldError> errors;
  auto const series = named_series(call.query, errors);
  auto const nightly = named_nightly(call.query, errors);
  if (call.query.contains("recent"))
    errors.push_back(
        {"recent", "found together with fleet, benchmark or metric, allowed only without them"});
  if (!errors.empty()) return bad_query(errors);
  auto points = view.store.jobs().history(*series);
  if (nightly) {
    auto const wanted = Campaign::of(*nightly);
    std::erase_if(points, [&](SeriesPoint const& point) { return point.campaign != wanted; });
  }
  if (points.empty()) return no_value_of(*series);
  std::ranges::reverse(points);
  return paged(call, points, [](SeriesPoint const& point) { return json_of(point); });
}

Json in_brief(NightOfSeries const& night) {
  return {{"id", night.nightly.value}, {"date", night.date}, {"commit", night.commit.hex}};
}

/// Returns one column: `show` of each nightly summary, in their order.
template <class Show>
Json column(std::vector<NightOfSeries> const& nights, Show show) {
  auto values = Json::array();
  for (auto const& night : nights)
    values.push_back(show(night));
  return values;
}

Json verdict_of(NightOfSeries const& night) {
  return night.verdict ? Json(to_string(*night.verdict)) : Json(nullptr);
}

/// Returns the fingerprints of the hosts, by number.
Json hosts_of(storage::Histories const& histories, std::vector<NightOfSeries> const& nights) {
  std::set<std::int64_t> hosts;
  for (auto const& night : nights)
    hosts.insert(night.host);
  auto json = Json::object();
  for (auto const host : hosts)
    json[std::to_string(host)] = Json::parse(histories.fingerprint(host), nullptr, false);
  return json;
}

/// Returns the incident that has the series among those with regressions of the nightly; null
/// without one.
Json incident_of(View const& view, Series const& series, NightlyId nightly) {
  for (auto const& incident : view.store.incidents().all_of_nightly(nightly))
    if (std::ranges::count(incident.changes, series, &SeriesChange::series) > 0)
      return {{"nightly", nightly.value}, {"id", incident.id.value}};
  return nullptr;
}

/// Returns {nightly, id} of the incident of each regression of a series.
Json incidents_of(View const& view,
                  Series const& series,
                  std::vector<NightOfSeries> const& nights) {
  auto json = Json::array();
  for (auto const& night : nights) {
    if (night.verdict != Verdict::regression) continue;
    auto incident = incident_of(view, series, night.nightly);
    if (!incident.is_null()) json.push_back(std::move(incident));
  }
  return json;
}

/// Returns the anchor of the newest nightly; null without one.
Json anchor_of(View const& view, Series const& series, std::vector<NightOfSeries> const& nights) {
  auto const anchor =
      view.store.anchors().chosen({series.fleet, series.benchmark}, nights.back().nightly);
  return anchor ? Json(anchor->value) : Json(nullptr);
}

Json columns_of(std::vector<NightOfSeries> const& nights) {
  Json json;
  json["nightly"] = column(nights, [](auto const& night) { return night.nightly.value; });
  json["date"] = column(nights, [](auto const& night) { return night.date; });
  json["commit"] = column(nights, [](auto const& night) { return short_of(night.commit); });
  json["level"] = column(nights, [](auto const& night) { return night.level; });
  json["low"] = column(nights, [](auto const& night) { return night.low; });
  json["high"] = column(nights, [](auto const& night) { return night.high; });
  json["processes"] = column(nights, [](auto const& night) { return night.processes; });
  json["verdict"] = column(nights, verdict_of);
  json["host"] = column(nights, [](auto const& night) { return night.host; });
  return json;
}

/// Returns CSV (RFC 4180): a line of names, then one line per nightly. No value needs quotes.
std::string csv_of(std::vector<NightOfSeries> const& nights) {
  std::string text = "nightly,date,commit,level,low,high,processes,verdict,host\r\n";
  for (auto const& night : nights)
    text += fmt::format("{},{},{},{},{},{},{},{},{}\r\n",
                        night.nightly.value,
                        night.date,
                        night.commit.hex,
                        night.level,
                        night.low,
                        night.high,
                        night.processes,
                        night.verdict ? to_string(*night.verdict) : "",
                        night.host);
  return text;
}

/// Rounds to five digits, which are enough for a chart.
double rounded(double level) {
  return std::strtod(fmt::format("{:.5g}", level).c_str(), nullptr);
}

Json newest_of(NightOfSeries const& night) {
  auto json = in_brief(night);
  json["level"] = night.level;
  json["low"] = night.low;
  json["high"] = night.high;
  json["verdict"] = verdict_of(night);
  return json;
}

/// Returns {nightly, date, verdict, ratio, ...}; null for a series that never changed.
Json change_of(View const& view,
               std::map<Series, NightlyVerdict> const& changes,
               Series const& series) {
  auto const at = changes.find(series);
  if (at == changes.end()) return nullptr;
  auto json = json_of(at->second.change.comparison, series.metric);
  json["nightly"] = at->second.nightly.value;
  json["date"] = view.store.nightlies().find(at->second.nightly).value().date;
  return json;
}

HttpResponse list_recent(View const& view, Call const& call) {
  constexpr int most = 100;
  auto const& text = call.query.at("recent");
  auto const count = parse_number<int>(text);
  if (!count || *count < 1 || *count > most)
    return bad_query({{"recent", "found \"" + text + "\", allowed a whole number from 1 to 100"}});
  std::map<Series, NightlyVerdict> changes;
  for (auto& change : view.store.incidents().last_changes())
    changes.emplace(change.change.series, change);
  auto const show = [&](Series const& series) {
    auto const nights = view.store.histories().newest(series, *count);
    auto json = json_of(series);
    json["levels"] = column(nights, [](auto const& night) { return rounded(night.level); });
    json["newest"] = nights.empty() ? Json(nullptr) : newest_of(nights.back());
    json["change"] = change_of(view, changes, series);
    return json;
  };
  return paged(call, view.store.histories().series(), show);
}

}  // namespace

HttpResponse list_series(View const& view, Call const& call) {
  for (auto const* name : {"fleet", "benchmark", "metric"})
    if (call.query.contains(name)) return list_points(view, call);
  if (call.query.contains("nightly"))
    return bad_query(
        {{"nightly", "found without a series, allowed together with fleet, benchmark and metric"}});
  if (call.query.contains("recent")) return list_recent(view, call);
  return paged(
      call, view.store.histories().series(), [](Series const& series) { return json_of(series); });
}

HttpResponse show_history(View const& view, Call const& call) {
  std::vector<FieldError> errors;
  auto const series = named_series(call.query, errors);
  auto const format = format_of(call.query, {"json", "csv"}, errors);
  if (!errors.empty()) return bad_query(errors);
  auto const histories = view.store.histories();
  auto const nights = histories.of(*series);
  if (nights.empty()) return no_value_of(*series);
  if (format == "csv") return text("text/csv; charset=utf-8; header=present", csv_of(nights));
  auto json = json_of(*series);
  json["nights"] = columns_of(nights);
  json["hosts"] = hosts_of(histories, nights);
  json["incidents"] = incidents_of(view, *series, nights);
  json["anchor"] = anchor_of(view, *series, nights);
  return ok(json);
}

HttpResponse show_change_points(View const& view, Call const& call) {
  std::vector<FieldError> errors;
  auto const series = named_series(call.query, errors);
  if (!series) return bad_query(errors);
  auto const levels = view.store.histories().of(*series);
  if (levels.empty()) return no_value_of(*series);
  std::vector<double> history;
  for (auto const& night : levels)
    history.push_back(night.level);
  // The level of a leak can be zero, and then there is no ratio.
  bool const by_ratio = std::ranges::all_of(history, [](double value) { return value > 0; });
  if (by_ratio)
    for (auto& value : history)
      value = std::log(value);
  auto const in_unit = [by_ratio](double change) {
    return by_ratio ? std::exp(change) : change;
  };

  auto json = json_of(*series);
  json["nightlies"] = levels.size();
  json["error"] = bisect::change_point_error;
  json["change_points"] = Json::array();
  for (auto const& point : bisect::change_points(history)) {
    Json entry;
    entry["nightly"] = in_brief(levels[point.at]);
    entry["earliest"] = in_brief(levels[point.earliest]);
    entry["latest"] = in_brief(levels[point.latest]);
    entry["effect"] = effect_of(*series, point.change);
    entry["by"] = by_ratio ? "ratio" : "difference";
    entry["change"] = in_unit(point.change);
    entry["low"] = in_unit(point.low);
    entry["high"] = in_unit(point.high);
    json["change_points"].push_back(std::move(entry));
  }
  return ok(json);
}

}  // namespace torchwatch::api
