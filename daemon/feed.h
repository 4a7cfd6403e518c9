#pragma once

#include <vector>

#include "config/options.h"
#include "storage/domain/build.h"
#include "storage/domain/result.h"

namespace torchwatch {

/// The newest `feed.backlog` nightlies of the feed, oldest first, or all that are newer than
/// `newest_known` when that is not empty ("YYYY-MM-DD"). Reads the directory or the repository
/// afresh each time; blocks. A directory's entry without a readable build.json is passed over: it
/// may be in the middle of being copied.
Result<std::vector<Nightly>> look_for_nightlies(config::FeedOptions const& feed,
                                                std::string const& newest_known,
                                                Timestamp now);

}  // namespace torchwatch
