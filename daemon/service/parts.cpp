#include "daemon/service/parts.h"

#include <spdlog/spdlog.h>

namespace torchwatch::service {
namespace asio = boost::asio;

Parts::Parts(asio::any_io_executor const& executor,
             config::Options const& options,
             Edges const& edges)
    : kept{edges.kept},
      prepared_rounds{edges.rounds, kept, edges.makers.workers},
      git_fetch{executor, options.source},
      bisector{edges.store, prepared_rounds, edges.makers.builder, git_fetch, options},
      queue{executor, options.source, edges.store, edges.clock, git_fetch, bisector},
      alarms{options, edges.store, edges.clock},
      announcer{feed::open_feed(options, edges.makers.fetcher, git_fetch),
                options.feed,
                edges.store,
                edges.clock},
      packages{executor, options, edges.makers.fetcher, kept, git_fetch, edges.makers.workers},
      preparation{edges.store, edges.clock, edges.makers.builder, git_fetch, packages},
      wanted_builds{edges.store, preparation, kept},
      raw_data_cleanup{edges.store, options.store},
      sweep{options, edges.store, prepared_rounds},
      verdicts{options, edges.store, edges.clock, prepared_rounds, alarms},
      rebuilds{options, edges.store, prepared_rounds, edges.makers.builder, git_fetch},
      suite_profile{options, edges.store, prepared_rounds},
      investigation{options, edges.store, edges.clock, prepared_rounds, queue},
      stages{edges.store, preparation, sweep, verdicts, rebuilds, suite_profile, investigation},
      publisher{options.github, edges.store, options.state_dir, edges.open_transport},
      feedback{options.github, edges.store, edges.clock, edges.open_transport},
      pipeline{edges.store, announcer, stages, alarms, publisher, edges.clock} {}

asio::awaitable<Result<>> Parts::pass() {
  kept.make_space();
  queue.start();
  auto const passed = co_await pipeline.pass();
  co_await wanted_builds.bring();
  co_await raw_data_cleanup.delete_raw_samples();
  // What people say can wait for the next pass.
  auto const collected = co_await feedback.collect();
  if (!collected) spdlog::warn("feedback_failed reason=\"{}\"", collected.error().message);
  co_return passed;
}

}  // namespace torchwatch::service
