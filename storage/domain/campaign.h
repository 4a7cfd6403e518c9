#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/ids.h"
#include "storage/domain/build.h"

namespace torchwatch {

/// What measurements are for: all that one decision rests on. Part of their key, so that whoever
/// comes to the same decision again finds them. This is the only place that spells one.
struct Campaign {
  std::string name;

  /// Everything measured to judge a nightly: the sweep, and the pairs that confirm what it showed.
  static Campaign of(NightlyId nightly);

  /// A nightly beside itself, which measures how often verdicts are false.
  static Campaign self_comparison(NightlyId nightly);

  /// Two builds of a nightly's commit in two layouts, which measures by how much builds differ.
  static Campaign rebuilds(NightlyId nightly);

  /// A nightly beside the older ones that its benchmarks are anchored to.
  static Campaign anchor(NightlyId nightly);

  /// Both builds of an incident once more, for what their operators cost.
  static Campaign profile(IncidentId incident);

  /// All benchmarks of a nightly on GPUs, for where the time goes.
  static Campaign suite_profile(NightlyId nightly);

  /// Two processes of one build in one round: the second one's measurements are kept under this.
  Campaign second() const { return {name + "/again"}; }

  friend auto operator<=>(Campaign const&, Campaign const&) = default;
};

/// The campaigns of one bisection. What another recipe builds of a commit is measured anew, so they
/// are of a recipe, too.
class BisectionCampaigns {
 public:
  BisectionCampaigns(BisectionId bisection, RecipeId recipe);

  /// Between nightlies, as they were delivered.
  Campaign nightlies() const { return {prefix_ + "nightlies"}; }

  /// Between commits.
  Campaign commits() const { return {prefix_ + "search"}; }

  /// What the nightlies at both ends came with, beside each other.
  Campaign packages() const { return {prefix_ + "packages"}; }

  /// A suspect beside its parent.
  Campaign proof(CommitSha const& suspect) const {
    return {prefix_ + "proof/" + short_of(suspect)};
  }

  /// The same, both built with another layout.
  Campaign rebuilt_proof(CommitSha const& suspect) const {
    return {prefix_ + "rebuilt/" + short_of(suspect)};
  }

  /// Both ends, built with another layout.
  Campaign rebuilt_ends() const { return {prefix_ + "rebuilt/ends"}; }

  /// The newest commit beside itself without the culprit.
  Campaign revert_check(CommitSha const& culprit) const {
    return {prefix_ + "revert-check/" + short_of(culprit)};
  }

 private:
  std::string prefix_;
};

/// What a campaign is of.
struct CampaignSubject {
  std::optional<NightlyId> nightly;      ///< its sweep, and what was compared beside it
  std::optional<BisectionId> bisection;  ///< what its search read, or else ...
  bool is_proof = false;                 ///< ... what shows what a suspect did
};

CampaignSubject subject_of(Campaign const& campaign);

/// How the names of the campaigns Campaign::of() begin; the nightly's id follows.
inline constexpr std::string_view nightly_campaign_prefix = "nightly/";

/// The same of Campaign::profile() ...
inline constexpr std::string_view profile_campaign_prefix = "profile/";

/// ... and of Campaign::suite_profile().
inline constexpr std::string_view suite_profile_campaign_prefix = "suite-profile/";

}  // namespace torchwatch
