#pragma once

#include "storage/domain/build.h"

namespace torchwatch::api {

/// Whether all that is to be known of a nightly is.
inline bool is_judged(Nightly const& nightly) {
  return nightly.state == NightlyState::bisected || nightly.state == NightlyState::done;
}

}  // namespace torchwatch::api
