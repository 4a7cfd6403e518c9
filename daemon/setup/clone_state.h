#pragma once

#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "storage/base/result.h"

/// The contents of a clone, and what it fetches, by its settings.
namespace torchwatch::setup {

struct CloneState {
  bool is_bare = false;
  bool is_shallow = false;
  bool is_partial = false;              ///< a remote promised the files that the clone lacks
  std::vector<std::string> filtered{};  ///< remotes whose fetches leave files out
  std::string remote{};  ///< to fetch from: source.remote, else origin, else any; empty: none
  std::vector<std::string> refspecs{};  ///< the configured ones of `remote`
};

/// Reads the state of `source.repository`, with git. `source` must outlive it. Fails with refused
/// where the clone belongs to another user, and names the command that makes git trust it. Fails
/// with unavailable and git's message where git does not open it.
boost::asio::awaitable<Result<CloneState>> read_clone_state(boost::asio::any_io_executor executor,
                                                            config::SourceOptions const& source);

/// Returns the reasons why a clone lacks commits or files that bisections need: "is shallow: ...".
/// Without a recipe no files are needed.
std::vector<std::string> faults_of(CloneState const& state, config::SourceOptions const& source);

/// Returns a shell command that fetches what a clone lacks, and makes later fetches complete. It
/// uses PyTorch's repository where the clone has no remote.
std::string completing_command(CloneState const& state, std::string const& repository);

/// Returns shell commands that fetch from PyTorch's repository instead of a fork.
std::string upstream_command(CloneState const& state, config::SourceOptions const& source);

/// Returns a shell command that replaces a clone beyond repair by a clone of PyTorch's repository.
/// The old clone stays as REPOSITORY.old.
std::string fresh_clone_command(config::SourceOptions const& source);

}  // namespace torchwatch::setup
