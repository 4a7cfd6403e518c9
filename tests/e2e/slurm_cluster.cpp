#include "tests/e2e/slurm_cluster.h"

#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace torchwatch::e2e {

SlurmCluster::SlurmCluster(std::filesystem::path directory) : directory_{std::move(directory)} {
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

std::vector<std::string> SlurmCluster::busy_nodes() {
  std::istringstream lines{run({"squeue", "--noheader", "--states=running", "--format=%N"}).out};
  std::vector<std::string> nodes;
  for (std::string node; lines >> node;)
    nodes.push_back(std::move(node));
  return nodes;
}

void SlurmCluster::crash(std::string const& node) {
  control({"crash", node});
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
  command.env = {{"SLURM_CONF", (directory_ / "slurm.conf").string()}};
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
