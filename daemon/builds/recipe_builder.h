#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/async/semaphore.h"
#include "daemon/builds/artifacts.h"
#include "daemon/builds/builder.h"
#include "daemon/builds/disk_budget.h"
#include "daemon/builds/fetcher.h"
#include "daemon/builds/recipe.h"
#include "daemon/builds/worktree_pool.h"
#include "storage/store.h"

namespace torchwatch::builds {

/// Makes builds with the configured recipe, and keeps them under `state_dir/builds`, one per commit
/// and recipe. A build appears there complete or not at all. Up to `source.builds` recipes run at a
/// time, for different commits, each in its own worktree under `state_dir/worktrees`. The disk
/// budget is called before and after each build.
///
/// The recipe's exit statuses are those of `git bisect run`. 0: built. 125: permanently
/// unbuildable, which is stored. 1-124, 126, 127, a signal or a time-out: failed this time
/// (BuildAttempt::may_pass). Above 127: an Error, because it would be wrong to continue. The log is
/// `state_dir/logs/build-SHA.log`.
class RecipeBuilder final : public Builder {
 public:
  /// All but `executor` must outlive it. Removes unfinished builds of a killed predecessor.
  RecipeBuilder(boost::asio::any_io_executor executor,
                Workshop& workshop,
                Fetcher& fetcher,
                DiskBudget& budget,
                storage::Store& store,
                Clock const& clock);

  boost::asio::awaitable<Result<Recipe>> recipe(int layout) override;
  boost::asio::awaitable<Result<BuildAttempt>> build(CommitSha commit,
                                                     RecipeId recipe,
                                                     From from) override;
  boost::asio::awaitable<Result<BuildAttempt>> build_without(CommitSha culprit,
                                                             CommitSha onto,
                                                             RecipeId recipe) override;
  Known known(CommitSha const& commit, RecipeId recipe) const override;

  bool is_warm() const override { return worktrees_.is_warm(); }

 private:
  class Making;

  /// A request for a build.
  struct Request {
    Origin origin;
    RecipeId recipe;
    From from = From::anywhere;
  };

  /// The expected result of another attempt at a commit without a build.
  enum class Outlook {
    passing,  ///< a build
    none,     ///< the same failure
    never,    ///< the same failure, which is stored
  };

  boost::asio::awaitable<Result<BuildAttempt>> get(Request request);
  std::optional<BuildAttempt> recall(CommitSha const& commit, RecipeId recipe, From from) const;
  std::optional<BuildAttempt> recall_kept(CommitSha const& commit, RecipeId recipe) const;
  boost::asio::awaitable<Result<BuildAttempt>> make(Request request);
  boost::asio::awaitable<Result<BuildAttempt>> make_in(std::filesystem::path work, Request request);
  boost::asio::awaitable<Result<BuildAttempt>> run_recipe(std::filesystem::path work,
                                                          Request request);
  boost::asio::awaitable<Result<>> check_out(Worktree& tree, Origin origin);
  boost::asio::awaitable<Result<std::optional<std::filesystem::path>>> download(
      CommitSha const& commit, std::filesystem::path const& work);
  boost::asio::awaitable<Result<Recipe>> expect(RecipeId recipe);
  std::filesystem::path scratch_for(std::string const& what) const;
  boost::asio::awaitable<Result<BuildAttempt>> keep(CommitSha commit,
                                                    RecipeId recipe,
                                                    std::filesystem::path made,
                                                    BuildAttempt::Cost cost);
  static Outlook outlook_of(Error const& download);
  BuildAttempt give_up(CommitSha const& commit, RecipeId recipe, std::string note, Outlook outlook);

  boost::asio::any_io_executor executor_;
  config::SourceOptions const& source_;
  std::filesystem::path state_dir_;
  DiskBudget& budget_;
  storage::Store& store_;
  Clock const& clock_;
  async::Semaphore gate_;  // one place per recipe
  WorktreePool worktrees_;
  Artifacts artifacts_;
  RecipeId artifacts_recipe_;  // 0: there are none
  RecipeProgram program_;
  // One place per commit: the second request for a commit waits.
  std::map<CommitSha, std::shared_ptr<async::Semaphore>> in_making_;
};

}  // namespace torchwatch::builds
