#include "daemon/cli/check_result.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "daemon/nightly/sweep.h"

namespace torchwatch::cli {
namespace {

std::string text_of_not_judged(Judgement const& judgement) {
  auto const& series = judgement.not_judged;
  return fmt::format(
      "nightly {} did not judge {} series ({}: {}{}), which may have regressed; the next nightly "
      "that judges them is compared with the last one that did",
      judgement.nightly.date,
      series.size(),
      series.front().fleet,
      name_of(series.front()),
      series.size() == 1 ? "" : ", ...");
}

CheckResult could_not(std::string problem) {
  return {could_not_run, std::move(problem)};
}

std::vector<IncidentStory> incidents_of(storage::Store& store,
                                        NightlyId newest,
                                        std::set<NightlyId> const& judged_before) {
  auto found = store.incidents().all();
  std::erase_if(found, [&](auto const& each) { return judged_before.contains(each.nightly); });
  auto const own = store.incidents().of_nightly(newest);
  if (own && std::ranges::find(found, own->id, &Incident::id) == found.end()) found.push_back(*own);
  std::ranges::sort(found, {}, &Incident::nightly);
  std::vector<IncidentStory> stories;
  for (auto const& incident : found)
    stories.push_back(storage::story_of(store, incident));
  return stories;
}

bool is_judged(Nightly const& nightly) {
  return nightly.state == NightlyState::bisected || nightly.state == NightlyState::done ||
         nightly.state == NightlyState::failed;
}

}  // namespace

std::set<NightlyId> judged_nightlies(storage::Store& store) {
  std::set<NightlyId> judged;
  for (auto const& nightly : store.nightlies().all())
    if (is_judged(nightly)) judged.insert(nightly.id);
  return judged;
}

std::optional<Judgement> newest_judgement(storage::Store& store,
                                          config::Options const& options,
                                          std::set<NightlyId> const& judged_before,
                                          Timestamp now) {
  auto const newest = store.nightlies().newest();
  if (!newest) return std::nullopt;
  Judgement judgement;
  judgement.nightly = *newest;
  if (judgement.nightly.baseline)
    judgement.baseline = store.nightlies().find(*judgement.nightly.baseline);
  judgement.verdicts = store.incidents().verdicts(judgement.nightly.id);
  judgement.incidents = incidents_of(store, judgement.nightly.id, judged_before);
  judgement.alarms = store.alarms().open();
  judgement.not_judged = nightly::not_judged(options, store, judgement.nightly);
  std::erase_if(judgement.not_judged,
                [&](Series const& series) { return store.rulings().is_muted(series, now); });
  return judgement;
}

CheckResult result_of(Result<> const& passed,
                      std::optional<Judgement> const& judgement,
                      std::string const& feed) {
  if (!passed) return could_not(passed.error().message);
  if (!judgement) return could_not("feed " + feed + " has no nightly yet");
  if (judgement->nightly.state == NightlyState::failed)
    return could_not("nightly failed: " + judgement->nightly.failure);
  if (!judgement->incidents.empty()) return {incident_found, ""};
  if (!judgement->not_judged.empty()) return could_not(text_of_not_judged(*judgement));
  return {};
}

}  // namespace torchwatch::cli
