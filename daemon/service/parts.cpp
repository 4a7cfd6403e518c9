#include "daemon/service/parts.h"

#include <spdlog/spdlog.h>

namespace torchwatch::service {
namespace asio = boost::asio;

Parts::Parts(asio::any_io_executor const& executor,
             config::Options const& options,
             storage::Store& store,
             Clock const& clock,
             measure::Rounds& rounds,
             build::Builder& builder,
             report::OpenTransport const& open_transport)
    : git_fetch{executor, options.source},
      bisector{store, rounds, builder, git_fetch, options},
      queue{executor, options.source, store, clock, git_fetch, bisector},
      alarms{options, store, clock},
      feeds{options, store, clock, git_fetch},
      preparation{store, builder, git_fetch},
      sweep{options, store, rounds},
      verdicts{options, store, clock, rounds, alarms},
      investigation{options, store, clock, rounds, queue},
      stages{store, preparation, sweep, verdicts, investigation},
      publisher{options.github, store, options.state_dir, open_transport},
      feedback{options.github, store, clock, open_transport},
      pipeline{store, feeds, stages, alarms, publisher} {}

asio::awaitable<Result<>> Parts::pass() {
  queue.start();
  auto const passed = co_await pipeline.pass();
  // What people say can wait for the next pass.
  auto const collected = co_await feedback.collect();
  if (!collected) spdlog::warn("feedback_failed reason=\"{}\"", collected.error().message);
  co_return passed;
}

}  // namespace torchwatch::service
