#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/builds/disk_budget.h"
#include "daemon/builds/pruning.h"
#include "storage/store.h"

namespace torchwatch::builds {

/// The builds under `state_dir/builds`, and their companions: which exist, their sizes, when they
/// were last measured, and which must be removed. Blocks on the disk. Single-threaded; nothing else
/// happens between reading a build's users and removing it.
///
/// A removed build is first renamed to NAME.removed, which counts as its removal, and then deleted,
/// with its compile caches. The next call deletes what a killed removal left. Other entries with a
/// dot in their name are unfinished and left alone.
class BuildStore final : public DiskBudget {
 public:
  /// All arguments must outlive it.
  BuildStore(config::Options const& options, storage::Store& store, Clock const& clock)
      : options_{options},
        store_{store},
        clock_{clock} {}

  /// Records which builds exist now. Removes unused builds until one more, as large as the newest,
  /// fits. Logs each removal (`build_removed`).
  void make_space_for_another() override;

  /// Records which builds exist now. Removes unused builds until quota and free space are kept.
  /// Logs each removal (`build_removed`). Raises `builds_need_space` when builds in use exceed a
  /// limit, and clears it otherwise.
  void make_space() override;

  /// Does what make_space() does, and returns the removed builds.
  std::vector<Removal> prune();

  /// Records that the build at `prefix` is about to be measured, to the hour. Does nothing for a
  /// build in another directory.
  void use(std::string const& prefix);

  /// Returns the name of the build at `prefix`; empty when it is in another directory.
  std::string name_of(std::string const& prefix) const;

  /// Returns the directory of the build's compile caches, `state_dir/caches/NAME`. They are counted
  /// and deleted with the build. Those of a build in another directory are deleted a month after
  /// their last fill.
  std::string caches_of(Build const& build) const;

  /// Pins the build, or removes its pin. Fails with not_found when no build has this name.
  Result<KeptBuild> pin(std::string const& name, std::optional<Pin> pin);

  /// Removes a build without users. Fails with not_found, with refused, naming its users, and with
  /// unavailable when the disk does.
  Result<KeptBuild> remove(std::string const& name);

 private:
  std::vector<KeptBuild> refresh();
  Pruning remove_beyond(DiskSpace const& space, std::vector<KeptBuild> const& builds);
  KeptBuild record(std::string const& name, Timestamp made_at);
  void delete_half_work(std::set<std::string> const& names);
  void delete_orphaned_caches(std::set<std::string> const& builds);
  bool is_on_its_way(std::string const& name) const;
  Result<> take_away(KeptBuild const& build, std::string const& reason);

  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
};

}  // namespace torchwatch::builds
