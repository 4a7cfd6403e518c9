#pragma once

#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "storage/base/result.h"

/// What a clone has and fetches, by its settings, and the git commands that complete it.
namespace torchwatch::setup {

struct CloneState {
  bool is_bare = false;
  bool is_shallow = false;
  bool is_partial = false;              ///< a remote promised what the clone leaves out
  std::vector<std::string> filtered{};  ///< the remotes of which every fetch leaves files out
  std::string remote{};  ///< to fetch from: source.remote, else origin, else any; empty: none
  std::vector<std::string> refspecs{};  ///< of `remote`, as configured
};

/// Reads the state of `source.repository`, with git. Fails with refused where it belongs to another
/// user, and names the command that has git trust it; with unavailable, in git's words, where git
/// does not open it. `source` must outlive it.
boost::asio::awaitable<Result<CloneState>> read_clone_state(boost::asio::any_io_executor executor,
                                                            config::SourceOptions const& source);

/// What keeps a clone from holding all commits and files that bisections need: "is shallow: ...".
/// Without a recipe no files are needed.
std::vector<std::string> faults_of(CloneState const& state, config::SourceOptions const& source);

/// A command for a shell that brings what a clone lacks of its remote, and has later fetches bring
/// all; from PyTorch's repository where the clone has no remote.
std::string completing_command(CloneState const& state, std::string const& repository);

/// Commands for a shell that fetch from PyTorch's repository instead of a fork.
std::string upstream_command(CloneState const& state, config::SourceOptions const& source);

/// A command for a shell that puts a clone of PyTorch's repository in the place of one that no
/// command mends. The old clone stays as REPOSITORY.old.
std::string fresh_clone_command(config::SourceOptions const& source);

}  // namespace torchwatch::setup
