#pragma once

#include <map>
#include <string>

#include "daemon/bisection/build_source.h"
#include "storage/store.h"

namespace torchwatch::bisection {

/// Nightlies as they were delivered. Builds nothing.
class NightlyPackages final : public BuildSource {
 public:
  /// Selects all existing nightlies whose build is not the recipe's own, which is found anyway. Of
  /// several nightlies of one commit, takes that of the incident, or else the newest. Those that
  /// `bisection` has measured may be gone.
  NightlyPackages(storage::Store& store, Bisection const& bisection);

  /// Returns the commits of these nightlies.
  std::vector<CommitSha> commits() const;

  BisectionStage stage() const override { return BisectionStage::nightlies; }

  Campaign campaign() const override { return campaigns_.nightlies(); }

  boost::asio::awaitable<Result<std::vector<builds::BuildAttempt>>> builds_of(
      std::vector<CommitSha> commits) override;

  builds::Known known(CommitSha const& commit) const override;

  bool is_warm() const override { return false; }

 private:
  Result<Build> package_of(CommitSha const& commit) const;

  std::map<CommitSha, std::string> prefixes_;
  BisectionCampaigns campaigns_;
};

}  // namespace torchwatch::bisection
