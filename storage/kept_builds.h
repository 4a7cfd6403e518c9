#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/domain/kept_build.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// The builds that lie in the service's own directory, as they were seen there last. Throws
/// SQLite::Exception when the disk fails.
class KeptBuilds {
 public:
  explicit KeptBuilds(SQLite::Database& database) : database_{database} {}

  /// By name.
  std::vector<KeptBuild> all() const;
  std::optional<KeptBuild> find(std::string const& name) const;

  /// Keeps all but the pin, which stays as it is.
  void record(KeptBuild const& build);

  /// Replaces the pin; nothing: takes it away. False, and nothing is changed, when there is no such
  /// build.
  bool pin(std::string const& name, std::optional<Pin> const& pin);

  /// Removes the record of a build that is no longer on disk.
  void remove(std::string const& name);

  /// Keeps who wants a nightly's build back; a later one takes an earlier one's place.
  void want(WantedBuild const& wanted);
  /// In the order of nightlies' ids.
  std::vector<WantedBuild> wanted() const;
  /// After it came, or cannot.
  void want_no_more(NightlyId nightly);

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
