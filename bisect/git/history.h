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

/// A git repository, bare or not, as lines of commits: order is ancestry along first parents, never
/// time.
///
/// Nothing is cached, so what others fetch into the repository is seen by the next call; the
/// repository itself is never changed. Every method blocks on the disk. Not thread-safe: one thread
/// at a time. Errors name the repository: invalid_argument for what cannot be, not_found for what
/// is not there (a shallow clone lacks old commits, a partial clone files), corrupt and internal
/// for what git cannot read. Partial clones and repositories of other users are opened; nothing is
/// fetched into them. Those with SHA-256 names, with refs in a reftable or with an extension that
/// is not known here are refused.
class GitHistory {
 public:
  /// `path` is the repository itself or its working tree; no directory above it is searched. What
  /// revert() makes lives in memory, as long as this object.
  static Result<GitHistory> open(std::string const& path);

  /// A bare repository of our own at `path`, made where there is none, that reads the objects of
  /// the one at `lender` as if they were its own. What revert() makes is kept in it.
  static Result<GitHistory> borrow(std::string const& path, std::string const& lender);

  /// The commit that `spec` names, in git's syntax: a branch, tag, full or short hash, "HEAD~3".
  Result<CommitSha> resolve(std::string const& spec) const;

  /// Subject and author are converted from the character set of the commit's `encoding` header to
  /// UTF-8; without a header they are the commit's bytes.
  Result<Commit> commit(CommitSha const& sha) const;

  /// The commit's whole message.
  Result<std::string> message(CommitSha const& sha) const;

  /// The commits of the trunk after `commit`, oldest first. The trunk is the first of these whose
  /// newest 20,000 commits hold `commit`: REMOTE's HEAD or main, as they were fetched; a clone's
  /// origin/HEAD; HEAD. Fails with not_found when none does.
  Result<std::vector<Landing>> landed_after(CommitSha const& commit,
                                            std::string const& remote) const;

  /// The first parent; not_found for a root commit.
  Result<CommitSha> parent(CommitSha const& sha) const;

  /// What the commit changed against its first parent, or all it has if it is a root commit.
  Result<CommitChanges> changes_of(CommitSha const& sha) const;

  /// The commits after `start` up to and including `end`, oldest first; none when they are the
  /// same. Each is the parent of the next: its first parent or, of a merge that brought `start` in
  /// by another one, that. Fails with invalid_argument when `start` is not an ancestor of `end`.
  Result<std::vector<Commit>> commits_between(CommitSha const& start, CommitSha const& end) const;

  /// The commits between two commits, in either order and on any branches. Fails with not_found
  /// when they have no commit in common.
  Result<Lineage> lineage(CommitSha const& start, CommitSha const& end) const;

  /// The number of commits that a merge brought: those that `commit` contains, without itself, and
  /// its parent `parent` does not. 0 unless it is a merge.
  Result<int> merged_by(CommitSha const& commit, CommitSha const& parent) const;

  /// The line that a merge brought into the one that leads to it from `ancestor`, as
  /// commits_between() walks. Nothing unless the commit has two parents. Fails with not_found when
  /// these have no commit in common.
  Result<std::optional<MergedLine>> merged_line(CommitSha const& merge,
                                                CommitSha const& ancestor) const;

  /// The newest `limit` releases of a nightly branch, newest first: as it was fetched from
  /// `remote`, where it was; else of the repository's own, or of a clone's "origin/BRANCH". Commits
  /// whose subject is of another form are passed over. Of a shallow clone, those that it has.
  Result<std::vector<NightlyRelease>> nightly_releases(std::string const& branch,
                                                       int limit,
                                                       std::string const& remote = "") const;

  /// A commit that takes `culprit` back on top of `onto`, as `git revert` would; nothing when that
  /// has conflicts or changes nothing. The same arguments give the same commit, everywhere.
  Result<std::optional<CommitSha>> revert(CommitSha const& culprit, CommitSha const& onto) const;

 private:
  Result<CommitSha> tip_of(std::string const& branch, std::string const& remote) const;
  Result<std::vector<Landing>> landed_between(CommitSha const& commit, CommitSha const& tip) const;

  /// libgit2 counts its users and needs one to be alive while anything of it is.
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
