#include <boost/algorithm/string/join.hpp>

#include "daemon/measure/fleet.h"
#include "daemon/measure/greeting.h"
#include "daemon/measure/runner_process.h"
#include "daemon/setup/checks.h"

namespace torchwatch::setup {

/// Waits as long as the service does.
PendingCheck check_fleet(CheckContext const& context, config::FleetOptions const& fleet) {
  auto const start =
      measure::runner_processes(context.executor, fleet, context.executable, context.options);
  auto const way =
      fleet.launcher.empty() ? "on this host" : "through " + boost::join(fleet.launcher, " ");
  auto const runner = start(0);
  if (!runner) co_return within(way, runner.error());
  measure::FleetLimits const limits;
  auto const hello = co_await measure::hello_of(**runner, limits.hello);
  if (!hello) co_return within(way, hello.error());
  co_return way + ": a runner says hello from " + hello->fingerprint.value("host", "a host") +
      ", isolation: " + hello->fingerprint.value("isolation", "unknown");
}

}  // namespace torchwatch::setup
