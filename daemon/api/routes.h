#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/api/authorization.h"
#include "daemon/api/cache.h"
#include "daemon/api/handlers.h"
#include "daemon/builds/build_request.h"
#include "daemon/http/http_message.h"
#include "storage/base/clock.h"
#include "storage/base/result.h"
#include "storage/domain/bisection.h"
#include "storage/domain/project.h"
#include "storage/domain/ruling.h"
#include "storage/store.h"

namespace torchwatch::api {

/// The changes that the API requests from the watch loop, since its store only reads. Errors of the
/// request are invalid_argument, not_found and refused. After unavailable and cancelled, a retry
/// can succeed.
struct Requests {
  /// Queues a bisection. Returns the existing one if an equal one has not ended. Fails with
  /// invalid_argument if its commits cannot be bisected.
  std::function<boost::asio::awaitable<Result<Bisection>>(BisectionOrder)> bisection;
  /// Pauses, resumes (queued) or cancels a bisection. Fails with not_found, or with refused if it
  /// has ended.
  std::function<boost::asio::awaitable<Result<Bisection>>(BisectionId, BisectionState)> steering;
  /// Carries out an action on builds. See builds::carry_out.
  std::function<boost::asio::awaitable<Result<std::vector<KeptBuild>>>(builds::BuildRequest)>
      build_action;
  /// Stores a ruling.
  std::function<boost::asio::awaitable<Result<Ruling>>(Ruling)> ruling;
};

struct ApiOptions {
  AccessOptions access;
  /// The configured error rates and threshold of verdicts.
  config::DecideOptions decide;
  builds::RetentionPolicy retention;
  /// Fleets that bisections may use.
  std::vector<config::FleetOptions> fleets;
  /// Prior of bisection requests without one.
  Prior prior = Prior::uniform;
  /// Web address of the watched project, for links to commits. Empty: no links.
  std::string project = project_url;
  /// Version of this program.
  std::string version;
};

/// The path, parameters and methods of a resource, for documents and tests.
struct RouteOutline {
  std::string_view path;                     ///< "/api/v1/nightlies/{id}"
  std::vector<std::string_view> parameters;  ///< names that a query may have
  bool takes_any_parameter = false;
  bool may_be_posted_to = false;  ///< POST, in addition to GET, HEAD and OPTIONS
};

/// Returns all resources. api/openapi.json describes them and their responses.
std::vector<RouteOutline> outline();

struct Route;

/// The HTTP API. It returns the records of the store, and accepts requests for bisections, builds
/// and rulings. Responses are JSON, and errors are problems (RFC 9457). Lists take ?limit and
/// ?offset, and link to their next page in Link. Responses to GET have an ETag. routes.cpp has the
/// table of routes, and openapi.json describes each. Use it on the thread of the store only.
class Api {
 public:
  /// `reader`, `clock`, `health` and `counters` must outlive it. Sets the start time of the
  /// service.
  Api(storage::Store& reader,
      Clock const& clock,
      SharedHealth const& health,
      metrics::Counters& counters,
      Requests requests,
      ApiOptions options);

  /// Checks target, method, host and token of a request, before its body is read. Returns the
  /// response that refuses it, or nothing if it is allowed. Never throws.
  std::optional<http::HttpResponse> check_request(http::HttpRequest const& head);

  /// Answers a request. Throws the exceptions of the store.
  boost::asio::awaitable<http::HttpResponse> handle(http::HttpRequest request);

 private:
  std::optional<http::HttpResponse> check(http::HttpRequest const& head);
  boost::asio::awaitable<http::HttpResponse> answer_to(http::HttpRequest request);
  http::HttpResponse kept_or_new(Route const& route, Call const& call, std::string const& target);
  void count(http::HttpRequest const& head,
             int status,
             std::chrono::steady_clock::time_point began);
  boost::asio::awaitable<http::HttpResponse> post_bisection(std::string body);
  boost::asio::awaitable<http::HttpResponse> post_steering(std::string id, std::string body);
  boost::asio::awaitable<http::HttpResponse> post_build(std::string body);
  boost::asio::awaitable<http::HttpResponse> post_ruling(std::string body);

  metrics::Counters& counters_;
  Authorization authorization_;
  View view_;
  Requests requests_;
  ApiOptions options_;
  Cache cache_;
};

}  // namespace torchwatch::api
