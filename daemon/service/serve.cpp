#include "daemon/service/serve.h"

#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>

#include "daemon/async/run_until_signal.h"
#include "daemon/service/answering.h"
#include "daemon/service/checkup.h"
#include "daemon/service/endpoints.h"
#include "daemon/service/ignored_signals.h"
#include "daemon/service/open_store.h"
#include "daemon/service/service_manager.h"
#include "daemon/service/watch.h"

namespace torchwatch::service {
namespace asio = boost::asio;

namespace {

/// Returns the requests of the HTTP API, which run on the watch loop. Both must outlive it.
api::Requests requests_for(asio::io_context& loop, Watch& watch) {
  api::Requests requests;
  requests.bisection = [&](BisectionOrder order) -> asio::awaitable<Result<Bisection>> {
    auto task = watch.ask(std::move(order));
    co_return co_await asio::co_spawn(loop, std::move(task), asio::use_awaitable);
  };
  requests.steering = [&](BisectionId id,
                          BisectionState state) -> asio::awaitable<Result<Bisection>> {
    auto task = watch.steer(id, state);
    co_return co_await asio::co_spawn(loop, std::move(task), asio::use_awaitable);
  };
  requests.build_action =
      [&](builds::BuildRequest request) -> asio::awaitable<Result<std::vector<KeptBuild>>> {
    auto task = watch.request_build(std::move(request));
    co_return co_await asio::co_spawn(loop, std::move(task), asio::use_awaitable);
  };
  requests.ruling = [&](Ruling ruling) -> asio::awaitable<Result<Ruling>> {
    auto task = watch.rule(std::move(ruling));
    co_return co_await asio::co_spawn(loop, std::move(task), asio::use_awaitable);
  };
  return requests;
}

}  // namespace

Result<> serve(config::Options const& options,
               std::string const& executable,
               std::string const& config_file) {
  // Programs of the same user see neither our variables nor our memory.
  ::prctl(PR_SET_DUMPABLE, 0);
  auto tokens = read_tokens(options.http);
  if (!tokens) return tokens.error();
  auto store = open_store(options);
  if (!store) return store.error();
  auto reader = storage::Store::open_reader(store_file(options));
  if (!reader) return reader.error();
  asio::io_context loop{1};
  IgnoredSignals const ignored{loop};
  asio::io_context answering_loop{1};
  auto endpoint = open_endpoint(answering_loop.get_executor(), options.http);
  if (!endpoint) return endpoint.error();
  api::SharedHealth health;
  SystemClock const clock;
  Checkup const checkup{store_file(options), clock};
  auto const manager = ServiceManager::from_environment();
  Watch watch{loop.get_executor(), options, executable, *store, checkup, manager, health};
  Answering const answering{answering_loop,
                            std::move(*endpoint),
                            options,
                            std::move(*tokens),
                            *reader,
                            health,
                            watch.counters(),
                            requests_for(loop, watch)};
  spdlog::info("service_started config={} state_dir={}", config_file, options.state_dir);
  try {
    async::run_until_signal(loop, watch.run());
  } catch (boost::system::system_error const& problem) {
    if (problem.code() != asio::error::operation_aborted) throw;
  }
  manager.send("STOPPING=1");
  spdlog::info("service_stopped");
  return {};
}

}  // namespace torchwatch::service
