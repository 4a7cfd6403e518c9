#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "storage/domain/build.h"

namespace torchwatch::bisect {

/// A repository made by the git executable in a directory of its own, removed with the object.
class GitRepository {
 public:
  GitRepository() {
    std::string form = (std::filesystem::temp_directory_path() / "bisect_XXXXXX").string();
    if (mkdtemp(form.data()) == nullptr) throw std::runtime_error{"mkdtemp " + form};
    root_ = form;
    std::filesystem::create_directory(path());
    git("init --quiet --initial-branch=main");
  }

  ~GitRepository() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  GitRepository(GitRepository const&) = delete;
  GitRepository& operator=(GitRepository const&) = delete;

  /// The working tree.
  std::filesystem::path path() const { return root_ / "tree"; }

  /// A path next to the working tree, for other files of a test.
  std::filesystem::path sibling(std::string const& name) const { return root_ / name; }

  /// Runs a git command, and returns its output without the last newline. Throws when it fails.
  std::string git(std::string const& arguments) const {
    std::string const command =
        "cd '" + path().string() +
        "' && env GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 "
        "GIT_AUTHOR_NAME='Ada Author' GIT_AUTHOR_EMAIL=ada@example.org "
        "GIT_AUTHOR_DATE='1000000000 +0000' GIT_COMMITTER_NAME='Carl Committer' "
        "GIT_COMMITTER_EMAIL=carl@example.org GIT_COMMITTER_DATE='1700000000 +0100' git " +
        arguments + " 2>&1";
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error{"popen " + command};
    std::string output;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
      output.push_back(static_cast<char>(c));
    }
    if (pclose(pipe) != 0) throw std::runtime_error{command + ": " + output};
    while (output.ends_with('\n')) {
      output.pop_back();
    }
    return output;
  }

  void write(std::string const& name, std::string const& text) const {
    std::filesystem::create_directories((path() / name).parent_path());
    std::ofstream{path() / name, std::ios::binary} << text;
  }

  /// Commits all files of the working tree, also if nothing changed. All commits have the same
  /// time.
  CommitSha commit(std::string const& message) const {
    std::ofstream{sibling("message"), std::ios::binary} << message;
    git("add --all");
    git("commit --quiet --allow-empty --file='" + sibling("message").string() + "'");
    return {git("rev-parse HEAD")};
  }

 private:
  std::filesystem::path root_;
};

}  // namespace torchwatch::bisect
