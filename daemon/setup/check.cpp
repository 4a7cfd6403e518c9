#include "daemon/setup/check.h"

#include <exception>
#include <utility>

#include "daemon/async/cancellation.h"
#include "daemon/async/when_all.h"
#include "daemon/setup/checks.h"

namespace torchwatch::setup {
namespace asio = boost::asio;

namespace {

using std::chrono::steady_clock;

/// An exception fails this check alone, and the others continue.
asio::awaitable<Check> timed(std::string what, PendingCheck pending) {
  auto const begun = steady_clock::now();
  Check check;
  check.what = std::move(what);
  try {
    auto const found = co_await std::move(pending);
    check.is_good = found.has_value();
    check.found = found ? *found : found.error().message;
  } catch (std::exception const& problem) {
    if (async::is_cancellation(std::current_exception())) throw;
    check.found = problem.what();
  }
  check.seconds = steady_clock::now() - begun;
  co_return check;
}

}  // namespace

asio::awaitable<std::vector<Check>> check_world(asio::any_io_executor executor,
                                                config::Options const& options,
                                                std::string executable) {
  CheckContext const context{std::move(executor), options, std::move(executable)};
  std::vector<asio::awaitable<Check>> checks;
  checks.push_back(timed("state directory", check_state(context)));
  checks.push_back(timed("http address", check_http(context)));
  checks.push_back(timed("proxy", check_proxy()));
  checks.push_back(timed("repository", check_repository(context)));
  checks.push_back(timed("feed", check_feed(context)));
  checks.push_back(timed("compiler", check_tools(context)));
  checks.push_back(timed("github", check_github(context)));
  for (auto const& fleet : options.fleets)
    checks.push_back(timed("fleet " + fleet.name, check_fleet(context, fleet)));
  co_return co_await async::when_all(std::move(checks));
}

}  // namespace torchwatch::setup
