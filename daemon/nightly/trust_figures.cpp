#include "daemon/nightly/trust_figures.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "bisect/compare/trust_statistics.h"
#include "storage/domain/trust_figures.h"

namespace torchwatch::nightly {
namespace {

using Json = nlohmann::ordered_json;

/// The most hosts in the table. More means that workers report a new fingerprint of each host every
/// time.
constexpr std::size_t most_hosts = 100;

/// Returns the host's part of a fingerprint, without the build's part, which changes with every
/// nightly.
std::string host_in(std::string const& fingerprint) {
  auto json = Json::parse(fingerprint, nullptr, false);
  if (!json.is_object()) json = Json::object();
  json.erase("libtorch");
  json.erase("libtorch_config");
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Numbers the hosts of a fleet. Equal fingerprints get the same number.
class Hosts {
 public:
  explicit Hosts(storage::Histories histories) : histories_{histories} {}

  std::int64_t number_of(std::string const& fleet, std::int64_t fingerprint) {
    auto const known = texts_.find(fingerprint);
    auto const& text = known != texts_.end() ? known->second : read(fingerprint);
    auto const next = static_cast<std::int64_t>(numbers_.size());
    return numbers_.try_emplace({fleet, text}, next).first->second;
  }

  /// Returns {fleet, text of its fingerprint}, by number.
  std::map<std::int64_t, std::pair<std::string, std::string>> all() const {
    std::map<std::int64_t, std::pair<std::string, std::string>> hosts;
    for (auto const& [host, number] : numbers_)
      hosts[number] = host;
    return hosts;
  }

 private:
  std::string const& read(std::int64_t fingerprint) {
    return texts_[fingerprint] = host_in(histories_.fingerprint(fingerprint));
  }

  storage::Histories histories_;
  std::map<std::int64_t, std::string> texts_;
  std::map<std::pair<std::string, std::string>, std::int64_t> numbers_;
};

std::vector<SeriesNoise> noise_of(std::vector<SeriesNights> const& recent) {
  std::vector<SeriesNoise> all;
  for (auto const& one : recent)
    all.push_back({one.series, one.nights.size(), bisect::noise_of(one.nights)});
  return all;
}

/// Returns the figures from times only: memory does not depend on a host's speed.
std::vector<HostFigures> hosts_of(storage::Histories histories, std::vector<SeriesNights> recent) {
  Hosts hosts{histories};
  std::erase_if(recent,
                [](SeriesNights const& one) { return one.series.metric != Metric::latency; });
  for (auto& one : recent)
    for (auto& night : one.nights)
      night.host = hosts.number_of(one.series.fleet, night.host);
  auto const paces = bisect::paces_of(recent);
  std::vector<HostFigures> figures;
  for (auto const& [number, host] : hosts.all()) {
    auto const at = paces.find(number);
    if (at != paces.end() && figures.size() < most_hosts)
      figures.push_back({host.first, host.second, at->second});
  }
  return figures;
}

/// Returns 0 without any. The median of an even number is the lower one of the two in the middle.
Durations durations_of(std::vector<std::int64_t> seconds) {
  if (seconds.empty()) return {};
  std::ranges::sort(seconds);
  return {
      static_cast<std::int64_t>(seconds.size()), seconds[(seconds.size() - 1) / 2], seconds.back()};
}

/// Returns the seconds from the opening of each incident to a later time, of those that have it.
Durations durations_to(std::vector<IncidentTimes> const& incidents,
                       std::optional<Timestamp> IncidentTimes::*end) {
  std::vector<std::int64_t> seconds;
  for (auto const& one : incidents)
    if (auto const& at = one.*end) seconds.push_back((*at - one.opened_at).count());
  return durations_of(std::move(seconds));
}

std::vector<IncidentMonth> incident_months_of(storage::Incidents const& incidents) {
  std::map<std::string, std::vector<IncidentTimes>> by_month;
  for (auto& one : incidents.times())
    by_month[one.month].push_back(std::move(one));
  std::vector<IncidentMonth> months;
  for (auto const& [month, times] : by_month)
    months.push_back({month,
                      static_cast<std::int64_t>(times.size()),
                      durations_to(times, &IncidentTimes::culprit_at),
                      durations_to(times, &IncidentTimes::fixed_at)});
  return months;
}

}  // namespace

void keep_incident_months(storage::Store& store) {
  auto const months = incident_months_of(store.incidents());
  if (months != store.trust().incident_months()) store.trust().keep_incident_months(months);
}

void keep_trust_figures(storage::Store& store) {
  auto recent = store.histories().recent(trust_nights);
  TrustFigures figures;
  figures.noise = noise_of(recent);
  figures.hosts = hosts_of(store.histories(), std::move(recent));
  figures.aa_months = store.incidents().aa_months();
  figures.costs = store.incidents().costs(costed_nights);
  figures.incident_months = incident_months_of(store.incidents());
  store.trust().keep(figures);
}

}  // namespace torchwatch::nightly
