#pragma once

#include <map>
#include <string>

#include "daemon/bisection/build_source.h"
#include "storage/store.h"

namespace torchwatch::bisection {

/// Nightlies as they were delivered. Nothing is built.
class NightlyPackages final : public BuildSource {
 public:
  /// All nightlies that came with another build than the recipe's own, which is found anyway, and
  /// are there; of several of one commit those of the incident, else the newest. Those that
  /// `bisection` has measured may have gone since.
  NightlyPackages(storage::Store& store, Bisection const& bisection);

  /// The commits of these nightlies.
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
