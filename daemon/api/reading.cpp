#include "daemon/api/reading.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <boost/math/distributions/binomial.hpp>

#include "daemon/api/json.h"
#include "daemon/api/time.h"
#include "github/url.h"

namespace torchwatch::api {
namespace {

using net::FieldError;
using net::HttpResponse;

constexpr std::size_t most_a_page = 500;

HttpResponse ok(Json const& json) {
  HttpResponse response;
  response.headers["content-type"] = "application/json";
  response.headers["cache-control"] = "no-store";
  response.body = text_of(json) + "\n";
  return response;
}

HttpResponse not_found(Call const& call) {
  return net::problem(404, "nothing has the id \"" + call.id + "\"");
}

template <class Number>
std::optional<Number> parse_number(std::string const& text) {
  Number number{};
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// A record by the id in the path; nothing when the id is no number or nobody's.
template <class Id, class Table>
auto find_called(Table table, Call const& call) -> decltype(table.find(Id{})) {
  auto const number = parse_number<std::int64_t>(call.id);
  if (!number) return std::nullopt;
  return table.find(Id{*number});
}

/// Which part of a list is asked for.
struct Page {
  std::size_t limit = 100;
  std::size_t offset = 0;
};

Page page_of(Query const& query, std::vector<FieldError>& errors) {
  Page page;
  auto const read =
      [&](char const* name, std::size_t& value, std::size_t lowest, std::size_t most) {
        auto const given = query.find(name);
        if (given == query.end()) return;
        auto const number = parse_number<std::size_t>(given->second);
        if (number && *number >= lowest && *number <= most) {
          value = *number;
          return;
        }
        errors.push_back({name,
                          "found \"" + given->second + "\", allowed a whole number from " +
                              std::to_string(lowest) + " to " + std::to_string(most)});
      };
  read("limit", page.limit, 1, most_a_page);
  read("offset", page.offset, 0, 1'000'000'000);
  return page;
}

std::string link_to_next(Call const& call, Page const& page) {
  auto link = "<" + call.path + "?";
  for (auto const& [name, value] : call.query)
    if (name != "limit" && name != "offset")
      link += name + "=" + github::percent_encode(value) + "&";
  return link + "limit=" + std::to_string(page.limit) +
         "&offset=" + std::to_string(page.offset + page.limit) + ">; rel=\"next\"";
}

HttpResponse bad_query(std::vector<FieldError> const& errors) {
  return net::problem(400, "the query cannot be understood", errors);
}

/// {total, limit, offset, items}: one page of `records`, each as `show` has it.
template <class Record, class Show>
HttpResponse paged(Call const& call, std::vector<Record> const& records, Show show) {
  std::vector<FieldError> errors;
  auto const page = page_of(call.query, errors);
  if (!errors.empty()) return bad_query(errors);
  Json json;
  json["total"] = records.size();
  json["limit"] = page.limit;
  json["offset"] = page.offset;
  json["items"] = Json::array();
  auto const begin = std::min(page.offset, records.size());
  auto const end = std::min(page.offset + page.limit, records.size());
  for (auto at = begin; at < end; ++at)
    json["items"].push_back(show(records[at]));
  auto response = ok(json);
  if (end < records.size()) response.headers["link"] = link_to_next(call, page);
  return response;
}

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

HttpResponse list_points(View const& view, Call const& call) {
  std::vector<FieldError> errors;
  auto const series = named_series(call.query, errors);
  if (!series) return bad_query(errors);
  auto points = view.store.jobs().history(*series);
  if (points.empty())
    return net::problem(404,
                        "no value of " + name_of(*series) + " on fleet \"" + series->fleet + "\"");
  std::reverse(points.begin(), points.end());
  return paged(call, points, [](SeriesPoint const& point) { return json_of(point); });
}

/// {of, false_alarms, share, low, high}: how many of `of`, and between what the true share lies.
/// The share is null while there is nothing to take it of.
Json share_of(std::int64_t false_alarms, std::int64_t of) {
  using Binomial = boost::math::binomial_distribution<double>;
  constexpr double one_side = 0.025;
  auto const trials = static_cast<double>(of);
  auto const seen = static_cast<double>(false_alarms);
  bool const any = of > 0;
  Json json;
  json["of"] = of;
  json["false_alarms"] = false_alarms;
  json["share"] = any ? Json(seen / trials) : Json(nullptr);
  json["low"] = any ? Json(Binomial::find_lower_bound_on_p(trials, seen, one_side)) : Json(nullptr);
  json["high"] =
      any ? Json(Binomial::find_upper_bound_on_p(trials, seen, one_side)) : Json(nullptr);
  return json;
}

Json in_brief(Nightly const& nightly) {
  Json json;
  json["id"] = nightly.id.value;
  json["date"] = nightly.date;
  json["state"] = to_string(nightly.state);
  json["announced_at"] = iso8601(nightly.announced_at);
  return json;
}

}  // namespace

HttpResponse health(View const& view, Call const&) {
  try {
    auto const nightlies = view.store.nightlies().all();
    Json json;
    json["status"] = "ok";
    json["version"] = view.version;
    json["started_at"] = iso8601(view.started_at);
    json["last_nightly"] = nightlies.empty() ? Json(nullptr) : in_brief(nightlies.back());
    return ok(json);
  } catch (std::exception const& problem) {
    return net::problem(503, std::string{"the store cannot be read: "} + problem.what());
  }
}

HttpResponse list_nightlies(View const& view, Call const& call) {
  auto nightlies = view.store.nightlies().all();
  std::reverse(nightlies.begin(), nightlies.end());
  return paged(call, nightlies, [](Nightly const& nightly) { return json_of(nightly); });
}

HttpResponse show_nightly(View const& view, Call const& call) {
  auto const nightly = find_called<NightlyId>(view.store.nightlies(), call);
  if (!nightly) return not_found(call);
  auto json = json_of(*nightly);
  json["verdicts"] = Json::array();
  for (auto const& change : view.store.incidents().verdicts(nightly->id))
    json["verdicts"].push_back(json_of(change));
  json["anchored"] = Json::array();
  for (auto const& change : view.store.anchors().verdicts(nightly->id)) {
    auto const anchor =
        view.store.anchors().chosen({change.series.fleet, change.series.benchmark}, nightly->id);
    auto entry = json_of(change);
    entry["anchor"] = anchor ? Json(anchor->value) : Json(nullptr);
    json["anchored"].push_back(std::move(entry));
  }
  auto const incident = view.store.incidents().of_nightly(nightly->id);
  json["incident"] = nullptr;
  if (incident) json["incident"] = {{"id", incident->id.value}, {"url", url_of(incident->id)}};
  return ok(json);
}

HttpResponse list_series(View const& view, Call const& call) {
  for (auto const* name : {"fleet", "benchmark", "metric"})
    if (call.query.contains(name)) return list_points(view, call);
  return paged(
      call, view.store.jobs().series(), [](Series const& series) { return json_of(series); });
}

HttpResponse list_incidents(View const& view, Call const& call) {
  auto const show = [&view](Incident const& incident) {
    auto nightlies = view.store.nightlies();
    return json_of(incident,
                   nightlies.find(incident.baseline).value(),
                   nightlies.find(incident.nightly).value());
  };
  return paged(call, view.store.incidents().all(), show);
}

HttpResponse show_incident(View const& view, Call const& call) {
  auto const incident = find_called<IncidentId>(view.store.incidents(), call);
  if (!incident) return not_found(call);
  return ok(json_of(story_of(view.store, *incident), view.project));
}

HttpResponse list_bisections(View const& view, Call const& call) {
  auto const show = [&view](Bisection const& bisection) {
    return json_of(bisection, view.project);
  };
  return paged(call, view.store.bisections().all(), show);
}

HttpResponse show_bisection(View const& view, Call const& call) {
  auto const bisection = find_called<BisectionId>(view.store.bisections(), call);
  if (!bisection) return not_found(call);
  return ok(json_of(*bisection, view.project));
}

HttpResponse show_precision(View const& view, Call const&) {
  auto const aa = view.store.incidents().aa_tally();
  auto const incidents = static_cast<std::int64_t>(view.store.incidents().all().size());
  Json json;
  json["stated"]["false_discovery"] = view.decide.false_discovery;
  json["stated"]["error"] = view.decide.error;
  json["builds_against_themselves"] = share_of(aa.alarms, aa.comparisons);
  json["incidents"] = share_of(view.store.rulings().count_false_incidents(), incidents);
  return ok(json);
}

HttpResponse list_alarms(View const& view, Call const& call) {
  return paged(call, view.store.alarms().all(), [](Alarm const& alarm) { return json_of(alarm); });
}

HttpResponse show_alarm(View const& view, Call const& call) {
  auto const alarm = find_called<AlarmId>(view.store.alarms(), call);
  if (!alarm) return not_found(call);
  return ok(json_of(*alarm));
}

HttpResponse list_rulings(View const& view, Call const& call) {
  return paged(
      call, view.store.rulings().all(), [](Ruling const& ruling) { return json_of(ruling); });
}

HttpResponse show_ruling(View const& view, Call const& call) {
  auto const ruling = find_called<RulingId>(view.store.rulings(), call);
  if (!ruling) return not_found(call);
  return ok(json_of(*ruling));
}

}  // namespace torchwatch::api
