#pragma once

#include "daemon/bisection/build_source.h"

namespace torchwatch::bisection {

/// Builds of commits by one recipe, or from `source.artifacts`. Builds that are requested together
/// are all artifacts or all not.
class CommitBuilds final : public BuildSource {
 public:
  /// `builder` must outlive it.
  CommitBuilds(builds::Builder& builder, BisectionId bisection, RecipeId recipe)
      : builder_{builder},
        campaigns_{bisection, recipe},
        recipe_{recipe} {}

  BisectionStage stage() const override { return BisectionStage::commits; }

  Campaign campaign() const override { return campaigns_.commits(); }

  boost::asio::awaitable<Result<std::vector<builds::BuildAttempt>>> builds_of(
      std::vector<CommitSha> commits) override;

  builds::Known known(CommitSha const& commit) const override {
    return builder_.known(commit, recipe_);
  }

  bool is_warm() const override { return builder_.is_warm(); }

 private:
  builds::Builder& builder_;
  BisectionCampaigns campaigns_;
  RecipeId recipe_;
};

}  // namespace torchwatch::bisection
