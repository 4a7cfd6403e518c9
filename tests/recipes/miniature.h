#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/bisect/git_repository.h"
#include "tests/e2e/process.h"

namespace torchwatch::recipes {

/// A repository that stands in for PyTorch's, submodule and all, and what the service gives a
/// recipe to build its commits in. All of it is gone with the object.
class Miniature {
 public:
  Miniature();

  /// Writes a file and commits it.
  CommitSha commit(std::string const& file, std::string const& text) const;
  /// Commits what `from` becomes when it reads `to`. Throws when the file does not hold it.
  CommitSha replace(std::string const& file, std::string const& from, std::string const& to) const;
  /// Changes the submodule and pins the change.
  CommitSha move_submodule(std::string const& from, std::string const& to) const;
  CommitSha head() const;

  /// Checks the commit out and starts the recipe on it. The prefix is named `prefix_name`.
  e2e::Process start(CommitSha const& commit, std::string const& prefix_name = "prefix");
  /// Its end.
  e2e::Finished build(CommitSha const& commit, std::string const& prefix_name = "prefix");

  /// What the recipe says that it builds with.
  e2e::Finished dependencies();

  std::filesystem::path source() const { return worktree / "source"; }

  std::filesystem::path kept() const { return worktree / "kept"; }

  std::filesystem::path prefix() const { return beside("prefix"); }

  std::filesystem::path beside(std::string const& name) const { return repository_.sibling(name); }

  std::filesystem::path submodule() const { return part_.path(); }

  bisect::GitRepository const& repository() const { return repository_; }

  /// Holds the checkout and what is kept between builds.
  std::filesystem::path worktree;

  /// What recipes find in their environment, and TORCHWATCH_COMMIT and TORCHWATCH_BUILD_DIR.
  std::map<std::string, std::string> environment;

 private:
  e2e::Process run(std::vector<std::string> arguments,
                   std::map<std::string, std::string> const& given);

  bisect::GitRepository part_;
  bisect::GitRepository repository_;
  int runs_ = 0;
};

/// What the worker of a prefix says: version, 2 + 3, 2 * 3, number of operators, the submodule's.
std::string answer_of(std::filesystem::path const& prefix);

/// The sources that were compiled, without folder and extension, in the order of the build.
std::vector<std::string> compiled(std::string const& log);

}  // namespace torchwatch::recipes
