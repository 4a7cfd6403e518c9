#pragma once

#include <string>

#include "config/options.h"
#include "daemon/api/health.h"
#include "daemon/api/target.h"
#include "daemon/builds/build_references.h"
#include "daemon/http/http_message.h"
#include "daemon/metrics/counters.h"
#include "storage/store.h"

/// Handlers of GET requests. Each may throw the exceptions of the store. Lists have the newest
/// first (of builds: the one used last), and are split into pages.
namespace torchwatch::api {

/// The data that handlers use.
struct View {
  storage::Store& store;
  std::string version;     ///< version of this program
  std::string project;     ///< web address of the watched project; see ApiOptions
  Timestamp started_at{};  ///< start of the service
  config::DecideOptions decide;
  builds::RetentionPolicy retention;
  Clock const& clock;
  SharedHealth const& health;  ///< health of the watch loop
  metrics::Counters const& counters;
};

/// One request for a resource.
struct Call {
  std::string path;      ///< path of the resource: "/api/v1/nightlies/{id}"
  std::string id;        ///< "12"; empty for resources without one
  Query query;           ///< parameters; all are known to the resource
  bool may_read = true;  ///< true if the client may read measurements
};

/// Returns 200 with {status, version, started_at, last_nightly, watching, isolation, slots}. If
/// there are health problems (troubles_of), returns 503 and adds {troubles}. If the store cannot be
/// read, returns 503 with {status, troubles, version}.
http::HttpResponse health(View const& view, Call const& call);

/// Returns 200 if the service can answer requests, and 503 if the store cannot be read. It does not
/// check the watch loop: health() does.
http::HttpResponse readiness(View const& view, Call const& call);

/// Returns all metrics in the text format 0.0.4 of Prometheus.
http::HttpResponse show_metrics(View const& view, Call const& call);

/// Returns the contents of the dashboard's first page: {nightlies, incidents, unfinished_incidents,
/// bisections, alarms}. These are the newest nightlies, with the progress of those that are being
/// measured; the newest unfinished incidents, each with its worst series and first finding, and the
/// number of all; bisections that have not ended; and open alarms.
http::HttpResponse show_tonight(View const& view, Call const& call);

/// Returns the description of this API, openapi.json (OpenAPI 3.1). It contains no measurements, so
/// it needs no token.
http::HttpResponse show_description(View const& view, Call const& call);

/// Returns a response without an end: server-sent events (WHATWG HTML, 9.2). "hello" is sent at
/// once. "changed" is sent within 1 s after the store or the health of the service has changed. The
/// data of both is {"healthy"}. The client then requests its contents again with If-None-Match, so
/// the next event makes up for a lost one. A comment every 15 s shows that the connection is open.
http::HttpResponse stream_events(View const& view, Call const& call);

http::HttpResponse list_nightlies(View const& view, Call const& call);
/// Returns a nightly with all its verdicts, against its baseline and its anchors, and the incident
/// that it opened.
http::HttpResponse show_nightly(View const& view, Call const& call);

/// Returns the series that have nightly summaries. recent=N adds the levels of the last N
/// nightlies, the newest summary, and the last verdict that found a change.
///
/// With fleet, benchmark and metric: returns the values of the processes of one series, as long as
/// they are stored. nightly=ID selects the processes that decided its verdict, of both builds.
http::HttpResponse list_series(View const& view, Call const& call);

/// Returns all nightly summaries of the series that fleet, benchmark and metric name, in columns:
/// nightly, date, commit, level (the median over the processes of its build), low, high, processes,
/// verdict, host. Adds the hosts by number, the incidents of these nightlies, and the anchor of the
/// newest nightly. format=csv returns one line per nightly instead.
http::HttpResponse show_history(View const& view, Call const& call);

/// Returns the nightlies at which the level of a series changed. The series is named as for
/// show_history.
http::HttpResponse show_change_points(View const& view, Call const& call);

/// Compares two sides of the whole suite, `before` and `after`. A side is a nightly, filtered by
/// fleet, device and backend (before_fleet and so on). A filter that only one side has applies to
/// both. The default is the two newest judged nightlies.
///
/// Returns {before, after, metrics, rows, means, only_before, only_after, gpu}: levels and ratios
/// of each test; geometric means by fleet, device, backend, test and domain (null: all); and the
/// shares of GPU time of an iteration, from profiles of incidents and the last profile of the
/// suite. These are levels of two nightlies without a test, so there is no verdict.
http::HttpResponse show_comparison(View const& view, Call const& call);

/// Returns the values that sides may have: {nightlies, fleets, devices, backends}. `nightlies` are
/// those with levels, in columns, newest first.
http::HttpResponse show_sides(View const& view, Call const& call);

/// Returns the incidents, each with its state and its culprit. state=open,explained selects those
/// in one of these states.
http::HttpResponse list_incidents(View const& view, Call const& call);
/// Returns an incident with its timeline: each event, and where it was published. With
/// format=markdown: the report as it was filed (github::filed_report), or 404 before.
http::HttpResponse show_incident(View const& view, Call const& call);

http::HttpResponse list_bisections(View const& view, Call const& call);
/// Returns a bisection with its suspects.
http::HttpResponse show_bisection(View const& view, Call const& call);

/// Returns how often alarms are false: as configured, as measured by self-comparisons, and as ruled
/// by users. Intervals are those of Clopper and Pearson at 95%.
http::HttpResponse show_precision(View const& view, Call const& call);

/// Returns the evidence for show_precision: {threshold, self_comparisons, rulings, incidents,
/// verdicts, hosts}. These are self-comparisons by month, and each one of the last nightlies;
/// rulings on incidents by month; the times to culprit and to fix by month; the pairs that verdicts
/// needed, by kind; and the ratio of each host to the others of its fleet.
http::HttpResponse show_trust(View const& view, Call const& call);

/// Returns the noise of each series that the last 30 nightlies measured.
http::HttpResponse list_noise(View const& view, Call const& call);

/// Returns the slots that were compared with the others of their fleet, by fleet and slot.
http::HttpResponse list_slots(View const& view, Call const& call);

http::HttpResponse list_alarms(View const& view, Call const& call);
http::HttpResponse show_alarm(View const& view, Call const& call);

http::HttpResponse list_builds(View const& view, Call const& call);
/// Returns the build with a name.
http::HttpResponse show_build(View const& view, Call const& call);

http::HttpResponse list_rulings(View const& view, Call const& call);
http::HttpResponse show_ruling(View const& view, Call const& call);

}  // namespace torchwatch::api
