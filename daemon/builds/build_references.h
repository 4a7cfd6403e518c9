#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/builds/build_users.h"
#include "storage/store.h"

namespace torchwatch::builds {

/// The options that decide which builds are kept.
struct RetentionPolicy {
  std::filesystem::path folder;  ///< the directory of the builds, absolute
  config::BuildsOptions limits;
  bool has_anchors = true;  ///< benchmarks are compared with anchors
};

RetentionPolicy retention_policy_of(config::Options const& options);

/// Returns the companions that the builds in `folder` list, by name of the build. Reads the disk.
std::map<std::string, std::vector<std::string>> companions_in(std::filesystem::path const& folder);

/// Reads the records that refer to builds. An incident keeps both its builds until a user accepts
/// it or rules that it is a false alarm, and for `incident_days` at most. While it is unfinished,
/// it keeps the last good builds of its series. Throws what the store throws.
BuildReferences read_references(storage::Store& store,
                                RetentionPolicy const& policy,
                                Timestamp now);

/// A build and its users.
struct BuildWithUsers {
  KeptBuild build;
  std::vector<std::string> users;  ///< empty: it may be removed
};

/// Returns the kept builds, the most recently measured first. Throws what the store throws.
std::vector<BuildWithUsers> builds_with_users(storage::Store& store,
                                              RetentionPolicy const& policy,
                                              Timestamp now);

}  // namespace torchwatch::builds
