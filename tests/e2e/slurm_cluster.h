#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/process.h"

namespace torchwatch::e2e {

/// A Slurm cluster on this machine: real slurmctld, slurmd and munged, only on loopback. Each node
/// has two GPUs, which are links to /dev/null. The cluster and its jobs end when this object is
/// destroyed.
class SlurmCluster {
 public:
  /// Starts the cluster and waits until all nodes are ready. Throws with the cluster's output when
  /// they are not.
  explicit SlurmCluster(std::filesystem::path directory, int nodes = 2);
  SlurmCluster(SlurmCluster const&) = delete;
  SlurmCluster& operator=(SlurmCluster const&) = delete;
  ~SlurmCluster();

  /// Returns the command prefix that starts each runner alone on a node.
  std::vector<std::string> launcher() const;

  /// Returns the command prefix that starts each runner on a GPU of its own, two on a node.
  std::vector<std::string> gpu_launcher() const;

  /// Returns the names of all nodes: "n1", "n2".
  std::vector<std::string> nodes() const;

  /// Returns the nodes with a running job: "n1", "n2".
  std::vector<std::string> busy_nodes();

  /// Kills a node's daemon and all processes it runs at once, as a power cut does.
  void crash(std::string const& node);

  /// Starts the daemon of a crashed node.
  void revive(std::string const& node);

  /// Sets the state of a node: "drain" lets its jobs end, "down" ends them at once, "resume" makes
  /// it available again. Errors are ignored.
  void set_state(std::string const& node, std::string const& state);

  /// Runs a job of two seconds on all of a node, which preempts the jobs there.
  void preempt(std::string const& node);

  /// Returns the IDs of the running jobs.
  std::vector<std::string> running_jobs();

  void cancel(std::string const& job);

  /// Puts a job back into the queue. Slurm refuses this for jobs of srun.
  void requeue(std::string const& job);

  /// Stops the controller and starts it again.
  void restart_controller();

  /// Returns the output of `squeue`: one line for each running, waiting or ending job.
  std::string queue();

  /// Stops the cluster before this object is destroyed.
  void stop();

 private:
  std::vector<std::string> words_of(std::vector<std::string> argv);
  Finished run(std::vector<std::string> argv);
  void control(std::vector<std::string> arguments);

  std::filesystem::path directory_;
  int nodes_;
  int outputs_ = 0;
  bool runs_ = false;
};

}  // namespace torchwatch::e2e
