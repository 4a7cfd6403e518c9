#include <atomic>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>

#include "daemon/api/routes.h"
#include "daemon/asking.h"
#include "daemon/async/run.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/open_store.h"
#include "daemon/net/http_server.h"
#include "daemon/project.h"
#include "daemon/ruling.h"
#include "daemon/service.h"

namespace torchwatch::commands {
namespace {

namespace asio = boost::asio;

/// The watching half: passes over the feed, one after the other, on the main thread's loop.
class Watch {
 public:
  Watch(asio::any_io_executor executor,
        config::Options const& options,
        Place const& place,
        storage::Store& store)
      : options_{options},
        store_{store},
        service_{executor, options, place.executable, store, clock_},
        rest_{executor} {}

  /// Never returns; ends by cancellation, and all searches with it.
  asio::awaitable<int> run() { return ending_searches(service_.searching, pass_for_ever()); }

  /// Queues a search and starts it; fetches its ends if need be. On this loop only.
  asio::awaitable<Result<Bisection>> ask(BisectionRequest request) {
    if (!options_.source.repository.empty()) {
      std::vector<CommitSha> ends{request.start, request.end};
      auto const fetched = co_await service_.fetching.ensure(std::move(ends));
      if (!fetched) co_return fetched.error();
    }
    auto const asked = ask_for_search(store_, options_.source, request, clock_.now());
    if (asked) service_.searching.start();
    co_return asked;
  }

  /// Pauses, resumes or cancels a search, which obeys at once. On this loop only.
  asio::awaitable<Result<Bisection>> steer(BisectionId id, BisectionState state) {
    auto const steered = steer_search(store_, id, state);
    if (steered) service_.searching.steer(id);
    co_return steered;
  }

  /// Keeps what a person decided. On this loop only.
  asio::awaitable<Result<Ruling>> rule(Ruling ruling) {
    co_return give_ruling(store_, std::move(ruling), clock_.now());
  }

 private:
  asio::awaitable<int> pass_for_ever() {
    while (true) {
      co_await pass();
      rest_.expires_after(options_.feed.poll);
      co_await rest_.async_wait(asio::use_awaitable);
    }
  }

  /// A failed pass is told and tried again after the usual rest; only cancellation goes through.
  asio::awaitable<void> pass() {
    try {
      auto const passed = co_await service_.pipeline.pass();
      if (!passed) spdlog::error("pass_failed reason=\"{}\"", passed.error().message);
    } catch (boost::system::system_error const& problem) {
      if (problem.code() == asio::error::operation_aborted) throw;
      spdlog::error("pass_failed reason=\"{}\"", problem.what());
    } catch (std::exception const& problem) {
      spdlog::error("pass_failed reason=\"{}\"", problem.what());
    }
  }

  config::Options const& options_;
  storage::Store& store_;
  SystemClock clock_;
  Service service_;
  asio::steady_timer rest_;
};

/// The answering half: a thread with a loop and a reading connection of its own, so that neither
/// long git walks nor writes hold up an answer. Listens when constructed, which throws
/// boost::system::system_error.
class Answering {
 public:
  Answering(config::Options const& options, storage::Store& reader, api::Requests requests)
      : acceptor_{loop_, {asio::ip::make_address(options.http.address), options.http.port}, true},
        api_{reader, clock_, std::move(requests), api_options(options)} {
    auto const endpoint = acceptor_.local_endpoint();
    spdlog::info("http_listening url=http://{}:{}", options.http.address, endpoint.port());
    net::HttpServerOptions limits;
    limits.report = [](std::string const& line) {
      spdlog::error("http_failed {}", line);
    };
    auto handler = [this](net::HttpRequest request) {
      return api_.handle(std::move(request));
    };
    auto finished = [this](std::exception_ptr failure) {
      if (failure) spdlog::error("http_ended");
      patience_.cancel();
    };
    asio::co_spawn(loop_,
                   net::serve_http(std::move(acceptor_), std::move(handler), std::move(limits)),
                   asio::bind_cancellation_slot(stop_.slot(), std::move(finished)));
    thread_ = std::jthread{[this] {
      loop_.run();
    }};
  }

  Answering(Answering const&) = delete;
  Answering& operator=(Answering const&) = delete;

  ~Answering() {
    asio::post(loop_, [this] {
      stop_.emit(asio::cancellation_type::terminal);
      // An answer may be waiting for the other loop, which has stopped already.
      patience_.expires_after(std::chrono::seconds{10});
      patience_.async_wait([this](boost::system::error_code problem) {
        if (!problem) loop_.stop();
      });
    });
  }

 private:
  static api::ApiOptions api_options(config::Options const& options) {
    api::ApiOptions result;
    result.decide = options.decide;
    result.fleets = options.fleets;
    result.prior = options.bisect.prior;
    result.project = project_url;
    result.version = TORCHWATCH_VERSION;
    if (!options.http.token_file.empty()) {
      std::ifstream file{options.http.token_file};
      file >> result.token;
    }
    return result;
  }

  SystemClock clock_;
  asio::io_context loop_{1};
  asio::cancellation_signal stop_;
  asio::steady_timer patience_{loop_};
  asio::ip::tcp::acceptor acceptor_;
  api::Api api_;
  std::jthread thread_;  // joined first
};

}  // namespace

int serve(config::Options const& options, Place const& place) {
  auto store = open_store(options);
  if (!store) {
    std::cerr << "torchwatch serve: " << store.error().message << '\n';
    return could_not_run;
  }
  auto reader = storage::Store::open_reader(store_file(options));
  if (!reader) {
    std::cerr << "torchwatch serve: " << reader.error().message << '\n';
    return could_not_run;
  }
  asio::io_context loop{1};
  Watch watch{loop.get_executor(), options, place, *store};
  api::Requests requests;
  requests.bisection = [&](BisectionRequest request) -> asio::awaitable<Result<Bisection>> {
    auto task = watch.ask(std::move(request));
    co_return co_await asio::co_spawn(loop, std::move(task), asio::use_awaitable);
  };
  requests.steering = [&](BisectionId id,
                          BisectionState state) -> asio::awaitable<Result<Bisection>> {
    auto task = watch.steer(id, state);
    co_return co_await asio::co_spawn(loop, std::move(task), asio::use_awaitable);
  };
  requests.ruling = [&](Ruling ruling) -> asio::awaitable<Result<Ruling>> {
    auto task = watch.rule(std::move(ruling));
    co_return co_await asio::co_spawn(loop, std::move(task), asio::use_awaitable);
  };
  Answering const answering{options, *reader, std::move(requests)};
  spdlog::info("service_started config={} state_dir={}", place.config_file, options.state_dir);
  try {
    return run_until_signal(loop, watch.run());
  } catch (boost::system::system_error const& problem) {
    if (problem.code() != asio::error::operation_aborted) throw;
  }
  spdlog::info("service_stopped");
  return 0;
}

}  // namespace torchwatch::commands
