#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/base/clock.h"
#include "storage/base/ids.h"

namespace torchwatch {

/// A request by a user to keep a build.
struct Pin {
  std::string who;
  std::string why;
  Timestamp given_at{};
  friend bool operator==(Pin const&, Pin const&) = default;
};

/// A build or companion in the service's own directory, downloaded or built there.
struct KeptBuild {
  std::string name;        ///< name of its directory: "nightly-12", "SHA-RECIPE", "companion-..."
  std::int64_t bytes = 0;  ///< size of its files
  Timestamp made_at{};     ///< when it was first seen in the directory
  Timestamp used_at{};     ///< when it was last measured; `made_at` before that
  std::optional<Pin> pin;
  friend bool operator==(KeptBuild const&, KeptBuild const&) = default;
};

/// A nightly whose removed build a user requested back. The build is pinned when it is available.
struct WantedBuild {
  NightlyId nightly;
  Pin pin;
  friend bool operator==(WantedBuild const&, WantedBuild const&) = default;
};

}  // namespace torchwatch
