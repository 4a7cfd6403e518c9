#include <map>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/text_serializer.h>

#include "daemon/api/handlers.h"
#include "daemon/metrics/families.h"
#include "daemon/metrics/process.h"
#include "storage/domain/words.h"

namespace torchwatch::api {
namespace {

using metrics::counter;
using metrics::gauge;
using metrics::Value;
using Families = std::vector<prometheus::MetricFamily>;

double seconds_of(Timestamp time) {
  return static_cast<double>(time.time_since_epoch().count());
}

/// Returns a value for each word, 0 if it is not in `counts`, so that every time series exists from
/// the start.
template <class Word, class Count>
std::vector<Value> by_word(std::string const& label,
                           std::vector<Word> const& words,
                           std::map<Word, Count> const& counts) {
  std::vector<Value> values;
  for (auto const word : words) {
    auto const found = counts.find(word);
    double const count = found == counts.end() ? 0 : static_cast<double>(found->second);
    values.push_back({count, {{label, std::string{to_string(word)}}}});
  }
  return values;
}

std::vector<Value> at_times(std::string const& what, std::optional<Timestamp> time) {
  if (!time) return {};
  return {{seconds_of(*time), {{"which", what}}}};
}

/// Returns no value before a nightly was judged.
std::vector<Value> last_judged_in(storage::Tallies const& tallies) {
  if (!tallies.last_judged) return {};
  return {{seconds_of(*tallies.last_judged)}};
}

void add_incident_states(Families& all, storage::Tallies const& tallies) {
  using enum IncidentState;
  all.push_back(gauge("torchwatch_incidents",
                      "Incidents by state.",
                      by_word<IncidentState>("state",
                                             {open,
                                              explained,
                                              fix_expected,
                                              fixed,
                                              partly_fixed,
                                              returned,
                                              accepted,
                                              false_alarm,
                                              stale},
                                             tallies.incident_states)));
}

void add_nightlies(Families& all, storage::Tallies const& tallies) {
  using enum NightlyState;
  all.push_back(gauge("torchwatch_nightlies",
                      "Nightlies by state.",
                      by_word<NightlyState>(
                          "state",
                          {announced, prepared, swept, screened, confirmed, bisected, done, failed},
                          tallies.nightlies)));
  auto times = at_times("announced", tallies.newest_announced);
  for (auto& judged : at_times("judged", tallies.newest_judged))
    times.push_back(std::move(judged));
  all.push_back(
      gauge("torchwatch_newest_nightly_timestamp_seconds",
            "Time at which the newest nightly, and the newest judged one, was first seen.",
            std::move(times)));
  all.push_back(gauge("torchwatch_last_judged_timestamp_seconds",
                      "Time at which a nightly was last seen to be measured and judged.",
                      last_judged_in(tallies)));
  all.push_back(counter("torchwatch_incidents_total",
                        "Incidents: nightlies with a regression that no mute covers.",
                        {{static_cast<double>(tallies.incidents)}}));
  add_incident_states(all, tallies);
}

void add_bisections(Families& all, storage::Tallies const& tallies) {
  using enum BisectionState;
  all.push_back(
      gauge("torchwatch_bisections",
            "Bisections by state.",
            by_word<BisectionState>(
                "state",
                {queued, running, paused, cancelled, BisectionState::done, BisectionState::failed},
                tallies.bisections)));
  all.push_back(counter("torchwatch_bisection_steps_total",
                        "Steps that bisections planned.",
                        {{static_cast<double>(tallies.bisection_steps)}}));
  std::vector<Value> counts;
  std::vector<Value> seconds;
  for (auto const& [outcome, tally] : tallies.builds) {
    counts.push_back({static_cast<double>(tally.count), {{"outcome", outcome}}});
    seconds.push_back({tally.seconds, {{"outcome", outcome}}});
  }
  all.push_back(counter("torchwatch_builds_total", "Builds of commits, by outcome.", counts));
  all.push_back(counter("torchwatch_build_seconds_total",
                        "Time that builds of commits took, by outcome.",
                        std::move(seconds)));
}

void add_alarms(Families& all, storage::Tallies const& tallies) {
  auto const kinds = alarm_kinds();
  all.push_back(
      gauge("torchwatch_alarms",
            "Open alarms, by kind.",
            by_word<AlarmKind>("kind", {kinds.begin(), kinds.end()}, tallies.open_alarms)));
}

/// Adds the number of quarantined slots of each fleet whose slots were compared.
void add_slots(Families& all, storage::Slots const& slots) {
  std::map<std::string, int> quarantined;
  for (auto const& slot : slots.all())
    quarantined[slot.fleet] += slot.use == SlotUse::quarantined ? 1 : 0;
  std::vector<Value> values;
  for (auto const& [fleet, count] : quarantined)
    values.push_back({static_cast<double>(count), {{"fleet", fleet}}});
  all.push_back(gauge("torchwatch_slots_quarantined",
                      "Slots that are slow or noisy beyond their fleet, by fleet.",
                      std::move(values)));
}

/// Adds the level of each series of the newest nightly with summaries. The unit and the better
/// direction are labels, because the configuration declares metrics.
void add_levels(Families& all, storage::Histories const& histories) {
  std::vector<Value> levels;
  for (auto const& [series, nights] : histories.recent(1))
    levels.push_back({nights.back().level,
                      {{"fleet", series.fleet},
                       {"benchmark", name_of(series.benchmark)},
                       {"metric", series.metric.name()},
                       {"unit", series.metric.kind().unit},
                       {"better", std::string{words::better(series.metric)}}}});
  all.push_back(gauge("torchwatch_series_level",
                      "Level of each series of the newest nightly, in the unit of the label unit.",
                      std::move(levels)));
}

void add_vitals(Families& all, View const& view) {
  auto const health = view.health.get();
  auto const now = HealthState::Instant::clock::now();
  all.push_back(gauge("torchwatch_healthy",
                      "1 if /healthz returns ok, else 0.",
                      {{troubles_of(health, now).empty() ? 1.0 : 0.0}}));
  if (health.heartbeat)
    all.push_back(gauge("torchwatch_heartbeat_age_seconds",
                        "Time since the last heartbeat of the watch loop.",
                        {{std::chrono::duration<double>{now - *health.heartbeat}.count()}}));
  if (health.last_pass)
    all.push_back(gauge("torchwatch_last_pass_timestamp_seconds",
                        "End of the last pass over the feed.",
                        {{seconds_of(*health.last_pass)}}));
  all.push_back(gauge("torchwatch_failed_passes",
                      "Passes that failed in a row.",
                      {{static_cast<double>(health.failed_passes)}}));
  all.push_back(gauge("torchwatch_disk_free_bytes",
                      "Free space on the disk of the state directory.",
                      {{static_cast<double>(health.free_bytes)}}));
}

}  // namespace

http::HttpResponse show_metrics(View const& view, Call const&) {
  auto const tallies = view.store.tallies();
  Families all{gauge("torchwatch_build_info",
                     "Always 1, with the version of this program.",
                     {{1, {{"version", view.version}}}}),
               gauge("process_start_time_seconds",
                     "Start time of the service.",
                     {{seconds_of(view.started_at)}}),
               gauge("torchwatch_store_bytes",
                     "Size of the database file.",
                     {{static_cast<double>(tallies.bytes)}})};
  add_vitals(all, view);
  add_nightlies(all, tallies);
  add_bisections(all, tallies);
  add_alarms(all, tallies);
  add_slots(all, view.store.slots());
  add_levels(all, view.store.histories());
  for (auto const& families : {view.counters.collect(), metrics::process_metrics()})
    all.insert(all.end(), families.begin(), families.end());
  std::erase_if(all, [](prometheus::MetricFamily const& family) { return family.metric.empty(); });
  http::HttpResponse response;
  response.headers["content-type"] = "text/plain; version=0.0.4; charset=utf-8";
  response.headers["cache-control"] = "no-store";
  response.body = prometheus::TextSerializer{}.Serialize(all);
  return response;
}

}  // namespace torchwatch::api
