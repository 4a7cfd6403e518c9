#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/bisect/git_repository.h"
#include "tests/e2e/process.h"

namespace torchwatch::recipes {

/// A small repository with a submodule that replaces PyTorch's, and the directories and variables
/// that the service gives a recipe. The destructor removes all of it.
class Miniature {
 public:
  Miniature();

  /// Writes a file and commits it.
  CommitSha commit(std::string const& file, std::string const& text) const;
  /// Replaces `from` by `to` in a file and commits it. Throws when the file does not contain
  /// `from`.
  CommitSha replace(std::string const& file, std::string const& from, std::string const& to) const;
  /// Changes the submodule and pins the change.
  CommitSha move_submodule(std::string const& from, std::string const& to) const;
  CommitSha head() const;

  /// Checks the commit out and starts the recipe on it. The prefix is named `prefix_name`.
  e2e::Process start(CommitSha const& commit, std::string const& prefix_name = "prefix");
  /// Checks the commit out, runs the recipe, and returns its result.
  e2e::Finished build(CommitSha const& commit, std::string const& prefix_name = "prefix");

  /// Runs the recipe with --dependencies.
  e2e::Finished dependencies();

  std::filesystem::path source() const { return worktree / "source"; }

  std::filesystem::path kept() const { return worktree / "kept"; }

  std::filesystem::path prefix() const { return sibling("prefix"); }

  std::filesystem::path sibling(std::string const& name) const { return repository_.sibling(name); }

  std::filesystem::path submodule() const { return part_.path(); }

  bisect::GitRepository const& repository() const { return repository_; }

  /// The directory of the checkout and of the files that stay between builds.
  std::filesystem::path worktree;

  /// The environment of the recipe, without TORCHWATCH_COMMIT and TORCHWATCH_BUILD_DIR.
  std::map<std::string, std::string> environment;

 private:
  e2e::Process run(std::vector<std::string> arguments,
                   std::map<std::string, std::string> const& given);

  bisect::GitRepository part_;
  bisect::GitRepository repository_;
  int runs_ = 0;
};

/// Returns the output of a prefix's worker: version, 2 + 3, 2 * 3, number of operators, and the
/// submodule's value.
std::string answer_of(std::filesystem::path const& prefix);

/// Returns what Python gets from the packages in a prefix: the output of answer_of().
std::string python_answer_of(std::filesystem::path const& prefix);

/// Returns the compiled sources, without folder and extension, in the order of the build.
std::vector<std::string> compiled(std::string const& log);

}  // namespace torchwatch::recipes
