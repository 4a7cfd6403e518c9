#pragma once

#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::builds {

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
  /// It failed this time, and another attempt may build it: the recipe ended with 1, or the commit
  /// was not checked out.
  bool may_pass = false;
};

/// What is known of a commit's build before it is asked for.
enum class Known { built, unbuildable, nothing };

/// Where a build may come from.
enum class From {
  anywhere,  ///< `source.artifacts` first, then the recipe
  source,    ///< the recipe alone
};

/// Turns commits into builds. A build is of a commit and a recipe. Single-threaded. An interface,
/// because what makes builds are other people's programs.
class Builder {
 public:
  virtual ~Builder() = default;

  /// The recipe as it is now. Builds are of one commit and one recipe, so whoever compares several
  /// asks once. `layout`: what does not change what a build computes, and yet its pace: the order
  /// of links, padding, environment; 0 is the usual one. Each is a recipe of its own, but a program
  /// that knows none is the same recipe for all.
  virtual boost::asio::awaitable<Result<Recipe>> recipe(int layout = 0) = 0;

  /// The build of `commit` by `recipe`: the one that is there, one that `source.artifacts` has
  /// ready, or a new one. Fails with unavailable when the recipe is another one by now, and when
  /// going on would be wrong.
  virtual boost::asio::awaitable<Result<BuildAttempt>> build(CommitSha commit,
                                                             RecipeId recipe,
                                                             From from) = 0;

  /// The build of `onto` with `culprit` taken back, under a commit that only these two make. Absent
  /// also when `git revert` would have conflicts.
  virtual boost::asio::awaitable<Result<BuildAttempt>> build_without(CommitSha culprit,
                                                                     CommitSha onto,
                                                                     RecipeId recipe) = 0;

  /// What build() would find ready. Reads the disk.
  virtual Known known(CommitSha const& commit, RecipeId recipe) const = 0;

  /// Whether the next build will probably be an incremental one.
  virtual bool is_warm() const = 0;
};

}  // namespace torchwatch::builds
