#pragma once

#include <string>
#include <vector>

#include "config/options.h"
#include "storage/base/clock.h"
#include "storage/domain/build.h"

namespace torchwatch::feed {

/// Returns the reason why a feed whose newest nightly is of `date` is stale at `now`, for people:
/// "the newest nightly is of 2026-04-07, 230 days ago, ...". Empty when it is not. `newer`:
/// Found::newer. Pure.
std::string why_stale(config::FeedOptions const& feed,
                      std::string const& date,
                      std::string const& newer,
                      Timestamp now);

/// Returns the reason, for people, why nothing that a feed has `found` can be judged. The feed has
/// no nightly, or none as new as the newest known, for example after a switch to another feed.
/// Empty when it has one. `known`: the last nightlies, in their order. Pure.
std::string why_behind(config::FeedOptions const& feed,
                       std::vector<Nightly> const& found,
                       std::vector<Nightly> const& known);

/// Returns "; newer nightlies exist for cp312, feed.python is \"cp310\""; empty when `newer` is.
std::string text_about_newer(config::FeedOptions const& feed, std::string const& newer);

}  // namespace torchwatch::feed
