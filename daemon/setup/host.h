#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace torchwatch::setup {

/// The parts of a host that a first configuration needs.
struct Host {
  std::string name;
  int processors = 1;               ///< those that this process may run on
  int cores = 1;                    ///< the cores of these processors
  int sockets = 1;                  ///< the sockets of these processors
  int numa_nodes = 1;               ///< all of the host
  int memory_mib = 0;               ///< all of the host; 0: unknown
  std::vector<std::string> gpus{};  ///< models of NVIDIA GPUs; "GPU" if unknown
  /// The newest CUDA that the GPUs' driver runs, "13.0"; empty: unknown.
  std::string cuda{};
  bool has_cuda_toolkit = false;  ///< any version, with its headers
  bool has_slurm = false;
  bool has_docker = false;
};

/// The places where inspect_host() looks.
struct HostSources {
  std::filesystem::path root = "/";  ///< the parent of /proc, /sys, /dev and /usr
  std::string path;                  ///< PATH
};

/// Inspects this host. Fields that cannot be found out keep the defaults of `Host`; never fails.
/// Programs such as nvidia-smi have ten seconds.
boost::asio::awaitable<Host> inspect_host(boost::asio::any_io_executor executor,
                                          HostSources sources);

}  // namespace torchwatch::setup
