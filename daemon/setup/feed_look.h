#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/feed/feed.h"
#include "daemon/setup/checks.h"
#include "storage/base/result.h"

namespace torchwatch::setup {

/// Reads the feed once, as the service does, but writes nothing to `state_dir`, which may not
/// exist, and fetches no commits. `context` must outlive it.
boost::asio::awaitable<Result<feed::Found>> look_at_feed(CheckContext const& context);

}  // namespace torchwatch::setup
