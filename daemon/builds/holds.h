#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bisect/baseline.h"
#include "storage/domain/bisection.h"
#include "storage/domain/build.h"
#include "storage/domain/incident.h"
#include "storage/domain/kept_build.h"

/// Which builds stay, and which are removed.
namespace torchwatch::builds {

/// What builds are needed for, now or soon.
struct Needs {
  std::filesystem::path builds;       ///< the directory that they lie in
  std::vector<Nightly> nightlies;     ///< all, in their order
  std::vector<Incident> incidents;    ///< that are open
  std::vector<Bisection> bisections;  ///< that have not ended
  /// Of all that are measured and have anchors.
  std::vector<bisect::BenchmarkHistory> benchmarks;
  /// Whose libraries a build has: by its name those of its companions.
  std::map<std::string, std::vector<std::string>> companions;
};

/// Who holds a build, by its name, in words for people: "incident 3", "ada: for the release notes".
using Holds = std::map<std::string, std::vector<std::string>>;

/// Who holds which of `builds`: a nightly that is being judged holds itself and its baseline, the
/// next nightly its baseline, benchmarks their anchors, incidents and bisections both their ends,
/// bisections also the nightlies between and the commits that they measured, builds their
/// companions, people what they pinned. Pure.
Holds holds_on(std::vector<KeptBuild> const& builds, Needs const& needs);

/// The name of the build at `prefix`; empty when that lies elsewhere than in `builds`. Pure.
std::string name_in(std::filesystem::path const& builds, std::filesystem::path const& prefix);

}  // namespace torchwatch::builds
