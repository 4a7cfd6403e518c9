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

/// What is thrown is bad news of this look alone, and the others go on.
asio::awaitable<Check> timed(std::string what, Check look) {
  auto const begun = steady_clock::now();
  Check check;
  check.what = std::move(what);
  try {
    auto const found = co_await std::move(look);
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
  CheckContext const site{std::move(executor), options, std::move(executable)};
  std::vector<asio::awaitable<Check>> checks;
  checks.push_back(timed("state directory", check_state(site)));
  checks.push_back(timed("http address", check_http(site)));
  checks.push_back(timed("proxy", check_proxy()));
  checks.push_back(timed("repository", check_repository(site)));
  checks.push_back(timed("feed", check_feed(site)));
  checks.push_back(timed("compiler", check_tools(site)));
  checks.push_back(timed("github", check_github(site)));
  for (auto const& fleet : options.fleets)
    checks.push_back(timed("fleet " + fleet.name, check_fleet(site, fleet)));
  co_return co_await async::when_all(std::move(checks));
}

}  // namespace torchwatch::setup
