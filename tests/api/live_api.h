#pragma once

#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

#include "daemon/api/routes.h"
#include "daemon/builds/build_request.h"
#include "tests/api/live_server.h"
#include "tests/api/stored_story.h"

namespace torchwatch::tests {

/// The API over a socket, with a store that contains store_story(). It keeps requests for
/// bisections and for their states, and replies to them with the value of reply_with().
class LiveApi {
 public:
  explicit LiveApi(api::ApiOptions options = options_with_token())
      : api_{reader_, clock_, health, counters, requests(), std::move(options)} {}

  static api::ApiOptions options_with_token() {
    api::ApiOptions options;
    options.access.token = "correct-horse";
    options.fleets.resize(1);
    options.version = "0.1.0";
    options.access.hosts = {"x"};
    return options;
  }

  api::SharedHealth health;
  metrics::Counters counters;

  std::uint16_t port() const { return server_.port(); }

  /// Lets `write` add to the store.
  template <class Write>
  void fill(Write write) {
    std::scoped_lock const lock{mutex_};
    write(writer_);
  }

  /// Returns the directory of the builds.
  std::filesystem::path builds() const { return folder_.path() / "builds"; }

  void reply_with(Result<Bisection> reply) {
    std::scoped_lock const lock{mutex_};
    reply_ = std::move(reply);
  }

  std::vector<BisectionRequest> asked() const {
    std::scoped_lock const lock{mutex_};
    return asked_;
  }

  /// Returns the incidents of the requested bisections.
  std::vector<std::optional<IncidentId>> incidents() const {
    std::scoped_lock const lock{mutex_};
    return incidents_;
  }

  std::vector<std::pair<BisectionId, BisectionState>> steered() const {
    std::scoped_lock const lock{mutex_};
    return steered_;
  }

 private:
  api::Requests requests() {
    api::Requests requests;
    requests.bisection = [this](BisectionOrder order) {
      return keep(std::move(order));
    };
    requests.build_action = [this](builds::BuildRequest request) {
      return do_to_builds(std::move(request));
    };
    requests.steering = [this](BisectionId id, BisectionState state) {
      return steer(id, state);
    };
    requests.ruling = [this](Ruling ruling) {
      return rule(std::move(ruling));
    };
    return requests;
  }

  boost::asio::awaitable<Result<Ruling>> rule(Ruling ruling) {
    std::scoped_lock const lock{mutex_};
    ruling.given_at = early;
    co_return writer_.rulings().give(std::move(ruling));
  }

  boost::asio::awaitable<Result<std::vector<KeptBuild>>> do_to_builds(
      builds::BuildRequest request) {
    std::scoped_lock const lock{mutex_};
    co_return builds::carry_out(request, builds_, writer_, early);
  }

  boost::asio::awaitable<Result<Bisection>> keep(BisectionOrder order) {
    std::scoped_lock const lock{mutex_};
    asked_.push_back(std::move(order.request));
    incidents_.push_back(order.incident);
    co_return reply_;
  }

  boost::asio::awaitable<Result<Bisection>> steer(BisectionId id, BisectionState state) {
    std::scoped_lock const lock{mutex_};
    steered_.emplace_back(id, state);
    co_return reply_;
  }

  static config::Options options_in(std::filesystem::path const& folder) {
    config::Options options;
    options.state_dir = folder;
    options.builds.keep_free_mib = 0;
    return options;
  }

  /// Returns a bisection that follows the two of the story.
  static Bisection third_bisection() {
    Bisection bisection;
    bisection.id = BisectionId{3};
    return bisection;
  }

  storage::Store filled() {
    auto store = storage::Store::open(folder_.database()).value();
    store_story(store);
    return store;
  }

  TemporaryFolder folder_;
  storage::Store writer_ = filled();  // writes while the reader reads, as in the service
  storage::Store reader_ = storage::Store::open_reader(folder_.database()).value();
  FixedClock clock_;
  config::Options options_ = options_in(folder_.path());
  builds::BuildStore builds_{options_, writer_, clock_};
  mutable std::mutex mutex_;
  Result<Bisection> reply_ = third_bisection();  // guarded by mutex_, as are the next three
  std::vector<BisectionRequest> asked_;
  std::vector<std::optional<IncidentId>> incidents_;
  std::vector<std::pair<BisectionId, BisectionState>> steered_;
  api::Api api_;
  LiveServer server_{[this](http::HttpRequest request) {
    return api_.handle(std::move(request));
  }};
};

}  // namespace torchwatch::tests
