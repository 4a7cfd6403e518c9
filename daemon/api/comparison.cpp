#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bisect/compare/suite_ratios.h"
#include "daemon/api/body.h"
#include "daemon/api/handlers.h"
#include "daemon/api/json.h"
#include "daemon/api/pages.h"
#include "runner/catalogue/catalogue.h"
#include "storage/base/number.h"
#include "storage/domain/words.h"

namespace torchwatch::api {
namespace {

using bisect::ModelTest;
using http::FieldError;

/// The fleets, devices and backends of the series.
struct Places {
  std::set<std::string> fleets;
  std::set<std::string> devices;
  std::set<std::string> backends;
};

Places places_in(std::vector<Series> const& all) {
  Places places;
  for (auto const& series : all) {
    places.fleets.insert(series.fleet);
    places.devices.emplace(to_string(series.benchmark.device));
    places.backends.insert(series.benchmark.backend);
  }
  return places;
}

/// Selects the series of a side. An empty field matches any value.
struct Filter {
  std::string fleet;
  std::string device;
  std::string backend;

  bool admits(Series const& series) const {
    return (fleet.empty() || series.fleet == fleet) &&
           (device.empty() || to_string(series.benchmark.device) == device) &&
           (backend.empty() || series.benchmark.backend == backend);
  }
};

/// One side that a query requests.
struct SideQuery {
  std::optional<Nightly> nightly;
  Filter filter;
};

std::string given(Query const& query, std::string const& name) {
  auto const at = query.find(name);
  return at == query.end() ? std::string{} : at->second;
}

std::string listed(std::set<std::string> const& words) {
  std::string text;
  for (auto const& word : words)
    text += (text.empty() ? "" : ", ") + in_quotes(word);
  return text.empty() ? "none, since there are no measurements yet" : text;
}

/// Reads two sides from a query, and collects its errors.
class SidesQuery {
 public:
  SidesQuery(storage::Store& store, Query const& query)
      : query_{query},
        measured_{store.histories().nightlies()},
        nightlies_{store.nightlies().all()},
        places_{places_in(store.histories().series())} {}

  /// Returns the sides before and after.
  std::pair<SideQuery, SideQuery> read() {
    SideQuery before{nightly("before"), filter("before", "after")};
    SideQuery after{nightly("after"), filter("after", "before")};
    if (!query_.contains("after")) after.nightly = newest_judged(nullptr);
    if (!query_.contains("before") && after.nightly)
      before.nightly = newest_judged(&*after.nightly);
    return {std::move(before), std::move(after)};
  }

  std::vector<FieldError> const& errors() const { return errors_; }

 private:
  std::optional<Nightly> nightly(char const* name) {
    if (!query_.contains(name)) return std::nullopt;
    auto const text = given(query_, name);
    auto const id = parse_number<std::int64_t>(text);
    for (auto const& one : nightlies_)
      if (id && one.id.value == *id && was_measured(one)) return one;
    errors_.push_back({name,
                       "found " + in_quotes(text) +
                           ", allowed the id of a nightly that was measured (/api/v1/sides)"});
    return std::nullopt;
  }

  bool was_measured(Nightly const& nightly) const {
    return std::ranges::find(measured_, nightly.id) != measured_.end();
  }

  /// Returns the newest judged nightly; if `later` is not null, the newest before it.
  std::optional<Nightly> newest_judged(Nightly const* later) const {
    auto const end = later == nullptr ? nightlies_.end()
                                      : std::ranges::find(nightlies_, later->id, &Nightly::id);
    for (auto at = end; at != nightlies_.begin();)
      if (--at; is_judged(*at) && was_measured(*at)) return *at;
    return std::nullopt;
  }

  /// Returns the value of a filter for `side`, or else for the other side.
  std::string word(std::string const& name,
                   std::string const& side,
                   std::string const& other,
                   std::set<std::string> const& allowed) {
    auto const field = side + "_" + name;
    auto text = given(query_, field);
    if (!query_.contains(field)) return given(query_, other + "_" + name);
    if (!allowed.contains(text))
      errors_.push_back({field, "found " + in_quotes(text) + ", allowed " + listed(allowed)});
    return text;
  }

  Filter filter(std::string const& side, std::string const& other) {
    return {word("fleet", side, other, places_.fleets),
            word("device", side, other, places_.devices),
            word("backend", side, other, places_.backends)};
  }

  Query const& query_;
  std::vector<NightlyId> measured_;
  std::vector<Nightly> nightlies_;  // oldest first
  Places places_;
  std::vector<FieldError> errors_;
};

std::vector<LevelOfSeries> levels_of(storage::Store& store, SideQuery const& side) {
  if (!side.nightly) return {};
  auto levels = store.histories().levels_of(side.nightly->id);
  std::erase_if(levels,
                [&](LevelOfSeries const& level) { return !side.filter.admits(level.series); });
  return levels;
}

std::string_view domain_of(std::string const& model) {
  auto const* const entry = suite::find_entry(model);
  return entry == nullptr ? "" : entry->domain;
}

Json word_or_null(std::string_view word) {
  return word.empty() ? Json(nullptr) : Json(word);
}

/// Returns the only word; null if there are several.
Json only_one(std::set<std::string> const& words) {
  return words.size() == 1 ? Json(*words.begin()) : Json(nullptr);
}

Json json_of_side(SideQuery const& side, std::vector<LevelOfSeries> const& levels) {
  if (!side.nightly) return nullptr;
  std::vector<Series> all;
  for (auto const& level : levels)
    all.push_back(level.series);
  auto const places = places_in(all);
  Json json;
  json["nightly"] = {{"id", side.nightly->id.value},
                     {"date", side.nightly->date},
                     {"version", side.nightly->version},
                     {"commit", word_or_null(side.nightly->commit.hex)}};
  json["fleet"] = only_one(places.fleets);
  json["device"] = only_one(places.devices);
  json["backend"] = only_one(places.backends);
  json["series"] = levels.size();
  return json;
}

/// {test, fleet, device, backend}.
Json place_of(ModelTest const& key) {
  return {{"test", to_string(key.test)},
          {"fleet", word_or_null(key.fleet)},
          {"device", key.device ? Json(to_string(*key.device)) : Json(nullptr)},
          {"backend", word_or_null(key.backend)}};
}

/// {model, domain, test, fleet, device, backend}.
Json entry_of(ModelTest const& key) {
  Json json{{"model", key.model}, {"domain", word_or_null(domain_of(key.model))}};
  json.update(place_of(key));
  return json;
}

Json level_or_null(std::map<Metric, double> const& levels, Metric metric) {
  auto const at = levels.find(metric);
  return at == levels.end() ? Json(nullptr) : Json(at->second);
}

/// Returns {before, after, ratio} by metric, for the metrics that at least one side has.
Json metrics_of(std::map<Metric, double> const& before,
                std::map<Metric, double> const& after,
                std::map<Metric, double> const& ratios) {
  auto json = Json::object();
  for (auto const metric : all_metrics()) {
    if (!before.contains(metric) && !after.contains(metric)) continue;
    json[std::string{to_string(metric)}] = {{"before", level_or_null(before, metric)},
                                            {"after", level_or_null(after, metric)},
                                            {"ratio", level_or_null(ratios, metric)}};
  }
  return json;
}

Json rows_of(bisect::SidesComparison const& comparison, bisect::Sides const& sides) {
  auto json = Json::array();
  for (auto const& [key, ratios] : comparison.rows) {
    auto row = entry_of(key);
    row["metrics"] = metrics_of(sides.first.at(key), sides.second.at(key), ratios);
    json.push_back(std::move(row));
  }
  return json;
}

Json means_of(std::vector<bisect::MeanRatio> const& means) {
  auto json = Json::array();
  for (auto const& mean : means) {
    Json entry{{"domain", word_or_null(mean.domain)}};
    entry.update(place_of(mean.of));
    entry["metric"] = to_string(mean.metric);
    entry["ratio"] = mean.ratio;
    entry["benchmarks"] = mean.benchmarks;
    json.push_back(std::move(entry));
  }
  return json;
}

Json list_of(std::vector<ModelTest> const& keys) {
  auto json = Json::array();
  for (auto const& key : keys)
    json.push_back(entry_of(key));
  return json;
}

/// The GPU time shares of a benchmark, and the date of the profiled nightly.
struct Profiled {
  storage::GpuShares shares;
  std::string date;
};

/// Returns the last nightly with a profile of the suite, not later than `nightly`.
std::optional<Nightly> profiled_by(storage::Store& store, Nightly const& nightly) {
  for (auto const id : store.jobs().profiled_nightlies()) {
    auto profiled = store.nightlies().find(id);
    if (profiled && profiled->date <= nightly.date) return profiled;
  }
  return std::nullopt;
}

/// Returns the profiles that incidents took of a nightly. For other benchmarks, returns those of
/// the suite's last profile.
std::map<FleetBenchmark, Profiled> profiles_of(storage::Store& store, Nightly const& nightly) {
  std::map<FleetBenchmark, Profiled> all;
  for (auto const& shares : store.jobs().gpu_shares(nightly.commit))
    all[shares.which] = {shares, nightly.date};
  auto const last = profiled_by(store, nightly);
  if (!last) return all;
  for (auto const& shares : store.jobs().gpu_shares(Campaign::suite_profile(last->id)))
    all.try_emplace(shares.which, Profiled{shares, last->date});
  return all;
}

/// Returns the shares of GPU time of an iteration, for each profiled benchmark of a side.
Json gpu_of(storage::Store& store, SideQuery const& side) {
  auto json = Json::array();
  if (!side.nightly) return json;
  for (auto const& [which, profiled] : profiles_of(store, *side.nightly)) {
    auto const& [shares, date] = profiled;
    Series const series{which.fleet, which.benchmark, Metric::latency};
    if (!side.filter.admits(series)) continue;
    json.push_back({{"date", date},
                    {"fleet", series.fleet},
                    {"benchmark", name_of(series.benchmark)},
                    {"model", series.benchmark.model},
                    {"test", to_string(series.benchmark.test)},
                    {"domain", word_or_null(domain_of(series.benchmark.model))},
                    {"active", shares.active},
                    {"data_movement", shares.data_movement},
                    {"idle", shares.idle}});
  }
  return json;
}

/// Returns {metric, unit, better} of each metric, in their order.
template <class Metrics>
Json kinds_of(Metrics const& metrics) {
  auto json = Json::array();
  for (auto const metric : metrics)
    json.push_back({{"metric", to_string(metric)},
                    {"unit", unit_of(metric)},
                    {"better", words::better(metric)}});
  return json;
}

}  // namespace

http::HttpResponse show_comparison(View const& view, Call const& call) {
  SidesQuery query{view.store, call.query};
  auto const [before, after] = query.read();
  if (!query.errors().empty()) return bad_query(query.errors());
  auto const before_levels = levels_of(view.store, before);
  auto const after_levels = levels_of(view.store, after);
  auto const sides = bisect::sides_of(before_levels, after_levels);
  auto const comparison = bisect::compare_sides(sides.first, sides.second, domain_of);
  Json json;
  json["before"] = json_of_side(before, before_levels);
  json["after"] = json_of_side(after, after_levels);
  json["metrics"] = kinds_of(all_metrics());
  json["rows"] = rows_of(comparison, sides);
  json["means"] = means_of(comparison.means);
  json["only_before"] = list_of(comparison.only_first);
  json["only_after"] = list_of(comparison.only_second);
  json["gpu"] = {{"before", gpu_of(view.store, before)}, {"after", gpu_of(view.store, after)}};
  return ok(json);
}

http::HttpResponse show_sides(View const& view, Call const&) {
  auto measured = view.store.histories().nightlies();
  std::ranges::reverse(measured);
  std::map<NightlyId, std::string> dates;
  for (auto const& nightly : view.store.nightlies().all())
    dates[nightly.id] = nightly.date;
  auto const all = view.store.histories().series();
  auto const places = places_in(all);
  std::set<Metric> metrics;
  for (auto const& series : all)
    metrics.insert(series.metric);
  auto ids = Json::array();
  auto days = Json::array();
  for (auto const nightly : measured) {
    ids.push_back(nightly.value);
    days.push_back(dates.at(nightly));
  }
  Json json;
  json["nightlies"] = {{"id", std::move(ids)}, {"date", std::move(days)}};
  json["fleets"] = places.fleets;
  json["devices"] = places.devices;
  json["backends"] = places.backends;
  json["metrics"] = kinds_of(metrics);
  return ok(json);
}

}  // namespace torchwatch::api
