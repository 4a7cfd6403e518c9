#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/artifacts.h"
#include "daemon/async/turnstile.h"
#include "daemon/recipe_program.h"
#include "daemon/worktrees.h"
#include "storage/domain/build.h"
#include "storage/domain/result.h"
#include "storage/store.h"

namespace torchwatch {

/// What building a commit came to.
struct BuildAttempt {
  std::optional<Build> build;  ///< absent: this commit cannot be tested
  std::string note;            ///< why not

  /// What it took to make it.
  struct Cost {
    double seconds = 0;           ///< 0: it was there
    bool is_incremental = false;  ///< made where another was made before
  };

  Cost cost{};
  RecipeId recipe{};  ///< by which it was made: ours, or that of `source.artifacts`
};

/// What is known of a commit's build before it is asked for.
enum class Known { built, unbuildable, nothing };

/// Turns commits into builds through the recipe, and keeps them under `state_dir/builds`, one a
/// commit and recipe. A build appears there complete or not at all. Single-threaded;
/// `source.builds` recipes at a time, of different commits, each in a worktree of its own under
/// `state_dir/worktrees`.
class Builder {
 public:
  /// Where a build may come from.
  enum class From {
    anywhere,  ///< `source.artifacts` first, then the recipe
    source,    ///< the recipe alone
  };

  /// `source` and `store` must outlive it. Removes what a killed predecessor left half-made.
  Builder(boost::asio::any_io_executor executor,
          config::SourceOptions const& source,
          std::filesystem::path state_dir,
          storage::Store& store,
          Clock const& clock);

  /// The recipe as it is now. Builds are of one commit and one recipe, so whoever compares several
  /// asks once.
  boost::asio::awaitable<Result<Recipe>> recipe();

  /// The build of `commit` by `recipe`: the one that is there, one that `source.artifacts` has
  /// ready, or a new one. Fails with unavailable when the recipe is another one by now. Its exit
  /// statuses are those of `git bisect run`: 0 built; 125 never buildable, which is remembered;
  /// 1-124, 126, 127, a signal or a time-out failed this time; above 127 is an Error, because going
  /// on would be wrong. The log is kept in `state_dir/logs/build-SHA.log`.
  boost::asio::awaitable<Result<BuildAttempt>> build(CommitSha commit,
                                                     RecipeId recipe,
                                                     From from = From::anywhere);

  /// The build of `onto` with `culprit` taken back, under a commit that only these two make. Absent
  /// also when `git revert` would have conflicts.
  boost::asio::awaitable<Result<BuildAttempt>> build_without(CommitSha culprit,
                                                             CommitSha onto,
                                                             RecipeId recipe);

  Known known(CommitSha const& commit, RecipeId recipe) const;

  /// Whether the next build will probably be an incremental one.
  bool is_warm() const { return worktrees_.is_warm(); }

 private:
  class Making;

  /// What is to be built.
  struct Order {
    Origin origin;
    RecipeId recipe;
    From from = From::anywhere;
  };

  boost::asio::awaitable<Result<BuildAttempt>> get(Order order);
  std::optional<BuildAttempt> recall(CommitSha const& commit, RecipeId recipe, From from) const;
  std::optional<BuildAttempt> recall_kept(CommitSha const& commit, RecipeId recipe) const;
  boost::asio::awaitable<Result<BuildAttempt>> make(Order order);
  boost::asio::awaitable<Result<BuildAttempt>> make_in(std::filesystem::path work, Order order);
  boost::asio::awaitable<Result<std::optional<std::filesystem::path>>> fetch(
      CommitSha const& commit, std::filesystem::path const& work);
  boost::asio::awaitable<Result<Recipe>> expect(RecipeId recipe);
  std::filesystem::path scratch_for(std::string const& what) const;
  Result<BuildAttempt> keep(CommitSha const& commit,
                            RecipeId recipe,
                            std::filesystem::path const& made,
                            BuildAttempt::Cost cost);
  BuildAttempt give_up(CommitSha const& commit, RecipeId recipe, std::string note, bool forever);

  boost::asio::any_io_executor executor_;
  config::SourceOptions const& source_;
  std::filesystem::path state_dir_;
  storage::Store& store_;
  Clock const& clock_;
  Turnstile gate_;  // one place a recipe
  Worktrees worktrees_;
  Artifacts artifacts_;
  RecipeId artifacts_recipe_;  // 0: there are none
  RecipeProgram program_;
  // One place each: whoever comes second waits.
  std::map<CommitSha, std::shared_ptr<Turnstile>> in_making_;
};

}  // namespace torchwatch
