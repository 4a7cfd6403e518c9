#include "daemon/service/parts.h"

#include <spdlog/spdlog.h>

namespace torchwatch::service {
namespace asio = boost::asio;

Parts::Parts(asio::any_io_executor const& executor,
             config::Options const& options,
             Edges const& edges)
    : git_fetch{executor, options.source},
      bisector{edges.store, edges.rounds, edges.makers.builder, git_fetch, options},
      queue{executor, options.source, edges.store, edges.clock, git_fetch, bisector},
      alarms{options, edges.store, edges.clock},
      announcer{feed::open_feed(options, edges.makers.fetcher, git_fetch),
                options.feed,
                edges.store,
                edges.clock},
      packages{options, edges.makers.fetcher, git_fetch, edges.makers.workers},
      preparation{edges.store, edges.clock, edges.makers.builder, git_fetch, packages},
      sweep{options, edges.store, edges.rounds},
      verdicts{options, edges.store, edges.clock, edges.rounds, alarms},
      investigation{options, edges.store, edges.clock, edges.rounds, queue},
      stages{edges.store, preparation, sweep, verdicts, investigation},
      publisher{options.github, edges.store, options.state_dir, edges.open_transport},
      feedback{options.github, edges.store, edges.clock, edges.open_transport},
      pipeline{edges.store, announcer, stages, alarms, publisher} {}

asio::awaitable<Result<>> Parts::pass() {
  queue.start();
  auto const passed = co_await pipeline.pass();
  // What people say can wait for the next pass.
  auto const collected = co_await feedback.collect();
  if (!collected) spdlog::warn("feedback_failed reason=\"{}\"", collected.error().message);
  co_return passed;
}

}  // namespace torchwatch::service
