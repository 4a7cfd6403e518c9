#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/domain/build.h"
#include "tests/lab/plan.h"

namespace torchwatch::lab {

/// A step that has become a commit.
struct Landed {
  Step step;
  std::string subject;
  CommitSha sha;
};

struct Release {
  std::string date;  ///< "YYYY-MM-DD"
  CommitSha trunk;
  CommitSha commit;  ///< on the nightly branch
};

/// What was written.
struct History {
  std::vector<Landed> steps;  ///< base history, then what landed between the nightlies
  Release first;
  Release second;
};

enum class Contents {
  kernels,   ///< sources of the extension
  scripted,  ///< script.json in their place, and BROKEN in commits that do not build
};

/// Writes the repository at `path`, which must be new: branches main and nightly. Fails where a
/// change does not fit.
Result<History> write_history(std::filesystem::path const& path,
                              Scenario const& scenario,
                              Material const& material,
                              std::vector<Step> const& steps,
                              Contents contents);

}  // namespace torchwatch::lab
