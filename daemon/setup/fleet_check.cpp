#include <boost/algorithm/string/join.hpp>

#include "daemon/measure/fleet.h"
#include "daemon/measure/greeting.h"
#include "daemon/measure/runner_process.h"
#include "daemon/setup/checks.h"

namespace torchwatch::setup {

/// Waits as long as the service does, except in the queue of a scheduler.
PendingCheck check_fleet(CheckContext const& context, config::FleetOptions const& fleet) {
  auto const start =
      measure::runner_processes(context.executor, fleet, context.executable, context.options);
  auto const way =
      fleet.launcher.empty() ? "on this host" : "through " + boost::join(fleet.launcher, " ");
  auto const runner = start(0);
  if (!runner) co_return within(way, runner.error());
  auto const patience = measure::FleetLimits{}.hello;
  measure::GreetingLimits const limits{.hello = patience, .queue = patience};
  measure::OnQueued const ignore_queue;
  auto const hello = co_await measure::hello_of(**runner, limits, ignore_queue);
  if (!hello) co_return within(way, hello.error());
  co_return way + ": a runner says hello from " + hello->fingerprint.value("host", "a host") +
      ", isolation: " + hello->fingerprint.value("isolation", "unknown");
}

}  // namespace torchwatch::setup
