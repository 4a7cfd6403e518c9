#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/builds/fetcher.h"
#include "storage/base/clock.h"
#include "storage/base/result.h"

namespace torchwatch::setup {

/// Returns the channels that a driver for CUDA `version` ("13.0") may run, published or not. Those
/// of its own CUDA come first, then older ones, down to the major version before. None for any
/// other text.
std::vector<std::string> channels_for(std::string const& version);

/// Returns the first of channels_for(`cuda`) that the index of `feed` has, with a nightly of the
/// last `feed.stale_days` (ten days where that is 0). All arguments that are references must
/// outlive it.
///
/// Fails with not_found when there is none, with unavailable when the index does not reply; both in
/// one line.
boost::asio::awaitable<Result<std::string>> live_channel(builds::Fetcher& fetcher,
                                                         config::FeedOptions feed,
                                                         std::string cuda,
                                                         Clock const& clock);

}  // namespace torchwatch::setup
