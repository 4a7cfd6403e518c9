#pragma once

#include <vector>

#include "storage/domain/build.h"
#include "storage/nightlies.h"

namespace torchwatch::feed {

/// Returns the known nightlies that `found` is compared with, in their order: those of its dates
/// and later, and at least the last week.
std::vector<Nightly> known_near(std::vector<Nightly> const& found,
                                storage::Nightlies const& nightlies);

/// Returns the new nightlies of a feed that has `found`, oldest first. Pure.
///
/// If no nightly is known, returns the newest `backlog`. Otherwise returns those at least as new as
/// the newest known one, and late ones: dates that were missing in the last known week. Older ones
/// are history. Nothing of `known`, which is in the order of nightlies, is returned again. Date and
/// version identify a published file, at any address. Only other contents under the same name, an
/// edition, are new.
std::vector<Nightly> news_in(std::vector<Nightly> found,
                             std::vector<Nightly> const& known,
                             int backlog);

/// Returns the nightlies of `known` that have moved, with their new place: a build in another
/// directory, or a file at another address. A file that was not downloaded yet may also have
/// another digest or Python. Pure.
std::vector<Nightly> moved_in(std::vector<Nightly> const& found, std::vector<Nightly> const& known);

}  // namespace torchwatch::feed
