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

/// A directory of files as git stores it.
struct Tree {
  std::string hex;
};

struct CommitText {
  std::string message;
  Person author;
  Timestamp authored;
  Person committer;
  Timestamp committed;
};

/// Writes a new bare git repository. Trees and commits are objects; nothing is checked out.
/// Failures are `internal` and carry libgit2's own words.
class Repository {
 public:
  /// Fails with refused when `path` exists.
  static Result<Repository> create(std::filesystem::path const& path);
  Repository(Repository const&) = delete;
  Repository& operator=(Repository const&) = delete;
  Repository(Repository&& other) noexcept;
  Repository& operator=(Repository&&) = delete;
  ~Repository();

  /// All files below `folder`.
  Result<Tree> import(std::filesystem::path const& folder);

  /// `tree` after a unified diff. Fails where the diff does not fit exactly.
  Result<Tree> apply(Tree const& tree, std::string const& diff);

  /// `tree` after the change that leads from `from` to `to`. Fails where they touch the same lines.
  Result<Tree> replay(Tree const& tree, Tree const& from, Tree const& to);

  /// The entry `name` of `tree`.
  Result<Tree> subtree(Tree const& tree, std::string const& name);

  /// `tree` without the entry `removed`, and with `files` (name to text) at its top.
  Result<Tree> rewrite(Tree const& tree,
                       std::string const& removed,
                       std::map<std::string, std::string> const& files);

  /// A commit of `tree`; a null `parent` makes a root.
  Result<CommitSha> commit(Tree const& tree, CommitSha const* parent, CommitText const& text);

  /// A commit of `tree` with any number of parents.
  Result<CommitSha> merge(Tree const& tree,
                          std::vector<CommitSha> const& parents,
                          CommitText const& text);

  Result<> set_branch(std::string const& name, CommitSha const& target);

 private:
  explicit Repository(git_repository* repository) : repository_(repository) {}

  git_repository* repository_;
};

}  // namespace torchwatch::lab
