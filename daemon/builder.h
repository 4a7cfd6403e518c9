#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "runner/child_process.h"
#include "storage/domain/build.h"
#include "storage/domain/result.h"
#include "storage/store.h"

namespace torchwatch {

/// What building a commit came to.
struct BuildAttempt {
  std::optional<Build> build;  ///< absent: this commit cannot be tested
  std::string note;            ///< why not
};

/// Turns commits into builds through the recipe, and keeps them under `state_dir/builds/SHA`. A
/// build appears there complete or not at all. Single-threaded; one build at a time.
class Builder {
 public:
  /// `source` and `store` must outlive it. Removes what a killed predecessor left half-made.
  Builder(boost::asio::any_io_executor executor,
          config::SourceOptions const& source,
          std::filesystem::path state_dir,
          storage::Store& store,
          Clock const& clock);

  /// The build of `commit`: the one that is there, or a new one. The recipe's exit statuses are
  /// those of `git bisect run`: 0 built; 125 never buildable, which is remembered; 1-124, 126, 127
  /// or a time-out failed this time; above 127 or a signal is an Error, because going on would be
  /// wrong. The log is kept in `state_dir/logs/build-SHA.log`.
  boost::asio::awaitable<Result<BuildAttempt>> build(CommitSha commit);

 private:
  boost::asio::awaitable<Result<runner::ExitStatus>> run_recipe(CommitSha const& commit,
                                                                std::filesystem::path const& work,
                                                                std::filesystem::path const& log);
  Result<BuildAttempt> keep(CommitSha const& commit, std::filesystem::path const& made);
  BuildAttempt give_up(CommitSha const& commit, std::string note, bool forever);

  boost::asio::any_io_executor executor_;
  config::SourceOptions const& source_;
  std::filesystem::path state_dir_;
  storage::Store& store_;
  Clock const& clock_;
};

}  // namespace torchwatch
