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

/// The builds under `state_dir/builds`, and their companions: which are there, how large they are,
/// when they were used, and which have to go. Blocks on the disk. Single-threaded; between looking
/// at who holds a build and its removal nothing else happens.
///
/// A build is renamed to NAME.removed, which is when it is gone, and then deleted; what a killed
/// removal left is deleted by the next look. Whatever else has a dot in its name is somebody's half
/// work and left alone.
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

  /// Notes that the build at `prefix` is about to be measured. Those that lie elsewhere are
  /// nobody's business.
  void use(std::string const& prefix);

  /// The name of the build at `prefix`; empty when that lies elsewhere.
  std::string name_of(std::string const& prefix) const;

  /// Pins the build, or takes its pin away; not_found when there is none of this name.
  Result<KeptBuild> pin(std::string const& name, std::optional<Pin> pin);

  /// Removes a build that nobody holds: not_found, refused with who does, unavailable when the disk
  /// does not let it.
  Result<KeptBuild> remove(std::string const& name);

 private:
  void look();
  Pruning remove_beyond(Room const& room);
  void record(std::string const& name, Timestamp made_at);
  void delete_half_work();
  bool is_on_its_way(std::string const& name) const;
  Result<> take_away(KeptBuild const& build, std::string const& reason);

  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
};

}  // namespace torchwatch::builds
