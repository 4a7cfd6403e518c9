#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/result.h"
#include "storage/domain/build.h"
#include "tests/lab/material.h"

struct git_repository;

namespace torchwatch::lab {

/// The hash of a git tree.
struct Tree {
  std::string hex;
};

/// The metadata of a commit.
struct CommitText {
  std::string message;
  Person author;
  Timestamp authored;
  Person committer;
  Timestamp committed;
};

/// A new bare git repository. Methods write objects and branches, without a worktree. They fail
/// with `internal` and libgit2's message.
class Repository {
 public:
  /// Creates a repository. Fails with refused when `path` exists.
  static Result<Repository> create(std::filesystem::path const& path);
  Repository(Repository const&) = delete;
  Repository& operator=(Repository const&) = delete;
  Repository(Repository&& other) noexcept;
  Repository& operator=(Repository&&) = delete;
  ~Repository();

  /// Writes the tree of all files below `folder`.
  Result<Tree> import(std::filesystem::path const& folder);

  /// Applies a unified diff to `tree`. Returns the new tree. Fails when the diff does not fit
  /// exactly.
  Result<Tree> apply(Tree const& tree, std::string const& diff);

  /// Applies the change from `from` to `to` to `tree`, with a three-way merge. Returns the new
  /// tree. Fails when both changed the same lines.
  Result<Tree> replay(Tree const& tree, Tree const& from, Tree const& to);

  /// Returns the directory `name` of `tree`.
  Result<Tree> subtree(Tree const& tree, std::string const& name);

  /// Returns `tree` without the entry `removed`, and with `files` (name to text) at its top.
  Result<Tree> rewrite(Tree const& tree,
                       std::string const& removed,
                       std::map<std::string, std::string> const& files);

  /// Writes a commit of `tree`. Without `parent` (null), it is a root.
  Result<CommitSha> commit(Tree const& tree, CommitSha const* parent, CommitText const& text);

  /// Writes a commit of `tree` with any number of parents.
  Result<CommitSha> merge(Tree const& tree,
                          std::vector<CommitSha> const& parents,
                          CommitText const& text);

  /// Creates the branch `name`, or moves it.
  Result<> set_branch(std::string const& name, CommitSha const& target);

 private:
  explicit Repository(git_repository* repository) : repository_(repository) {}

  git_repository* repository_;
};

}  // namespace torchwatch::lab
