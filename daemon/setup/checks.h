#pragma once

#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "storage/base/result.h"

/// The result of a check of check_world: one line about what works, or an Error of one line. Each
/// check has its own file. All arguments that are references must outlive the coroutine.
namespace torchwatch::setup {

using PendingCheck = boost::asio::awaitable<Result<std::string>>;

/// The inputs of the checks: the loop, the configuration and this program.
struct CheckContext {
  boost::asio::any_io_executor executor;
  config::Options const& options;
  std::string executable;
};

/// Checks that `state_dir` exists or can be made, is writable, has disk space, and is not in use by
/// another service. Blocks.
PendingCheck check_state(CheckContext const& context);

/// Checks that the service can listen on its address, or already does. Blocks for at most two
/// seconds.
PendingCheck check_http(CheckContext const& context);

/// Checks that the proxy accepts connections, if there is one. Takes at most five seconds, plus the
/// look-up of its name.
PendingCheck check_proxy();

/// Checks that `source.repository` has all commits and files that bisections need, and the branch
/// that names the nightlies, as new as the feed. Checks that its remote replies, and checks a
/// commit out on trial. The Error of an incomplete clone names the command that mends it.
PendingCheck check_repository(CheckContext const& context);

/// Checks that the feed replies, and describes its nightlies.
PendingCheck check_feed(CheckContext const& context);

/// Checks that workers can be compiled here, if the feed's builds need them.
PendingCheck check_tools(CheckContext const& context);

/// Checks that the token can be read, and that the repository accepts issues, as far as GitHub
/// shows without a write.
PendingCheck check_github(CheckContext const& context);

/// Checks that a runner of the fleet starts through its launcher and sends its hello.
PendingCheck check_fleet(CheckContext const& context, config::FleetOptions const& fleet);

/// Returns the service that replies at the address of this configuration: "torchwatch 0.1.0 at
/// http://127.0.0.1:8917". Adds its health problems, if any. Returns an empty text if no service
/// replies. Blocks for at most two seconds.
std::string running_service(config::HttpOptions const& http);

/// True when builds come from PyTorch's index or listing.
inline bool is_published(config::FeedOptions const& feed) {
  return feed.kind == config::FeedKind::wheels || feed.kind == config::FeedKind::libtorch;
}

}  // namespace torchwatch::setup
