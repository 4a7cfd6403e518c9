#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/builds/holds.h"
#include "storage/store.h"

namespace torchwatch::builds {

/// What decides about keeping builds.
struct Keeping {
  std::filesystem::path folder;  ///< where they lie, absolute
  config::BuildsOptions limits;
  bool has_anchors = true;  ///< whether benchmarks are compared with any
};

Keeping keeping_of(config::Options const& options);

/// The companions of all builds in `folder`, by the builds' names, as the disk has them.
std::map<std::string, std::vector<std::string>> companions_in(std::filesystem::path const& folder);

/// What builds are needed for by what is stored. An incident is open until somebody accepts it or
/// calls it false, and for `incident_days` at most. Throws what the store throws.
Needs needs_of(storage::Store& store, Keeping const& keeping, Timestamp now);

/// A build, and who holds it.
struct HeldBuild {
  KeptBuild build;
  std::vector<std::string> holders;  ///< empty: nobody
};

/// What is kept, the one used last first. Throws what the store throws.
std::vector<HeldBuild> held_builds(storage::Store& store, Keeping const& keeping, Timestamp now);

}  // namespace torchwatch::builds
