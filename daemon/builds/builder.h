#pragma once

#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::builds {

/// The result of building a commit.
struct BuildAttempt {
  std::optional<Build> build;  ///< absent: this commit cannot be tested
  std::string note;            ///< why not

  /// The cost of making the build.
  struct Cost {
    double seconds = 0;           ///< 0: the build existed
    bool is_incremental = false;  ///< made in a worktree that built before
  };

  Cost cost{};
  RecipeId recipe{};  ///< its recipe: ours, or that of `source.artifacts`
  /// True when another attempt may succeed: the recipe ended with 1, or git could not check the
  /// commit out.
  bool may_pass = false;
};

/// The state of a commit's build before it is requested.
enum class Known { built, unbuildable, nothing };

/// The sources of a build.
enum class From {
  anywhere,  ///< `source.artifacts` first, then the recipe
  source,    ///< the recipe alone
};

/// Turns commits into builds. A build belongs to one commit and one recipe. Single-threaded. An
/// interface, because other people's programs make the builds.
class Builder {
 public:
  virtual ~Builder() = default;

  /// Returns the current recipe. Builds that are compared must share one recipe, so a caller
  /// requests it once for all of them. `layout` selects a variant that changes only the speed of a
  /// build: link order, padding, environment. 0 is the usual layout. Each layout is a recipe of its
  /// own, unless the program knows no layouts.
  virtual boost::asio::awaitable<Result<Recipe>> recipe(int layout = 0) = 0;

  /// Returns the build of `commit` by `recipe`: an existing one, one from `source.artifacts`, or a
  /// new one. Fails with unavailable when the current recipe is another one, and when it would be
  /// wrong to continue.
  virtual boost::asio::awaitable<Result<BuildAttempt>> build(CommitSha commit,
                                                             RecipeId recipe,
                                                             From from) = 0;

  /// Returns the build of `onto` without `culprit`. Its commit exists only for this pair. Its
  /// `build` is also absent when `git revert` would have conflicts.
  virtual boost::asio::awaitable<Result<BuildAttempt>> build_without(CommitSha culprit,
                                                                     CommitSha onto,
                                                                     RecipeId recipe) = 0;

  /// Returns what build() would find without making anything. Reads the disk.
  virtual Known known(CommitSha const& commit, RecipeId recipe) const = 0;

  /// True when the next build will probably be an incremental one.
  virtual bool is_warm() const = 0;
};

}  // namespace torchwatch::builds
