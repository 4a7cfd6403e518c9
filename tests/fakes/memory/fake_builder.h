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

/// Builds that are nothing but a directory with build.json, made at once and remembered like real
/// ones. Asks the disk budget as RecipeBuilder does.
class FakeBuilder final : public builds::Builder {
 public:
  /// All but `folder` must outlive it. `folder`: for the builds.
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

  /// Commits that cannot be built, and what is said of them.
  std::set<CommitSha> broken;
  std::string why_broken = "recipe: exit status 125";
  /// Commits whose build fails each time, which says nothing of the next.
  std::set<CommitSha> fails_now;
  /// How often more the build of a commit fails.
  std::map<CommitSha, int> failures_left;
  /// What keeps every recipe from being started: no process, descriptor or memory is left. Says
  /// nothing of a commit.
  std::optional<Error> host_failure;
  /// What the recipe is made of; changing it changes the recipe.
  std::string contents = "recipe 1\n";
  /// Whether the recipe knows layouts.
  bool has_layouts = false;
  /// Whether what is made with another layout than the usual cannot be built.
  bool breaks_other_layouts = false;
  /// Of another layout the recipe cannot tell its contents.
  bool forgets_layouts = false;
  /// Commits that somebody else built, with the recipe of artifacts.
  std::set<CommitSha> artifacts;
  /// Of the largest library of what is made, which is one hole.
  std::int64_t bytes = 0;
  /// Whether `git revert` applies.
  bool reverts_apply = true;

  /// A commit that was taken back on another one.
  struct Revert {
    CommitSha culprit;
    CommitSha onto;
  };

  /// Reverts, by the commits that they are.
  std::map<CommitSha, Revert> reverted;
  /// What a build takes.
  double seconds = 30;
  /// Called before each build is made; may throw.
  std::function<void(CommitSha const&)> before = [](CommitSha const&) {
  };
  /// What was made, in this order.
  std::vector<CommitSha> made;
  /// What was asked for.
  std::vector<CommitSha> tried;

  /// Makes a prefix, as somebody who delivers nightlies does.
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
