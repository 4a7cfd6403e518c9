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

/// The layout that a recipe's contents are of: what a line "layout 1" says; 0 where there is none.
int layout_in(std::string_view contents);

/// How a recipe ended, and the same in words: its exit status, its signal, or why it was killed.
struct RecipeRun {
  process::ExitStatus status;
  std::string how;
};

/// `source.recipe`, the program that builds a commit. What it is given and what its exit status
/// means: deploy/recipes/README.md.
class RecipeProgram {
 public:
  /// `workshop` must outlive it.
  RecipeProgram(boost::asio::any_io_executor executor, Workshop& workshop)
      : executor_{std::move(executor)},
        workshop_{workshop},
        source_{workshop.options().source} {}

  /// What it is now, a line each: the id that git gives the program's text, and what the program
  /// answers to `--dependencies`. Nothing more than the id where it gives no answer; empty when no
  /// recipe is configured. Runs in `directory`. Asked for another `layout` than the usual, a
  /// program that knows layouts says so in a line. Fails with unavailable when it takes too long or
  /// is killed, with not_found when there is no such program.
  boost::asio::awaitable<Result<std::string>> contents(std::filesystem::path directory,
                                                       int layout) const;

  /// Builds the commit that `tree` has checked out into `prefix`, in a directory of its own, with
  /// that layout, and keeps what the recipe prints in `log`. One that takes longer than
  /// `source.timeout_s`, or prints more than a Watchdog allows, is killed. Fails with unavailable
  /// when this host cannot start it: no process, descriptor or memory is left, or no sandbox can be
  /// made.
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
