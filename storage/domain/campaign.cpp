#include "storage/domain/campaign.h"

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
  return {"profile/" + std::to_string(incident.value)};
}

BisectionCampaigns::BisectionCampaigns(BisectionId bisection, RecipeId recipe)
    : prefix_{"bisect/" + std::to_string(bisection.value) + "/recipe-" +
              std::to_string(recipe.value) + "/"} {}

}  // namespace torchwatch
