#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace torchwatch::setup {

/// What is on a host, as far as a first configuration needs to know.
struct Host {
  std::string name;
  int processors = 1;               ///< that we may run on
  int cores = 1;                    ///< that they belong to
  int sockets = 1;                  ///< likewise
  int numa_nodes = 1;               ///< of the whole host
  int memory_mib = 0;               ///< of the whole host; 0: not told
  std::vector<std::string> gpus{};  ///< NVIDIA's, by model; one whose model is not told is "GPU"
  /// The newest CUDA that the GPUs' driver runs, "13.0"; empty: not told.
  std::string cuda{};
  bool has_cuda_toolkit = false;  ///< of any version, with its headers
  bool has_slurm = false;
  bool has_docker = false;
};

/// Where to look.
struct HostSources {
  std::filesystem::path root = "/";  ///< of /proc, /sys, /dev and /usr
  std::string path;                  ///< PATH
};

/// Looks at this host. What cannot be found out is as `Host` has it; never fails. Programs that are
/// asked (nvidia-smi) have ten seconds.
boost::asio::awaitable<Host> inspect_host(boost::asio::any_io_executor executor,
                                          HostSources sources);

}  // namespace torchwatch::setup
