#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/domain/build.h"
#include "tests/lab/plan.h"

namespace torchwatch::lab {

/// A step and its commit.
struct Landed {
  Step step;
  std::string subject;
  CommitSha sha;
};

/// A nightly.
struct Release {
  std::string date;  ///< "YYYY-MM-DD"
  CommitSha trunk;   ///< the trunk commit
  CommitSha commit;  ///< on the nightly branch
};

/// The commits and nightlies that `write_history` wrote.
struct History {
  std::vector<Landed> steps;      ///< as they were planned
  std::vector<Release> releases;  ///< two or more, oldest first
};

/// The contents of the generated commits.
enum class Contents {
  kernels,   ///< sources of the extension
  scripted,  ///< script.json instead of sources, and BROKEN in commits that do not build
};

/// Writes a repository with the branches main and nightly at `path`, which must not exist. Fails
/// when a change does not apply.
Result<History> write_history(std::filesystem::path const& path,
                              Scenario const& scenario,
                              Material const& material,
                              std::vector<Step> const& steps,
                              Contents contents);

}  // namespace torchwatch::lab
