#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bisect/compare/baseline.h"
#include "storage/domain/bisection.h"
#include "storage/domain/build.h"
#include "storage/domain/incident.h"
#include "storage/domain/kept_build.h"

/// Getting, making, keeping and removing builds.
namespace torchwatch::builds {

/// The records that refer to builds. What they refer to stays on the disk.
struct BuildReferences {
  std::filesystem::path builds;       ///< the directory of the builds
  std::vector<Nightly> nightlies;     ///< all, as the store lists them
  std::vector<Incident> incidents;    ///< that are open
  std::vector<Bisection> bisections;  ///< that have not ended
  /// Histories of the benchmarks that are measured and have anchors.
  std::vector<bisect::BenchmarkHistory> benchmarks;
  bisect::JudgedSeries series;       ///< of the benchmarks that are measured
  std::vector<NightlyId> baselines;  ///< of series of nightlies that are being judged
  /// By the name of a build: the names of its companions, whose libraries it uses.
  std::map<std::string, std::vector<std::string>> companions;
};

/// By the name of a build: its users, as a person reads them: "incident 3", "ada: for the release
/// notes".
using BuildUsers = std::map<std::string, std::vector<std::string>>;

/// Finds the users of each of `builds`; a build without a user is not in the map. A nightly that is
/// being judged uses its build and its baselines, the next nightly uses those that it will have,
/// benchmarks use their anchors, and incidents and bisections use both their ends. Bisections also
/// use the nightlies in between and the commits that they measured, builds use their companions,
/// and people use the builds that they pinned. Pure.
BuildUsers users_of(std::vector<KeptBuild> const& builds, BuildReferences const& references);

/// The name of the build at `prefix`; empty when that lies elsewhere than in `builds`. Pure.
std::string name_in(std::filesystem::path const& builds, std::filesystem::path const& prefix);

}  // namespace torchwatch::builds
