#include <algorithm>
#include <cmath>
#include <utility>

#include "bisect/change_point.h"
#include "bisect/median.h"
#include "daemon/api/json.h"
#include "daemon/api/pages.h"
#include "daemon/api/reading.h"

namespace torchwatch::api {
namespace {

using net::FieldError;
using net::HttpResponse;

/// The series that a query names; nothing, and what is wrong, when it names none.
std::optional<Series> named_series(Query const& query, std::vector<FieldError>& errors) {
  auto const given = [&](char const* name) {
    auto const at = query.find(name);
    if (at == query.end()) errors.push_back({name, "found nothing, allowed with the other two"});
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
    errors.push_back(
        {"metric", "found \"" + metric_name + R"(", allowed "latency", "cmem", "gmem", "leak")"});
  if (!errors.empty()) return std::nullopt;
  return Series{fleet, *benchmark, *metric};
}

HttpResponse no_value_of(Series const& series) {
  return net::problem(404, "no value of " + name_of(series) + " on fleet \"" + series.fleet + "\"");
}

HttpResponse list_points(View const& view, Call const& call) {
  std::vector<FieldError> errors;
  auto const series = named_series(call.query, errors);
  if (!series) return bad_query(errors);
  auto points = view.store.jobs().history(*series);
  if (points.empty()) return no_value_of(*series);
  std::ranges::reverse(points);
  return paged(call, points, [](SeriesPoint const& point) { return json_of(point); });
}

Json in_brief(NightlyLevel const& level) {
  return {{"id", level.nightly.value}, {"date", level.date}, {"commit", level.commit.hex}};
}

}  // namespace

HttpResponse list_series(View const& view, Call const& call) {
  for (auto const* name : {"fleet", "benchmark", "metric"})
    if (call.query.contains(name)) return list_points(view, call);
  return paged(
      call, view.store.jobs().series(), [](Series const& series) { return json_of(series); });
}

HttpResponse show_change_points(View const& view, Call const& call) {
  std::vector<FieldError> errors;
  auto const series = named_series(call.query, errors);
  if (!series) return bad_query(errors);
  auto const levels = view.store.jobs().nightly_levels(*series);
  if (levels.empty()) return no_value_of(*series);
  std::vector<double> history;
  for (auto const& level : levels)
    history.push_back(bisect::median(level.values));
  // A leak may be zero, and then there are no ratios.
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
    entry["by"] = by_ratio ? "ratio" : "difference";
    entry["change"] = in_unit(point.change);
    entry["low"] = in_unit(point.low);
    entry["high"] = in_unit(point.high);
    json["change_points"].push_back(std::move(entry));
  }
  return ok(json);
}

}  // namespace torchwatch::api
