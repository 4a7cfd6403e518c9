#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/process.h"

namespace torchwatch::e2e {

/// A Slurm of two nodes on this machine: real slurmctld, slurmd and munged, on loopback alone. Ends
/// with this object, and all its jobs with it.
class SlurmCluster {
 public:
  /// Waits until both nodes are ready. Throws with what the cluster said when they are not.
  explicit SlurmCluster(std::filesystem::path directory);
  SlurmCluster(SlurmCluster const&) = delete;
  SlurmCluster& operator=(SlurmCluster const&) = delete;
  ~SlurmCluster();

  /// The prefix that starts a runner on a node of its own.
  std::vector<std::string> launcher() const;

  /// The nodes that have a job now: "n1", "n2".
  std::vector<std::string> busy_nodes();

  /// As a power cut: the node's daemon and everything it runs are gone at once.
  void crash(std::string const& node);

  /// What `squeue` shows: running, waiting and ending jobs, a line each.
  std::string queue();

  /// Ends it before this object goes.
  void stop();

 private:
  Finished run(std::vector<std::string> argv);
  void control(std::vector<std::string> arguments);

  std::filesystem::path directory_;
  int outputs_ = 0;
  bool runs_ = false;
};

}  // namespace torchwatch::e2e
