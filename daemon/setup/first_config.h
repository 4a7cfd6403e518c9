#pragma once

#include <string>

#include "daemon/setup/host.h"

/// Returns the first configuration for a host. Pure.
namespace torchwatch::setup {

/// The inputs of a first configuration, in addition to the host.
struct FirstConfig {
  std::string state_dir = "state";
  std::string url;  ///< a mirror of download.pytorch.org; empty: no mirror
  /// The channel of nightlies for the GPU's driver, "cu130"; empty: none, for the reason in
  /// `no_channel`.
  std::string channel{};
  std::string no_channel{};
};

/// Returns the text of a configuration file for `host`, JSON with comments. It watches the GPU if
/// there is one, with a channel for its driver and a CUDA toolkit to compile workers. Otherwise it
/// watches the CPU. Other choices that fit the host are lines to uncomment.
std::string first_config(Host const& host, FirstConfig const& first);

/// Returns one line for people: "2 cores, 1 socket, 1 NUMA node, 24 GiB of memory; no GPU".
std::string description_of(Host const& host);

/// Returns the number of threads of a benchmark on `host`: a quarter of a socket's cores, from one
/// to four.
int threads_for(Host const& host);

}  // namespace torchwatch::setup
