#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/base/clock.h"
#include "storage/base/ids.h"

namespace torchwatch {

/// A person's word that a build stays.
struct Pin {
  std::string who;
  std::string why;
  Timestamp given_at{};
  friend bool operator==(Pin const&, Pin const&) = default;
};

/// A build that lies in the service's own directory, fetched or made, or a companion of some.
struct KeptBuild {
  std::string name;  ///< of its directory in there: "nightly-12", "SHA-RECIPE", "companion-..."
  std::int64_t bytes = 0;  ///< of its files
  Timestamp made_at{};     ///< when it was first seen there
  Timestamp used_at{};     ///< when it was last measured; when it was made, before that
  std::optional<Pin> pin;
  friend bool operator==(KeptBuild const&, KeptBuild const&) = default;
};

/// A nightly whose build somebody wants back. It is pinned when it is there.
struct WantedBuild {
  NightlyId nightly;
  Pin pin;
  friend bool operator==(WantedBuild const&, WantedBuild const&) = default;
};

}  // namespace torchwatch
