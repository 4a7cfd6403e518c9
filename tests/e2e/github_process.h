#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/e2e/process.h"

namespace torchwatch::e2e {

/// A fake GitHub as a process of its own: TLS on 127.0.0.1 by an authority of its own, and one file
/// with all it knows (`fakes::FakeGithub`).
class GithubProcess {
 public:
  /// Starts it with its files below `folder`, which is created. Throws when it does not answer.
  explicit GithubProcess(std::filesystem::path const& folder);

  /// The members of "github" in a configuration that make the service file its issues here.
  nlohmann::json settings() const;

  /// Adds settings, faults, issues, and labels to issues: "labelled": {"1": ["bug"]}.
  void control(nlohmann::json const& change) const;

  /// All it knows.
  nlohmann::json state() const;

  pid_t pid() const { return process_.pid(); }

 private:
  std::filesystem::path folder_;
  Process process_;
  nlohmann::json greeting_;
};

}  // namespace torchwatch::e2e
