#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/api/cache.h"
#include "daemon/api/reading.h"
#include "daemon/builds/build_request.h"
#include "daemon/net/http_message.h"
#include "storage/domain/bisection.h"
#include "storage/domain/clock.h"
#include "storage/domain/project.h"
#include "storage/domain/result.h"
#include "storage/domain/ruling.h"
#include "storage/store.h"

namespace torchwatch::api {

/// What the API cannot do itself, since it only reads. invalid_argument, not_found and refused
/// blame the request, unavailable and cancelled the moment.
struct Requests {
  /// Queues a bisection, or finds the one that was asked for with the same key, or the equal one
  /// that has not ended. refused when that key was another request's.
  std::function<boost::asio::awaitable<Result<Bisection>>(BisectionOrder)> bisection;
  /// Pauses, resumes (queued) or cancels a bisection: not_found, or refused when it has ended.
  std::function<boost::asio::awaitable<Result<Bisection>>(BisectionId, BisectionState)> steering;
  /// See builds::carry_out.
  std::function<boost::asio::awaitable<Result<std::vector<KeptBuild>>>(builds::BuildRequest)>
      build_action;
  /// Keeps a ruling.
  std::function<boost::asio::awaitable<Result<Ruling>>(Ruling)> ruling;
};

struct ApiOptions {
  /// What a client must know to change something; empty: nobody may.
  std::string token;
  /// What a client must know to read anything but /healthz, unless it knows `token`; empty:
  /// everybody may.
  std::string read_token;
  /// By which names the service is called, beside those that are surely its own (net/host.h).
  std::vector<std::string> hosts;
  /// Whether requests for other names are refused: not where no web page can call.
  bool checks_host = true;
  /// What verdicts promise.
  config::DecideOptions decide;
  /// What is kept of builds, and for how long.
  builds::RetentionPolicy retention;
  /// On which fleets a bisection may be asked for.
  std::vector<config::FleetOptions> fleets;
  /// Of a bisection that does not say.
  Prior prior = Prior::uniform;
  /// Where the watched project's commits are shown; empty: nowhere.
  std::string project = project_url;
  /// Of this program.
  std::string version;
};

/// What a resource takes, for whoever tells others of it.
struct RouteOutline {
  std::string_view path;                     ///< "/api/v1/nightlies/{id}"
  std::vector<std::string_view> parameters;  ///< names that a query may have
  bool takes_any_parameter = false;
  bool may_be_posted_to = false;  ///< beside GET, HEAD and OPTIONS, which are always answered
};

/// All resources. api/openapi.json describes the same, and what they answer.
std::vector<RouteOutline> outline();

struct Route;

/// The HTTP API: what the service knows, asking it to bisect, steering its bisections, and telling
/// it what people decided. On one thread, the store's. Answers are JSON, wrong requests are
/// problems (RFC 9457), lists take ?limit and ?offset and name their next page in Link.
/// What was read carries an ETag, and is not sent again to whoever has it (If-None-Match).
///
///     GET  /healthz            /readyz
///     GET  /metrics
///     GET  /api/v1/openapi.json, which describes all of this
///     GET  /api/v1/tonight     /api/v1/events
///     GET  /api/v1/nightlies   /api/v1/nightlies/{id}
///     GET  /api/v1/series      ?recent= with their last nights
///                              ?fleet=&benchmark=&metric= for the values of one
///     GET  /api/v1/history     ?fleet=&benchmark=&metric= the nights of one, &format=csv
///     GET  /api/v1/compare     ?before=&after= two nightlies, before_fleet= after_fleet= and so on
///     GET  /api/v1/sides       what may be compared
///     GET  /api/v1/incidents   /api/v1/incidents/{id}
///     GET  /api/v1/bisections  /api/v1/bisections/{id}
///     GET  /api/v1/alarms      /api/v1/alarms/{id}
///     GET  /api/v1/precision   /api/v1/trust    /api/v1/noise
///     GET  /api/v1/builds      /api/v1/builds/{name}
///     GET  /api/v1/rulings     /api/v1/rulings/{id}
///
/// The pages of the dashboard (dashboard.h) are at /, /nightlies, /series, /incidents, /bisections,
/// /compare, /trust and /alarms.
///
/// With the bearer token, and a body that bisection_request.h, steering_request.h,
/// build_request.h and ruling_request.h describe:
///
///     POST /api/v1/bisections  /api/v1/bisections/{id}
///     POST /api/v1/builds
///     POST /api/v1/rulings
class Api {
 public:
  /// `reader`, `clock`, `vitals` and `counters` must outlive it. The service counts as started now.
  Api(storage::Store& reader,
      Clock const& clock,
      VitalSigns const& vitals,
      metrics::Counters& counters,
      Requests requests,
      ApiOptions options);

  /// Why a request is not answered as it wishes, whatever its body holds; nothing when it is. Never
  /// throws.
  std::optional<net::HttpResponse> objection_to(net::HttpRequest const& head);

  /// Answers any request. Throws when the store does.
  boost::asio::awaitable<net::HttpResponse> handle(net::HttpRequest request);

 private:
  std::optional<net::HttpResponse> objection(net::HttpRequest const& head);
  boost::asio::awaitable<net::HttpResponse> answer_to(net::HttpRequest request);
  net::HttpResponse kept_or_new(Route const& route, Call const& call, std::string const& target);
  void count(net::HttpRequest const& head, int status, std::chrono::steady_clock::time_point began);
  boost::asio::awaitable<net::HttpResponse> post_bisection(net::HttpRequest request);
  boost::asio::awaitable<net::HttpResponse> post_steering(std::string id, std::string body);
  boost::asio::awaitable<net::HttpResponse> post_build(std::string body);
  boost::asio::awaitable<net::HttpResponse> post_ruling(std::string body);
  void note_refusal(std::string_view path);

  Clock const& clock_;
  metrics::Counters& counters_;
  Timestamp last_noted_{};  // of refused tokens
  int refusals_ = 0;        // since then
  View view_;
  Requests requests_;
  ApiOptions options_;
  Cache cache_;
};

}  // namespace torchwatch::api
