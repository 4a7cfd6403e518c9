#include "daemon/bisection/landings.h"

#include <algorithm>
#include <optional>
#include <string>

#include <spdlog/spdlog.h>

#include "bisect/git/history.h"

namespace torchwatch::bisection {
namespace {

/// True when it belongs to an incident that was opened before that of `bisection`. A bisection that
/// a user requested without an incident comes after all of them.
bool is_of_earlier_incident(Bisection const& one, Bisection const& bisection) {
  return one.incident && (!bisection.incident || *one.incident < *bisection.incident);
}

/// True when it names a culprit whose change the commit lands again.
bool names_change_of(Bisection const& one, Commit const& commit, std::string const& message) {
  return std::ranges::any_of(one.findings, [&](Finding const& finding) {
    auto const& suspect = finding.suspects.front();
    return is_to_blame(finding) && suspect.sha != commit.sha &&
           bisect::lands_again(message, suspect);
  });
}

std::optional<EarlierIncident> earlier_incident(storage::Store& store,
                                                Bisection const& bisection,
                                                Commit const& commit,
                                                std::string const& message) {
  for (auto const& one : store.bisections().all_in_brief()) {
    if (!is_of_earlier_incident(one, bisection) || !names_change_of(one, commit, message)) continue;
    auto const incident = store.incidents().find(*one.incident).value();
    auto const nightly = store.nightlies().find(incident.nightly).value();
    return EarlierIncident{incident.id, nightly.date, incident.report};
  }
  return std::nullopt;
}

Result<> note_landing(storage::Store& store,
                      config::SourceOptions const& source,
                      Bisection const& bisection,
                      Finding& finding) {
  auto const& suspect = finding.suspects.front();
  auto const history = bisect::GitHistory::open(source.repository);
  if (!history) return history.error();
  auto const message = history->message(suspect.sha);
  if (!message) return message.error();
  finding.approvers = bisect::approvers_of(*message);
  finding.earlier = earlier_incident(store, bisection, suspect, *message);
  auto const& landed = bisection.inside ? bisection.inside->merge : suspect.sha;
  auto const later = history->landed_after(landed, source.remote);
  if (!later) return later.error();
  finding.reverted_by = bisect::standing_revert(suspect, *later);
  return {};
}

}  // namespace

void note_landings(storage::Store& store,
                   config::SourceOptions const& source,
                   Bisection& bisection) {
  for (auto& finding : bisection.findings) {
    if (finding.suspects.size() > 1 || finding.missing > 0) continue;
    auto const noted = note_landing(store, source, bisection, finding);
    if (!noted)
      spdlog::warn("landings_unknown bisection={} commit={} reason=\"{}\"",
                   bisection.id.value,
                   short_of(finding.suspects.front().sha),
                   noted.error().message);
  }
}

}  // namespace torchwatch::bisection
