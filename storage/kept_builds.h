#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/domain/kept_build.h"

namespace torchwatch::storage {

class Database;

/// The builds in the service's own directory, as last seen there. Throws SQLite::Exception when the
/// disk fails.
class KeptBuilds {
 public:
  explicit KeptBuilds(Database& database) : database_{database} {}

  /// Returns all builds, ordered by name.
  std::vector<KeptBuild> all() const;
  std::optional<KeptBuild> find(std::string const& name) const;

  /// Stores a build without its pin. A stored pin stays.
  void record(KeptBuild const& build);

  /// Replaces or removes the pin of a build. Returns false when there is no such build.
  bool pin(std::string const& name, std::optional<Pin> const& pin);

  /// Removes the record of a build that is no longer on disk.
  void remove(std::string const& name);

  /// Stores that a user requested a nightly's build back. Replaces an earlier request for it.
  void want(WantedBuild const& wanted);
  /// Returns the requested builds, ordered by the nightlies' ids.
  std::vector<WantedBuild> wanted() const;
  /// Deletes the request. Call it when the build is available, or will never be.
  void want_no_more(NightlyId nightly);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
