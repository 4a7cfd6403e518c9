#include "storage/domain/campaign.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace torchwatch {

Campaign Campaign::of(NightlyId nightly) {
  return {std::string{nightly_campaign_prefix} + std::to_string(nightly.value)};
}

Campaign Campaign::self_comparison(NightlyId nightly) {
  return {"aa/" + std::to_string(nightly.value)};
}

Campaign Campaign::rebuilds(NightlyId nightly) {
  return {"rebuilds/" + std::to_string(nightly.value)};
}

Campaign Campaign::anchor(NightlyId nightly) {
  return {"anchor/" + std::to_string(nightly.value)};
}

Campaign Campaign::profile(IncidentId incident) {
  return {std::string{profile_campaign_prefix} + std::to_string(incident.value)};
}

Campaign Campaign::suite_profile(NightlyId nightly) {
  return {std::string{suite_profile_campaign_prefix} + std::to_string(nightly.value)};
}

CampaignSubject subject_of(Campaign const& campaign) {
  auto const& name = campaign.name;
  auto const slash = std::min(name.find('/'), name.size());
  auto const kind = std::string_view{name}.substr(0, slash);
  std::int64_t number = 0;
  auto const* const end = name.data() + name.size();
  auto const [rest, failed] =
      std::from_chars(name.data() + std::min(slash + 1, name.size()), end, number);
  if (failed != std::errc{}) return {};
  constexpr std::array of_nightlies{"nightly", "aa", "anchor", "rebuilds", "suite-profile"};
  if (std::ranges::find(of_nightlies, kind) != of_nightlies.end())
    return {NightlyId{number}, std::nullopt};
  if (kind != "bisect") return {};
  constexpr std::array of_proofs{"/proof/", "/rebuilt/", "/revert-check/"};
  bool const is_proof = std::ranges::any_of(
      of_proofs, [&](char const* part) { return name.find(part) != std::string::npos; });
  return {std::nullopt, BisectionId{number}, is_proof};
}

BisectionCampaigns::BisectionCampaigns(BisectionId bisection, RecipeId recipe)
    : prefix_{"bisect/" + std::to_string(bisection.value) + "/recipe-" +
              std::to_string(recipe.value) + "/"} {}

}  // namespace torchwatch
