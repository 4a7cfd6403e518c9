#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <boost/math/distributions/binomial.hpp>

#include "daemon/api/handlers.h"
#include "daemon/api/json.h"
#include "daemon/api/pages.h"

namespace torchwatch::api {
namespace {

/// Number of nightlies whose self-comparisons are listed one by one. They are read for each
/// response: per nightly, one row for each self-compared benchmark.
constexpr int listed_nights = 90;

/// {of, false_alarms, share, low, high}: the number of false ones among `of`, their share, and its
/// 95% interval (Clopper and Pearson 1934). The last three are null if `of` is 0.
Json share_of(std::int64_t false_alarms, std::int64_t of) {
  using Binomial = boost::math::binomial_distribution<double>;
  constexpr double one_side = 0.025;
  auto const trials = static_cast<double>(of);
  auto const seen = static_cast<double>(false_alarms);
  bool const is_known = of > 0;
  Json json;
  json["of"] = of;
  json["false_alarms"] = false_alarms;
  json["share"] = is_known ? Json(seen / trials) : Json(nullptr);
  json["low"] =
      is_known ? Json(Binomial::find_lower_bound_on_p(trials, seen, one_side)) : Json(nullptr);
  json["high"] =
      is_known ? Json(Binomial::find_upper_bound_on_p(trials, seen, one_side)) : Json(nullptr);
  return json;
}

AaTally total_of(std::vector<AaMonth> const& months) {
  AaTally total;
  for (auto const& [month, tally] : months) {
    total.comparisons += tally.comparisons;
    total.alarms += tally.alarms;
  }
  return total;
}

Json months_of(std::vector<AaMonth> const& months) {
  auto json = Json::array();
  for (auto const& [month, tally] : months) {
    Json entry{{"month", month}};
    entry.update(share_of(tally.alarms, tally.comparisons));
    json.push_back(std::move(entry));
  }
  return json;
}

Json newest_of(View const& view) {
  auto json = Json::array();
  std::map<NightlyId, std::string> dates;
  for (auto const& [nightly, change] : view.store.incidents().newest_aa(listed_nights)) {
    auto& date = dates[nightly];
    if (date.empty()) date = view.store.nightlies().find(nightly).value().date;
    Json entry{{"nightly", nightly.value}, {"date", date}};
    entry.update(json_of(change));
    json.push_back(std::move(entry));
  }
  return json;
}

Json self_comparisons_of(View const& view) {
  Json json;
  json["months"] = months_of(view.store.trust().aa_months());
  json["nights"] = listed_nights;
  json["newest"] = newest_of(view);
  return json;
}

/// Returns the rulings by month, with the share of incidents that were false alarms. Reads one row
/// per incident for each response, so that a new ruling is shown at once.
Json rulings_of(View const& view) {
  auto json = Json::array();
  for (auto const& month : view.store.rulings().by_month()) {
    Json entry{
        {"month", month.month}, {"incidents", month.incidents}, {"accepted", month.accepted}};
    entry.update(share_of(month.false_alarms, month.incidents));
    json.push_back(std::move(entry));
  }
  return json;
}

/// {count, median_s, most_s}. The last two are null if `count` is 0.
Json json_of_durations(Durations const& durations) {
  bool const is_known = durations.count > 0;
  Json json;
  json["count"] = durations.count;
  json["median_s"] = is_known ? Json(durations.median_s) : Json(nullptr);
  json["most_s"] = is_known ? Json(durations.most_s) : Json(nullptr);
  return json;
}

Json incident_months_of(View const& view) {
  auto json = Json::array();
  for (auto const& [month, incidents, to_culprit, to_fix] : view.store.trust().incident_months())
    json.push_back({{"month", month},
                    {"incidents", incidents},
                    {"to_culprit", json_of_durations(to_culprit)},
                    {"to_fix", json_of_durations(to_fix)}});
  return json;
}

Json costs_of(View const& view) {
  auto json = Json::array();
  for (auto const& [verdict, pairs, verdicts] : view.store.trust().costs())
    json.push_back({{"verdict", to_string(verdict)}, {"pairs", pairs}, {"verdicts", verdicts}});
  return {{"nights", costed_nights}, {"items", std::move(json)}};
}

Json hosts_of(View const& view) {
  auto json = Json::array();
  for (auto const& [fleet, fingerprint, pace] : view.store.trust().hosts()) {
    Json entry{{"fleet", fleet}, {"fingerprint", Json::parse(fingerprint)}};
    entry["ratio"] = pace.ratio;
    entry["low"] = pace.low;
    entry["high"] = pace.high;
    entry["series"] = pace.series;
    entry["levels"] = pace.nights;
    json.push_back(std::move(entry));
  }
  return {{"nights", trust_nights}, {"items", std::move(json)}};
}

Json noise_json(SeriesNoise const& one) {
  auto const& noise = one.noise;
  auto json = json_of(one.series);
  json["nights"] = one.nights;
  json["level"] = noise ? Json(noise->level) : Json(nullptr);
  json["between"] = noise ? Json(noise->between) : Json(nullptr);
  json["within"] = noise ? Json(noise->within) : Json(nullptr);
  return json;
}

}  // namespace

http::HttpResponse show_precision(View const& view, Call const&) {
  auto const aa = total_of(view.store.trust().aa_months());
  auto const incidents = view.store.incidents().count();
  Json json;
  json["stated"]["false_discovery"] = view.decide.false_discovery;
  json["stated"]["error"] = view.decide.error;
  json["builds_against_themselves"] = share_of(aa.alarms, aa.comparisons);
  json["incidents"] = share_of(view.store.rulings().count_false_incidents(), incidents);
  return ok(json);
}

http::HttpResponse show_trust(View const& view, Call const&) {
  Json json;
  json["threshold"] = view.decide.threshold;
  json["self_comparisons"] = self_comparisons_of(view);
  json["rulings"] = rulings_of(view);
  json["incidents"] = incident_months_of(view);
  json["verdicts"] = costs_of(view);
  json["hosts"] = hosts_of(view);
  return ok(json);
}

http::HttpResponse list_noise(View const& view, Call const& call) {
  return paged(call, view.store.trust().noise(), noise_json);
}

}  // namespace torchwatch::api
