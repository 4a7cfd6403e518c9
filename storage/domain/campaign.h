#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/ids.h"
#include "storage/domain/build.h"

namespace torchwatch {

/// The purpose of measurements: the decision that they are made for. It is part of their key, so a
/// repeated decision finds them. Only this file creates and reads campaign names.
struct Campaign {
  std::string name;

  /// The measurements that judge a nightly: its sweep, and the pairs that confirm changes.
  static Campaign of(NightlyId nightly);

  /// A nightly next to itself. Measures how often verdicts are false.
  static Campaign self_comparison(NightlyId nightly);

  /// Two builds of a nightly's commit in two layouts. Measures how much builds differ.
  static Campaign rebuilds(NightlyId nightly);

  /// A nightly next to the anchors of its benchmarks.
  static Campaign anchor(NightlyId nightly);

  /// Both builds of an incident again, with the costs of their operators.
  static Campaign profile(IncidentId incident);

  /// The last good build of an incident next to a later nightly.
  static Campaign recovery(IncidentId incident, NightlyId nightly);

  /// All GPU benchmarks of a nightly, with the shares of their GPU time.
  static Campaign suite_profile(NightlyId nightly);

  /// The check rounds of a quarantined slot: benchmarks of a nightly's sweep. No verdict uses them.
  static Campaign slot_check(NightlyId nightly, std::size_t slot);

  /// The campaign of the second process when a round measures one build twice.
  Campaign second() const { return {name + "/again"}; }

  friend auto operator<=>(Campaign const&, Campaign const&) = default;
};

/// The campaigns of one bisection with one recipe. Builds of another recipe have other campaigns,
/// so they are measured again.
class BisectionCampaigns {
 public:
  BisectionCampaigns(BisectionId bisection, RecipeId recipe);

  /// The steps that measure nightlies, as they were published.
  Campaign nightlies() const { return {prefix_ + "nightlies"}; }

  /// The steps that measure commits.
  Campaign commits() const { return {prefix_ + "search"}; }

  /// The published builds of the nightlies at both ends, side by side.
  Campaign packages() const { return {prefix_ + "packages"}; }

  /// A suspect next to its parent.
  Campaign proof(CommitSha const& suspect) const {
    return {prefix_ + "proof/" + short_of(suspect)};
  }

  /// A suspect next to its parent, both built with another layout.
  Campaign rebuilt_proof(CommitSha const& suspect) const {
    return {prefix_ + "rebuilt/" + short_of(suspect)};
  }

  /// Both ends, built with another layout.
  Campaign rebuilt_ends() const { return {prefix_ + "rebuilt/ends"}; }

  /// The newest commit next to the newest commit with the culprit reverted.
  Campaign revert_check(CommitSha const& culprit) const {
    return {prefix_ + "revert-check/" + short_of(culprit)};
  }

 private:
  std::string prefix_;
};

/// The nightly or the bisection that a campaign belongs to. Both are absent for other campaigns,
/// such as profiles of incidents.
struct CampaignSubject {
  std::optional<NightlyId> nightly;
  std::optional<BisectionId> bisection;
  bool is_proof = false;  ///< measures a proof or revert check, not a step of the bisection
};

CampaignSubject subject_of(Campaign const& campaign);

/// The beginning of the names from Campaign::of(). The nightly's id follows.
inline constexpr std::string_view nightly_campaign_prefix = "nightly/";

/// The beginning of the names from Campaign::profile(). The incident's id follows.
inline constexpr std::string_view profile_campaign_prefix = "profile/";

/// The beginning of the names from Campaign::suite_profile(). The nightly's id follows.
inline constexpr std::string_view suite_profile_campaign_prefix = "suite-profile/";

}  // namespace torchwatch
