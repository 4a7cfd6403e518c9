#pragma once

#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "storage/base/result.h"

/// The checks that check_world makes, a file each. Each returns one line about what is good, or an
/// Error of one line. All arguments that are references must outlive the coroutine.
namespace torchwatch::setup {

using PendingCheck = boost::asio::awaitable<Result<std::string>>;

/// Where things are: the loop, the configuration and this program.
struct CheckContext {
  boost::asio::any_io_executor executor;
  config::Options const& options;
  std::string executable;
};

/// Whether `state_dir` is there or can be made, can be written, has room, and belongs to no other
/// service. Blocks.
PendingCheck check_state(CheckContext const& context);

/// Whether the service could listen, or does already. Blocks for at most two seconds.
PendingCheck check_http(CheckContext const& context);

/// Whether somebody listens where the proxy is, if there is one. Takes five seconds at most, beside
/// the look-up of its name.
PendingCheck check_proxy();

/// Whether `source.repository` holds what bisections need: all commits and files, the branch that
/// names the nightlies, as new as the feed, and a remote that answers; a commit is checked out on
/// trial. An Error of a clone that lacks something names the command that mends it.
PendingCheck check_repository(CheckContext const& context);

/// Whether the feed answers, and with what.
PendingCheck check_feed(CheckContext const& context);

/// Whether workers can be compiled here, where the feed's builds come without one.
PendingCheck check_tools(CheckContext const& context);

/// Whether the token is read, and the repository takes issues, as far as GitHub tells unasked.
PendingCheck check_github(CheckContext const& context);

/// Whether a runner of the fleet says hello through its launcher.
PendingCheck check_fleet(CheckContext const& context, config::FleetOptions const& fleet);

/// The torchwatch that answers where one with this configuration would: "torchwatch 0.1.0 at
/// http://127.0.0.1:8917", with its health problem if it has one; empty if none answers. Blocks for
/// at most two seconds.
std::string running_service(config::HttpOptions const& http);

/// Whether builds come from PyTorch's index or listing.
inline bool is_published(config::FeedOptions const& feed) {
  return feed.kind == config::FeedKind::wheels || feed.kind == config::FeedKind::libtorch;
}

}  // namespace torchwatch::setup
