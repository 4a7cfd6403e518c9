#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/process.h"

namespace torchwatch::e2e {

/// A Slurm cluster of two nodes on this machine: real slurmctld, slurmd and munged, only on
/// loopback. The cluster and its jobs end when this object is destroyed.
class SlurmCluster {
 public:
  /// Starts the cluster and waits until both nodes are ready. Throws with the cluster's output when
  /// they are not.
  explicit SlurmCluster(std::filesystem::path directory);
  SlurmCluster(SlurmCluster const&) = delete;
  SlurmCluster& operator=(SlurmCluster const&) = delete;
  ~SlurmCluster();

  /// Returns the command prefix that starts each runner alone on a node.
  std::vector<std::string> launcher() const;

  /// Returns the nodes with a running job: "n1", "n2".
  std::vector<std::string> busy_nodes();

  /// Kills a node's daemon and all processes it runs at once, as a power cut does.
  void crash(std::string const& node);

  /// Returns the output of `squeue`: one line for each running, waiting or ending job.
  std::string queue();

  /// Stops the cluster before this object is destroyed.
  void stop();

 private:
  Finished run(std::vector<std::string> argv);
  void control(std::vector<std::string> arguments);

  std::filesystem::path directory_;
  int outputs_ = 0;
  bool runs_ = false;
};

}  // namespace torchwatch::e2e
