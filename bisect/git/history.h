#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bisect/git/commit_changes.h"
#include "bisect/git/commit_message.h"
#include "bisect/git/landings.h"
#include "bisect/git/lineage.h"
#include "storage/base/result.h"
#include "storage/domain/build.h"

struct git_commit;
struct git_repository;

namespace torchwatch::bisect {

/// Reads a git repository, bare or not, as lines of commits. Their order is ancestry along first
/// parents, never time.
///
/// Nothing is cached, so the next call sees commits that other programs fetched. The repository is
/// never changed. Every method blocks on the disk. Not thread-safe: one thread at a time.
///
/// Errors name the repository: invalid_argument for impossible arguments, not_found for missing
/// objects (a shallow clone lacks old commits, a partial clone files), corrupt and internal for
/// objects that git cannot read. Partial clones and repositories of other users are accepted;
/// nothing is fetched into them. Repositories with SHA-256 names, with refs in a reftable, or with
/// an unknown extension fail with `refused`.
class GitHistory {
 public:
  /// Opens the repository at `path`, or of the working tree at `path`. Directories above it are not
  /// searched. Commits of revert() are kept in memory, as long as this object lives.
  static Result<GitHistory> open(std::string const& path);

  /// Opens a bare repository of our own at `path`, and creates it if it is missing. It reads the
  /// objects of the repository at `lender` as if they were its own. Commits of revert() are stored
  /// in it.
  static Result<GitHistory> borrow(std::string const& path, std::string const& lender);

  /// The commit that `spec` names in git's syntax: a branch, tag, full or short hash, "HEAD~3".
  Result<CommitSha> resolve(std::string const& spec) const;

  /// The commit with its subject and author. They are converted to UTF-8 from the character set of
  /// the commit's `encoding` header; without that header they are not converted.
  Result<Commit> commit(CommitSha const& sha) const;

  /// The commit's whole message.
  Result<std::string> message(CommitSha const& sha) const;

  /// The commits of the trunk after `commit`, oldest first. The trunk is the first of these refs
  /// whose newest 20,000 commits contain `commit`: the fetched HEAD or main of `remote`, if that is
  /// not empty; a clone's origin/HEAD; HEAD. Fails with not_found when none does.
  Result<std::vector<Landing>> landed_after(CommitSha const& commit,
                                            std::string const& remote) const;

  /// The first parent; not_found for a root commit.
  Result<CommitSha> parent(CommitSha const& sha) const;

  /// The changes of the commit against its first parent. For a root commit: all its files.
  Result<CommitChanges> changes_of(CommitSha const& sha) const;

  /// The commits after `start` up to and including `end`, oldest first; empty when both are equal.
  /// Each is the first parent of the next that is `start` or descends from it. So a merge is left
  /// by the parent that leads to `start`. Fails with invalid_argument when `start` is not an
  /// ancestor of `end`.
  Result<std::vector<Commit>> commits_between(CommitSha const& start, CommitSha const& end) const;

  /// The commits between two commits, in either order and on any branches. Fails with not_found
  /// when they have no commit in common.
  Result<Lineage> lineage(CommitSha const& start, CommitSha const& end) const;

  /// The number of commits that a merge brought: the ancestors of `commit` that are not in its
  /// parent `parent`. 0 unless `commit` is a merge.
  Result<int> merged_by(CommitSha const& commit, CommitSha const& parent) const;

  /// The line of commits that a merge brought into the line from `ancestor` to the merge, which is
  /// that of commits_between(). Nothing unless the commit has two parents. Fails with not_found
  /// when the parents have no common ancestor.
  Result<std::optional<MergedLine>> merged_line(CommitSha const& merge,
                                                CommitSha const& ancestor) const;

  /// The newest `limit` releases of a nightly branch, newest first. The branch is the one fetched
  /// from `remote` if it exists, else the repository's own, else a clone's "origin/BRANCH". Commits
  /// whose subject has another form are skipped. A shallow clone gives only the releases it has.
  Result<std::vector<NightlyRelease>> nightly_releases(std::string const& branch,
                                                       int limit,
                                                       std::string const& remote = "") const;

  /// Creates a commit that reverts `culprit` on top of `onto`, as `git revert` does. Returns
  /// nothing when that has conflicts or changes nothing. Equal arguments give equal commits on
  /// every host.
  Result<std::optional<CommitSha>> revert(CommitSha const& culprit, CommitSha const& onto) const;

 private:
  Result<CommitSha> tip_of(std::string const& branch, std::string const& remote) const;
  Result<std::vector<Landing>> landed_between(CommitSha const& commit, CommitSha const& tip) const;

  /// A user of libgit2, which counts its users. One must exist as long as any object of libgit2.
  struct Library {
    Library();

    Library(Library const&) : Library{} {}

    Library& operator=(Library const&) = default;
    ~Library();
  };

  struct Free {
    void operator()(git_repository* repository) const;
    void operator()(git_commit* commit) const;
  };

  using CommitHandle = std::unique_ptr<git_commit, Free>;

  explicit GitHistory(std::string path) : path_{std::move(path)} {}

  Error failed(std::string const& doing, int status) const;
  Result<> check_extensions() const;
  Result<CommitHandle> find(CommitSha const& sha) const;
  Result<CommitHandle> parent_of(git_commit const& commit, unsigned number = 0) const;
  Result<CommitHandle> step_back(git_commit const& commit, git_commit const& ancestor) const;
  Result<Commit> merge_base(CommitSha const& one, CommitSha const& other) const;
  int write_to_memory();
  int read_objects_of(GitHistory const& lender);

  Library library_;
  std::string path_;
  std::unique_ptr<git_repository, Free> repository_;
};

}  // namespace torchwatch::bisect
