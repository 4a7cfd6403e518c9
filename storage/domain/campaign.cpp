#include "storage/domain/campaign.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
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

Campaign Campaign::recovery(IncidentId incident, NightlyId nightly) {
  return {"recover/" + std::to_string(incident.value) + "/" + std::to_string(nightly.value)};
}

Campaign Campaign::suite_profile(NightlyId nightly) {
  return {std::string{suite_profile_campaign_prefix} + std::to_string(nightly.value)};
}

Campaign Campaign::slot_check(NightlyId nightly, std::size_t slot) {
  return {"slot-check/" + std::to_string(nightly.value) + "/" + std::to_string(slot)};
}

namespace {

/// Reads the number at the beginning of `text`, and removes it and the slash after it. Nothing when
/// there is none.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  auto const [rest, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  if (text.starts_with('/')) text.remove_prefix(1);
  return number;
}

}  // namespace

CampaignSubject subject_of(Campaign const& campaign) {
  std::string_view rest{campaign.name};
  auto const slash = std::min(rest.find('/'), rest.size());
  auto const kind = rest.substr(0, slash);
  rest.remove_prefix(std::min(slash + 1, rest.size()));
  auto const number = take_number(rest);
  if (!number) return {};
  constexpr std::array of_nightlies{
      "nightly", "aa", "anchor", "rebuilds", "suite-profile", "slot-check"};
  if (std::ranges::find(of_nightlies, kind) != of_nightlies.end())
    return {NightlyId{*number}, std::nullopt};
  if (kind == "recover") {
    auto const nightly = take_number(rest);
    return {nightly ? std::optional{NightlyId{*nightly}} : std::nullopt, std::nullopt};
  }
  if (kind != "bisect") return {};
  constexpr std::array of_proofs{"/proof/", "/rebuilt/", "/revert-check/"};
  bool const is_proof = std::ranges::any_of(
      of_proofs, [&](char const* part) { return campaign.name.find(part) != std::string::npos; });
  return {std::nullopt, BisectionId{*number}, is_proof};
}

BisectionCampaigns::BisectionCampaigns(BisectionId bisection, RecipeId recipe)
    : prefix_{"bisect/" + std::to_string(bisection.value) + "/recipe-" +
              std::to_string(recipe.value) + "/"} {}

}  // namespace torchwatch
