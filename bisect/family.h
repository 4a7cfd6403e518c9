#pragma once

#include <cstddef>

#include "config/options.h"

namespace torchwatch::bisect {

/// Options under which `series` comparisons may be made in one night: with an `error` so small that
/// of all changes called, the share `options.false_discovery` at most is expected to be false,
/// however the series depend on each other.
///
/// A change is called at a stake of 1 / error against "no change". Such a stake is an e-value, and
/// the e-Benjamini-Hochberg procedure rejects every hypothesis whose e-value reaches series /
/// false_discovery, whatever the others' are (Wang and Ramdas 2022, False discovery rate control
/// with e-values). Series that were not compared count as e-values of zero. Up to 500 series the
/// default `error` is small enough by itself. `max_pairs` leaves room for the pairs that the
/// smaller error asks for.
config::DecideOptions for_family(config::DecideOptions options, std::size_t series);

}  // namespace torchwatch::bisect
