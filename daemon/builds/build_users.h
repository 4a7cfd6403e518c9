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

/// The records that refer to builds, and so keep them on the disk.
struct BuildReferences {
  std::filesystem::path builds;       ///< the directory of the builds
  std::vector<Nightly> nightlies;     ///< all, in the store's order
  std::vector<Incident> incidents;    ///< recent ones without a ruling
  std::vector<Incident> unfinished;   ///< those that a nightly may still end
  std::vector<Bisection> bisections;  ///< those that have not ended
  /// Histories of the benchmarks that are measured and have anchors.
  std::vector<bisect::BenchmarkHistory> benchmarks;
  bisect::JudgedSeries series;       ///< series of the measured benchmarks
  std::vector<NightlyId> baselines;  ///< series baselines of nightlies that are being judged
  /// The names of the companions whose libraries a build uses, by name of the build.
  std::map<std::string, std::vector<std::string>> companions;
};

/// The users of builds in words, by name of the build: "incident 3", "ada: for the release notes".
using BuildUsers = std::map<std::string, std::vector<std::string>>;

/// Finds the users of each of `builds`. A build without a user is not in the map. Pure. A nightly
/// that is being judged uses its build and its baselines. The next nightly uses the baselines that
/// it will have. Benchmarks use their anchors. Incidents and bisections use both their ends, and
/// unfinished incidents the last good builds of their series. Bisections also use the nightlies in
/// between and the commits that they measured. Builds use their companions, and people use the
/// builds that they pinned.
BuildUsers users_of(std::vector<KeptBuild> const& builds, BuildReferences const& references);

/// Returns the name of the build at `prefix`; empty when it is not in `builds`. Pure.
std::string name_in(std::filesystem::path const& builds, std::filesystem::path const& prefix);

}  // namespace torchwatch::builds
