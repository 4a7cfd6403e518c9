#pragma once

#include <string>
#include <vector>

#include "config/options.h"
#include "storage/base/clock.h"
#include "storage/domain/build.h"

namespace torchwatch::feed {

/// Why a feed whose newest nightly is of `date` counts as dead `now`, for people: "the newest
/// nightly is of 2026-04-07, 230 days ago, ...". Empty when it does not. `newer`: Found::newer.
/// Pure.
std::string why_stale(config::FeedOptions const& feed,
                      std::string const& date,
                      std::string const& newer,
                      Timestamp now);

/// Why nothing of a feed that has `found` can be judged after `known`, which is every nightly so
/// far in the order of nightlies: it has none, or none as new as the newest known, as after a
/// switch to another feed. For people; empty when that is not so. Pure.
std::string why_behind(config::FeedOptions const& feed,
                       std::vector<Nightly> const& found,
                       std::vector<Nightly> const& known);

/// "; newer nightlies exist for cp312, feed.python is \"cp310\""; empty where `newer` is.
std::string told_of_newer(config::FeedOptions const& feed, std::string const& newer);

}  // namespace torchwatch::feed
