#pragma once

#include <vector>

#include "storage/domain/build.h"

namespace torchwatch::feed {

/// What is to be announced of what a feed has `found`, oldest first. Pure.
///
/// Where no nightly is known, the newest `backlog`. Otherwise what is as new as the newest known or
/// newer, and the late ones: days that were missing among the last known week. Older ones are
/// history. Of `known`, which is in the order of nightlies, nothing comes again: a published file
/// is known by its date and version, wherever it lies. Only other contents under the same name are
/// an edition that is news.
std::vector<Nightly> news_in(std::vector<Nightly> found,
                             std::vector<Nightly> const& known,
                             int backlog);

/// Those of `known` that lie elsewhere by now, as they are from now on: a build in another
/// directory, a file at another address, and, where it was not downloaded yet, with another digest
/// or for another Python. Pure.
std::vector<Nightly> moved_in(std::vector<Nightly> const& found, std::vector<Nightly> const& known);

}  // namespace torchwatch::feed
