#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/builds/builder.h"
#include "daemon/builds/disk_budget.h"
#include "storage/store.h"

namespace torchwatch::fakes {

/// A builder whose builds are directories with build.json and one library. It makes them at once
/// and stores them like real ones. It requests disk space like RecipeBuilder.
class FakeBuilder final : public builds::Builder {
 public:
  /// `folder` is for the builds. The other arguments must outlive this object.
  FakeBuilder(storage::Store& store,
              Clock const& clock,
              builds::DiskBudget& budget,
              std::filesystem::path folder)
      : store_{store},
        clock_{clock},
        budget_{budget},
        folder_{std::move(folder)} {}

  boost::asio::awaitable<Result<Recipe>> recipe(int layout) override;
  boost::asio::awaitable<Result<builds::BuildAttempt>> build(CommitSha commit,
                                                             RecipeId recipe,
                                                             builds::From from) override;
  boost::asio::awaitable<Result<builds::BuildAttempt>> build_without(CommitSha culprit,
                                                                     CommitSha onto,
                                                                     RecipeId recipe) override;
  builds::Known known(CommitSha const& commit, RecipeId recipe) const override;

  bool is_warm() const override { return false; }

  /// Unbuildable commits.
  std::set<CommitSha> broken;
  /// The reason that is stored for them.
  std::string why_broken = "recipe: exit status 125";
  /// Commits whose build fails each time, with a failure that may be temporary.
  std::set<CommitSha> fails_now;
  /// The number of times that the next builds of a commit fail.
  std::map<CommitSha, int> failures_left;
  /// The reason why the host can start no recipe: no process, descriptor or memory is left. It does
  /// not make a commit unbuildable.
  std::optional<Error> host_failure;
  /// The contents of the recipe. Changing them changes the recipe.
  std::string contents = "recipe 1\n";
  /// True when the recipe supports layouts.
  bool has_layouts = false;
  /// True when builds with other layouts than the usual one are unbuildable.
  bool breaks_other_layouts = false;
  /// True when the recipe's contents do not name a layout other than the usual one.
  bool forgets_layouts = false;
  /// Commits that have artifacts.
  std::set<CommitSha> artifacts;
  /// Size of the library of each build, a sparse file.
  std::int64_t bytes = 0;
  /// True when `git revert` applies.
  bool reverts_apply = true;

  /// A revert of `culprit` on top of `onto`.
  struct Revert {
    CommitSha culprit;
    CommitSha onto;
  };

  /// Reverts, by the commits that they create.
  std::map<CommitSha, Revert> reverted;
  /// Seconds that a build takes.
  double seconds = 30;
  /// Called before each build is made; may throw.
  std::function<void(CommitSha const&)> before = [](CommitSha const&) {
  };
  /// The commits that were built, in order.
  std::vector<CommitSha> made;
  /// The commits that were requested, in order.
  std::vector<CommitSha> tried;

  /// Makes a prefix with build.json, as in a directory of nightlies. Returns its build.
  static Build deliver(std::filesystem::path const& prefix,
                       CommitSha const& commit,
                       std::string const& date = "");

 private:
  bool is_broken(CommitSha const& commit, RecipeId recipe) const;
  bool fails_this_time(CommitSha const& commit);
  Result<builds::BuildAttempt> get(CommitSha const& commit, RecipeId recipe);
  builds::BuildAttempt make(CommitSha const& commit, RecipeId recipe);

  storage::Store& store_;
  Clock const& clock_;
  builds::DiskBudget& budget_;
  std::filesystem::path folder_;
};

}  // namespace torchwatch::fakes
