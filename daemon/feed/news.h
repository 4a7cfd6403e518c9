#pragma once

#include <vector>

#include "storage/domain/build.h"

namespace torchwatch::feed {

/// What is to be announced of what a feed has `found`, oldest first. Pure.
///
/// Where no nightly is known, the newest `backlog`. Otherwise what is as new as the newest known or
/// newer, and the late ones: days that were missing among the last known week. Older ones are
/// history. Of `known`, which is in the order of nightlies, nothing comes again, but for a file
/// that was published again.
std::vector<Nightly> news_in(std::vector<Nightly> found,
                             std::vector<Nightly> const& known,
                             int backlog);

}  // namespace torchwatch::feed
