#pragma once

#include <string>

#include "config/options.h"
#include "storage/base/clock.h"

namespace torchwatch::feed {

/// Why a feed whose newest nightly is of `date` counts as dead `now`, for people: "the newest
/// nightly is of 2026-04-07, 230 days ago, ...". Empty when it does not. `newer`: Found::newer.
/// Pure.
std::string why_stale(config::FeedOptions const& feed,
                      std::string const& date,
                      std::string const& newer,
                      Timestamp now);

/// "; newer nightlies exist for cp312, feed.python is \"cp310\""; empty where `newer` is.
std::string told_of_newer(config::FeedOptions const& feed, std::string const& newer);

}  // namespace torchwatch::feed
