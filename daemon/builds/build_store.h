#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/builds/disk_budget.h"
#include "daemon/builds/pruning.h"
#include "storage/store.h"

namespace torchwatch::builds {

/// The builds under `state_dir/builds`, and their companions: which are there, their sizes, when
/// they were last measured, and which have to be removed. Blocks on the disk. Single-threaded;
/// nothing else happens between reading a build's users and removing it.
///
/// A build is renamed to NAME.removed, and is gone from then on; then it is deleted. What a killed
/// removal left is deleted by the next call. Other entries with a dot in their name are unfinished
/// and left alone.
class BuildStore final : public DiskBudget {
 public:
  /// All arguments must outlive it.
  BuildStore(config::Options const& options, storage::Store& store, Clock const& clock)
      : options_{options},
        store_{store},
        clock_{clock} {}

  /// Records which builds are there now, and removes unused ones until one as large as the newest
  /// fits as well. Logs each removal (`build_removed`).
  void make_space_for_another() override;

  /// Records which builds are there now, and removes unused ones until quota and free space are
  /// kept. Logs each removal (`build_removed`). Raises `builds_need_space` when what is in use
  /// takes too much, and clears it otherwise.
  void make_space() override;

  /// Does what make_space() does, and returns what it removed.
  std::vector<Removal> prune();

  /// Records that the build at `prefix` is about to be measured, to the hour. Does nothing for a
  /// build that lies elsewhere.
  void use(std::string const& prefix);

  /// The name of the build at `prefix`; empty when that lies elsewhere.
  std::string name_of(std::string const& prefix) const;

  /// Pins the build, or takes its pin away. Fails with not_found when no build has this name.
  Result<KeptBuild> pin(std::string const& name, std::optional<Pin> pin);

  /// Removes a build without users. Fails with not_found, with refused, naming its users, and with
  /// unavailable when the disk does.
  Result<KeptBuild> remove(std::string const& name);

 private:
  void refresh();
  Pruning remove_beyond(DiskSpace const& space);
  void record(std::string const& name, Timestamp made_at);
  void delete_half_work();
  bool is_on_its_way(std::string const& name) const;
  Result<> take_away(KeptBuild const& build, std::string const& reason);

  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
};

}  // namespace torchwatch::builds
