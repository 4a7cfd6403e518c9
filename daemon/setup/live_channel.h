#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/builds/fetcher.h"
#include "storage/base/clock.h"
#include "storage/base/result.h"

namespace torchwatch::setup {

/// The channels that a driver for CUDA `version` ("13.0") may run, whether published or not: of its
/// own CUDA first, then of older ones, as far as the major version before. None of another text.
std::vector<std::string> channels_for(std::string const& version);

/// The first of channels_for(`cuda`) that the index of `feed` has, with a nightly of the last
/// `feed.stale_days` (of ten, where that is 0). Fails with not_found when there is none, with
/// unavailable when the index does not answer; both in one line. All arguments that are references
/// must outlive it.
boost::asio::awaitable<Result<std::string>> live_channel(builds::Fetcher& fetcher,
                                                         config::FeedOptions feed,
                                                         std::string cuda,
                                                         Clock const& clock);

}  // namespace torchwatch::setup
