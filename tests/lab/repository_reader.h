#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <git2.h>
#include <gtest/gtest.h>

namespace torchwatch::lab {

/// A commit, read from git.
struct Seen {
  std::string sha;
  std::string tree;
  std::string message;
  std::int64_t time = 0;

  std::string subject() const { return message.substr(0, message.find('\n')); }
};

/// A reader of a generated repository that only uses libgit2.
class Reader {
 public:
  explicit Reader(std::filesystem::path const& path) {
    git_libgit2_init();
    EXPECT_EQ(git_repository_open(&repository_, path.c_str()), 0);
  }

  ~Reader() {
    git_repository_free(repository_);
    git_libgit2_shutdown();
  }

  Reader(Reader const&) = delete;
  Reader& operator=(Reader const&) = delete;

  /// Returns the commits of a branch along first parents, oldest first.
  std::vector<Seen> branch(std::string const& name) const {
    std::vector<Seen> commits;
    git_oid id;
    EXPECT_EQ(git_reference_name_to_id(&id, repository_, ("refs/heads/" + name).c_str()), 0);
    git_commit* commit = nullptr;
    EXPECT_EQ(git_commit_lookup(&commit, repository_, &id), 0);
    while (commit != nullptr) {
      commits.insert(commits.begin(),
                     Seen{git_oid_tostr_s(git_commit_id(commit)),
                          git_oid_tostr_s(git_commit_tree_id(commit)),
                          git_commit_message(commit),
                          git_commit_time(commit)});
      git_commit* parent = nullptr;
      if (git_commit_parentcount(commit) > 0) git_commit_parent(&parent, commit, 0);
      git_commit_free(commit);
      commit = parent;
    }
    return commits;
  }

  /// Writes the files of a commit to `folder`, which is emptied first.
  void check_out(std::string const& sha, std::filesystem::path const& folder) const {
    git_object* object = nullptr;
    ASSERT_EQ(git_revparse_single(&object, repository_, sha.c_str()), 0);
    git_checkout_options options = GIT_CHECKOUT_OPTIONS_INIT;
    options.checkout_strategy = GIT_CHECKOUT_FORCE | GIT_CHECKOUT_DONT_UPDATE_INDEX;
    options.target_directory = folder.c_str();
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    EXPECT_EQ(git_checkout_tree(repository_, object, &options), 0) << git_error_last()->message;
    git_object_free(object);
  }

 private:
  git_repository* repository_ = nullptr;
};

}  // namespace torchwatch::lab
