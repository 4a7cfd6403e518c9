#include "tests/e2e/slurm_cluster.h"

#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace torchwatch::e2e {

SlurmCluster::SlurmCluster(std::filesystem::path directory, int nodes)
    : directory_{std::move(directory)},
      nodes_{nodes} {
  std::filesystem::create_directories(directory_);
  try {
    control({"start"});
  } catch (...) {
    stop();  // the daemons that did start
    throw;
  }
}

SlurmCluster::~SlurmCluster() {
  try {
    stop();
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
  }
}

std::vector<std::string> SlurmCluster::launcher() const {
  return {"env",
          "SLURM_CONF=" + (directory_ / "slurm.conf").string(),
          "srun",
          "--nodes=1",
          "--exclusive",
          "--time=10"};
}

std::vector<std::string> SlurmCluster::gpu_launcher() const {
  return {"env",
          "SLURM_CONF=" + (directory_ / "slurm.conf").string(),
          "srun",
          "--ntasks=1",
          "--gres=gpu:1",
          "--time=10"};
}

std::vector<std::string> SlurmCluster::nodes() const {
  std::vector<std::string> names;
  for (int node = 1; node <= nodes_; ++node)
    names.push_back("n" + std::to_string(node));
  return names;
}

std::vector<std::string> SlurmCluster::busy_nodes() {
  return words_of({"squeue", "--noheader", "--states=running", "--format=%N"});
}

std::vector<std::string> SlurmCluster::running_jobs() {
  return words_of({"squeue", "--noheader", "--states=running", "--format=%A"});
}

std::vector<std::string> SlurmCluster::words_of(std::vector<std::string> argv) {
  std::istringstream lines{run(std::move(argv)).out};
  std::vector<std::string> words;
  for (std::string word; lines >> word;)
    words.push_back(std::move(word));
  return words;
}

void SlurmCluster::crash(std::string const& node) {
  control({"crash", node});
}

void SlurmCluster::revive(std::string const& node) {
  control({"revive", node});
}

void SlurmCluster::set_state(std::string const& node, std::string const& state) {
  run({"scontrol", "update", "NodeName=" + node, "State=" + state, "Reason=test"});
}

void SlurmCluster::preempt(std::string const& node) {
  run({"sbatch",
       "--partition=urgent",
       "--exclusive",
       "--nodelist=" + node,
       "--output=/dev/null",
       "--chdir=/tmp",
       "--wrap=sleep 2"});
}

void SlurmCluster::cancel(std::string const& job) {
  run({"scancel", job});
}

void SlurmCluster::requeue(std::string const& job) {
  run({"scontrol", "requeue", job});
}

void SlurmCluster::restart_controller() {
  control({"restart"});
}

std::string SlurmCluster::queue() {
  return run({"squeue", "--noheader"}).out;
}

void SlurmCluster::stop() {
  if (std::exchange(runs_, false)) control({"stop"});
}

Finished SlurmCluster::run(std::vector<std::string> argv) {
  process::Command command;
  command.argv = std::move(argv);
  command.env = {{"SLURM_CONF", (directory_ / "slurm.conf").string()},
                 {"NODES", std::to_string(nodes_)}};
  return Process{std::move(command), directory_ / ("command-" + std::to_string(++outputs_))}.wait();
}

/// Runs `slurm-cluster ACTION DIRECTORY [NODE]`.
void SlurmCluster::control(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SLURM_CLUSTER_PROGRAM);
  arguments.insert(arguments.begin() + 2, directory_.string());
  runs_ = true;
  auto const done = run(std::move(arguments));
  if (done.status != 0) throw std::runtime_error(done.err);
}

}  // namespace torchwatch::e2e
