#include "daemon/service/service.h"

#include <spdlog/spdlog.h>

#include "daemon/measure/runner_process.h"

namespace torchwatch::service {
namespace asio = boost::asio;

Service::Service(asio::any_io_executor executor,
                 config::Options const& options,
                 std::string const& executable,
                 storage::Store& store,
                 Clock const& clock)
    : fleets{executor,
             options.fleets,
             [&](config::FleetOptions const& fleet) {
               return measure::runner_processes(executor, fleet, executable);
             }},
      rounds{store, clock, fleets, options.measure, options.suite},
      builder{executor, options.source, options.state_dir, store, clock},
      git_fetch{executor, options.source},
      bisector{store, rounds, builder, git_fetch, options},
      queue{executor, options.source, store, clock, git_fetch, bisector},
      alarms{options, store, clock},
      feeds{options, store, clock, git_fetch},
      preparation{store, builder, git_fetch},
      sweep{options, store, rounds},
      verdicts{options, store, clock, rounds, alarms},
      investigation{options, store, clock, rounds, queue},
      stages{store, preparation, sweep, verdicts, investigation},
      publisher{options.github, store, options.state_dir, report::https_transport(options.github)},
      feedback{options.github, store, clock, report::https_transport(options.github)},
      pipeline{store, feeds, stages, alarms, publisher} {}

asio::awaitable<Result<>> Service::pass() {
  queue.start();
  auto const passed = co_await pipeline.pass();
  // What people say can wait for the next pass.
  auto const collected = co_await feedback.collect();
  if (!collected) spdlog::warn("feedback_failed reason=\"{}\"", collected.error().message);
  co_return passed;
}

}  // namespace torchwatch::service
