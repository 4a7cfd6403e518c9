#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/builds/workshop.h"
#include "daemon/builds/worktree.h"
#include "runner/process/child_process.h"
#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::builds {

/// Returns the layout that a recipe's contents name in a line such as "layout 1"; 0 without one.
int layout_in(std::string_view contents);

/// The end of a recipe. `how` has the exit status, the signal, or the reason of a kill in words.
struct RecipeRun {
  process::ExitStatus status;
  std::string how;
};

/// `source.recipe`, the program that builds a commit. deploy/recipes/README.md describes its
/// arguments and exit status.
class RecipeProgram {
 public:
  /// `workshop` must outlive it.
  RecipeProgram(boost::asio::any_io_executor executor, Workshop& workshop)
      : executor_{std::move(executor)},
        workshop_{workshop},
        source_{workshop.options().source} {}

  /// Returns the recipe's contents, one item per line: git's ID of the program's text, and the
  /// program's reply to `--dependencies`. Only the ID when it does not reply; empty when no recipe
  /// is configured. Runs in `directory`. A program that knows layouts adds a line for a `layout`
  /// that is not the usual one.
  ///
  /// Fails with unavailable when the program exceeds its time limit or is killed, with not_found
  /// when there is no such program.
  boost::asio::awaitable<Result<std::string>> contents(std::filesystem::path directory,
                                                       int layout) const;

  /// Builds the commit that `tree` has checked out into `prefix`, in a directory of its own, with
  /// the given layout. Stores the recipe's output in `log`. Kills a recipe that exceeds
  /// `source.timeout_s` or the output limit of a Watchdog.
  ///
  /// Fails with unavailable when this host cannot start it: no process, descriptor or memory is
  /// left, or it cannot make a sandbox.
  boost::asio::awaitable<Result<RecipeRun>> build(CommitSha commit,
                                                  Worktree const& tree,
                                                  std::filesystem::path prefix,
                                                  std::filesystem::path log,
                                                  int layout) const;

 private:
  boost::asio::any_io_executor executor_;
  Workshop& workshop_;
  config::SourceOptions const& source_;
};

}  // namespace torchwatch::builds
