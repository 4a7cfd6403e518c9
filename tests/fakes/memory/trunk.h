#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "storage/domain/build.h"
#include "tests/lab/repository.h"

namespace torchwatch::fakes {

/// A bare git repository with a trunk, side branches and a nightly branch. Commits of the trunk are
/// numbered from 0.
class Trunk {
 public:
  /// Makes `commits` commits in `directory`, which must not exist.
  Trunk(std::filesystem::path directory, std::size_t commits);

  std::string path() const { return directory_.string(); }

  std::size_t size() const { return commits_.size(); }

  CommitSha const& commit(std::size_t number) const { return commits_.at(number); }

  /// Adds commits to the trunk, oldest first.
  void land(std::vector<lab::CommitText> const& texts);

  /// Adds a branch of `commits` commits on top of a trunk commit. Returns them, oldest first.
  std::vector<CommitSha> branch_off(std::size_t number, std::size_t commits);

  /// Adds a branch of `commits` commits on top of any commit. Returns them, oldest first.
  std::vector<CommitSha> branch_off(CommitSha const& from, std::size_t commits);

  /// Merges a side branch into the trunk. The merge is the next commit of the trunk.
  void merge(CommitSha const& side);

  /// Merges a side branch into another one. Returns the merge.
  CommitSha merge(CommitSha const& into, CommitSha const& side);

  /// Returns the number of a trunk commit. Throws when the trunk does not have it.
  std::size_t number_of(CommitSha const& commit) const;

  /// Adds a release of a trunk commit to the nightly branch. Returns it. `date`: "YYYY-MM-DD".
  CommitSha release(std::string const& date, std::size_t number);

  /// Adds a release of any commit, even of one that the repository does not have. Returns it.
  CommitSha release(std::string const& date, CommitSha const& commit);

 private:
  void add(CommitSha const& commit);

  std::filesystem::path directory_;
  lab::Repository repository_;
  lab::Tree tree_;
  std::vector<CommitSha> commits_;
  std::map<CommitSha, std::size_t> numbers_;
  CommitSha last_release_;
};

}  // namespace torchwatch::fakes
