#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/e2e/process.h"

namespace torchwatch::e2e {

/// A fake GitHub as a separate process: TLS on 127.0.0.1 with its own authority, and one file with
/// its state (`fakes::FakeGithub`).
class GithubProcess {
 public:
  /// Starts it with its files in `folder`, which is created. Throws when it does not start.
  explicit GithubProcess(std::filesystem::path const& folder);

  /// Returns the "github" object of a configuration with which the service files its issues here.
  nlohmann::json settings() const;

  /// Adds settings, faults, issues, and labels of issues: "labelled": {"1": ["bug"]}.
  void control(nlohmann::json const& change) const;

  /// Returns its whole state.
  nlohmann::json state() const;

  pid_t pid() const { return process_.pid(); }

 private:
  std::filesystem::path folder_;
  Process process_;
  nlohmann::json greeting_;
};

}  // namespace torchwatch::e2e
