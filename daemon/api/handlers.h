#pragma once

#include <string>

#include "config/options.h"
#include "daemon/api/health.h"
#include "daemon/api/target.h"
#include "daemon/builds/build_references.h"
#include "daemon/http/http_message.h"
#include "daemon/metrics/counters.h"
#include "storage/store.h"

/// The answers to GET. Each may throw what the store throws. Lists are newest first, of builds the
/// one used last, and come in pages.
namespace torchwatch::api {

/// What answers are made from.
struct View {
  storage::Store& store;
  std::string version;     ///< of this program
  std::string project;     ///< where the watched project's commits are shown
  Timestamp started_at{};  ///< of the service
  config::DecideOptions decide;
  builds::RetentionPolicy retention;
  Clock const& clock;
  SharedHealth const& health;  ///< of the half that watches
  metrics::Counters const& counters;
};

/// One request for a resource.
struct Call {
  std::string path;      ///< of the resource, with "{id}" where it has one: "/api/v1/nightlies"
  std::string id;        ///< "12"; empty for resources without one
  Query query;           ///< parameters that the resource knows, and no others
  bool may_read = true;  ///< what was measured
};

/// 200 with {status, version, started_at, last_nightly, watching, isolation, slots}; 503 with
/// troubles as well, when there are some (troubles_of), and with status, troubles and version when
/// the store cannot be read.
http::HttpResponse health(View const& view, Call const& call);

/// 200 when the service can answer what it is asked, 503 when the store cannot be read. What the
/// other half does, health() tells.
http::HttpResponse readiness(View const& view, Call const& call);

/// Everything that is counted, in Prometheus' text format 0.0.4.
http::HttpResponse show_metrics(View const& view, Call const& call);

/// What the dashboard's first page shows, in one answer, {nightlies, incidents, bisections,
/// alarms}: the newest nightlies, with the progress of those that are being measured; the incidents
/// of the last thirty days, each with its worst series and the first finding; bisections that have
/// not ended; open alarms.
http::HttpResponse show_tonight(View const& view, Call const& call);

/// What this API takes and answers, for programs: openapi.json (OpenAPI 3.1), as it was when this
/// program was built. It holds nothing that was measured, so it is for everybody.
http::HttpResponse show_description(View const& view, Call const& call);

/// An answer without an end, as server-sent events (WHATWG HTML, 9.2): "hello" at once, and
/// "changed" within a second of a write to the store, or when the service falls ill or recovers.
/// Data of both is {"healthy"}. Whoever listens asks again for what it shows, with If-None-Match:
/// an event that is lost costs no more than the time to the next. A comment every fifteen seconds
/// shows that the line is open.
http::HttpResponse stream_events(View const& view, Call const& call);

http::HttpResponse list_nightlies(View const& view, Call const& call);
/// With every verdict on it, against its baseline and against its anchors, and the incident it
/// opened.
http::HttpResponse show_nightly(View const& view, Call const& call);

/// The series that have nights; with recent=N each with the levels of its last N nights, the newest
/// night, and the last verdict that found a change. With fleet, benchmark and metric the values of
/// one, as long as the processes that gave them are not forgotten; with nightly=ID those that
/// judged it, of both builds.
http::HttpResponse list_series(View const& view, Call const& call);

/// Of the series that fleet, benchmark and metric name: its nights, all there ever were, in
/// columns: nightly, date, commit, level (the median of what its own build gave), low, high,
/// processes, verdict, host; the hosts by their numbers, the incidents that nights opened, and the
/// nightly that the newest one is anchored to. format=csv: a line a night.
http::HttpResponse show_history(View const& view, Call const& call);

/// Of the same series: the nightlies at which it took another level.
http::HttpResponse show_change_points(View const& view, Call const& call);

/// Two sides of the whole suite beside each other: `before` and `after`, each a nightly and those
/// of its series that fleet, device and backend leave (before_fleet and so on); what only one side
/// names, the other has, too. Without nightlies the two newest that were judged. {before, after,
/// metrics, rows, means, only_before, only_after, gpu}: levels and ratios of each test; geometric
/// means by place, test and domain (null: all); where the time of an iteration went on a GPU, of
/// what incidents had profiled and of the suite's last profile. Levels of two nights, and so no
/// verdict.
http::HttpResponse show_comparison(View const& view, Call const& call);

/// What a side may be: {nightlies, fleets, devices, backends}, nightlies with levels in columns,
/// newest first.
http::HttpResponse show_sides(View const& view, Call const& call);

http::HttpResponse list_incidents(View const& view, Call const& call);
/// format=markdown: the report on it.
http::HttpResponse show_incident(View const& view, Call const& call);

http::HttpResponse list_bisections(View const& view, Call const& call);
/// With its suspect commits.
http::HttpResponse show_bisection(View const& view, Call const& call);

/// How often alarms are false: what is stated, what builds compared with themselves showed, and
/// what people said of incidents. Intervals are those of Clopper and Pearson at 95%.
http::HttpResponse show_precision(View const& view, Call const& call);

/// The evidence behind it: {threshold, self_comparisons, rulings, verdicts, hosts}: builds compared
/// with themselves, by month and each of the last nights; what people said of incidents, by month;
/// pairs that verdicts took, by kind; and how hosts measure beside the others of their fleet.
http::HttpResponse show_trust(View const& view, Call const& call);

/// Of the series that the last thirty nights measured, how much these nights differ.
http::HttpResponse list_noise(View const& view, Call const& call);

http::HttpResponse list_alarms(View const& view, Call const& call);
http::HttpResponse show_alarm(View const& view, Call const& call);

http::HttpResponse list_builds(View const& view, Call const& call);
/// By name.
http::HttpResponse show_build(View const& view, Call const& call);

http::HttpResponse list_rulings(View const& view, Call const& call);
http::HttpResponse show_ruling(View const& view, Call const& call);

}  // namespace torchwatch::api
