#pragma once

#include <string>

#include "daemon/setup/host.h"

/// The configuration that somebody begins with, as a function of the host. Pure.
namespace torchwatch::setup {

/// What a first configuration is told besides the host.
struct FirstConfig {
  std::string state_dir = "state";
  std::string url;  ///< of a mirror of download.pytorch.org; empty: that itself
  /// The channel of nightlies for the GPU's driver, "cu130"; empty: none, for the reason in
  /// `no_channel`.
  std::string channel{};
  std::string no_channel{};
};

/// The text of a configuration file for `host`, JSON with comments. It watches the GPU where there
/// is one, a channel for its driver and a CUDA toolkit to compile workers with, else the CPU; what
/// else was found is in it as lines to uncomment.
std::string first_config(Host const& host, FirstConfig const& first);

/// "2 cores, 1 socket, 1 NUMA node, 24 GiB of memory; no GPU": one line, for people.
std::string description_of(Host const& host);

/// Threads of a benchmark on `host`: a quarter of a socket's cores, from one to four.
int threads_for(Host const& host);

}  // namespace torchwatch::setup
