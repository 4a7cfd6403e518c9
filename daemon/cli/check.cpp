#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "daemon/api/json.h"
#include "daemon/async/run_until_signal.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/service/open_store.h"
#include "daemon/service/service.h"
#include "storage/domain/project.h"

namespace torchwatch::cli {
namespace {

/// The judgement on one nightly.
struct Judgement {
  Nightly nightly;
  std::optional<Nightly> baseline;
  std::vector<SeriesChange> verdicts;
  std::optional<IncidentStory> incident;
  std::vector<Alarm> alarms;  ///< that are open
};

std::optional<Judgement> newest_judgement(storage::Store& store) {
  auto const nightlies = store.nightlies().all();
  if (nightlies.empty()) return std::nullopt;
  Judgement judgement;
  judgement.nightly = nightlies.back();
  if (judgement.nightly.baseline)
    judgement.baseline = store.nightlies().find(*judgement.nightly.baseline);
  judgement.verdicts = store.incidents().verdicts(judgement.nightly.id);
  if (auto const incident = store.incidents().of_nightly(judgement.nightly.id))
    judgement.incident = storage::story_of(store, *incident);
  judgement.alarms = store.alarms().open();
  return judgement;
}

api::Json to_json(Judgement const& judgement) {
  api::Json json;
  json["nightly"] = api::json_of(judgement.nightly);
  json["baseline"] = judgement.baseline ? api::json_of(*judgement.baseline) : nullptr;
  json["verdicts"] = api::Json::array();
  for (auto const& verdict : judgement.verdicts)
    json["verdicts"].push_back(api::json_of(verdict));
  json["incidents"] = api::Json::array();
  if (judgement.incident)
    json["incidents"].push_back(api::json_of(*judgement.incident, project_url));
  json["alarms"] = api::Json::array();
  for (auto const& alarm : judgement.alarms)
    json["alarms"].push_back(api::json_of(alarm));
  return json;
}

std::string percent(Comparison const& comparison) {
  if (!has_levels(comparison)) return "no figure";
  if (!comparison.ratio) return "appeared";
  return fmt::format("{:+.1f}% [{:+.1f}%, {:+.1f}%]",
                     100 * (comparison.ratio->ratio - 1),
                     100 * (comparison.ratio->low - 1),
                     100 * (comparison.ratio->high - 1));
}

std::string line_of(Commit const& commit) {
  auto const pull_request = commit.pull_request
                                ? fmt::format(" {}/pull/{}", project_url, *commit.pull_request)
                                : std::string{};
  return fmt::format(
      "{}{}  {} ({})", short_of(commit.sha), pull_request, commit.subject, commit.author);
}

/// What the commit and its parent gave when both were built again.
std::string in_another_layout(Effect const& effect) {
  if (!effect.rebuilt || !effect.rebuilt->ratio) return {};
  return fmt::format(" ({:+.1f}% in another layout)", 100 * (effect.rebuilt->ratio->ratio - 1));
}

/// How much a series moved, as the bisection saw it.
std::string seen(Effect const& effect) {
  if (effect.before <= 0) return "appeared";
  return fmt::format("{:+.1f}%", 100 * (effect.after / effect.before - 1));
}

/// How much a series moved: as its proof shows, or else as the bisection saw it.
std::string line_of(Effect const& effect) {
  auto const name = name_of(effect.series);
  if (is_proved(effect)) {
    return fmt::format("{} on {}, against its parent, explains {:.0f}%{}",
                       percent(*effect.proof),
                       name,
                       100 * effect.share,
                       in_another_layout(effect));
  }
  if (effect.proof)
    return fmt::format("{} on {}, {}, {} against its parent{}",
                       seen(effect),
                       name,
                       to_string(effect.proof->verdict),
                       percent(*effect.proof),
                       in_another_layout(effect));
  return fmt::format("{} on {}, without proof", seen(effect), name);
}

void print_effects(std::vector<Effect> const& effects) {
  constexpr std::size_t most = 5;
  auto const shown = std::min(effects.size(), most);
  for (std::size_t i = 0; i < shown; ++i)
    std::cout << "           " << line_of(effects[i]) << '\n';
  if (shown < effects.size()) std::cout << "           and " << effects.size() - shown << " more\n";
}

void print_suspects(Finding const& finding) {
  auto const& suspects = finding.suspects;
  if (finding.is_gradual)
    std::cout << "many of " << suspects.size() << " commits did it, each a little\n";
  else if (kind_of(finding) == FindingKind::layout)
    std::cout << "one build of a commit differs, and the commit does not\n";
  else if (suspects.size() == 1)
    std::cout << "one commit is the most likely, and not proved\n";
  else if (kind_of(finding) == FindingKind::improvement)
    std::cout << "it came with one of " << suspects.size() << " commits\n";
  else
    std::cout << "the culprit is one of " << suspects.size() << " commits\n";
  for (auto const& commit : suspects)
    std::cout << "             " << line_of(commit) << '\n';
}

std::string_view label_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::improvement:
      return "improved:  ";
    case FindingKind::culprit:
      return "culprit:   ";
    case FindingKind::range:
      return "range:     ";
    case FindingKind::gradual:
      return "gradual:   ";
    case FindingKind::layout:
      return "layout:    ";
  }
  return "";
}

void print_finding(Finding const& finding) {
  std::cout << label_of(kind_of(finding));
  if (finding.suspects.size() == 1 && is_culprit(finding))
    std::cout << line_of(finding.suspects.front()) << '\n';
  else
    print_suspects(finding);
  print_effects(finding.effects);
}

/// How a bisection stands, when it has no culprit to show for it; empty otherwise.
std::string standing_of(Bisection const& bisection) {
  if (bisection.state == BisectionState::failed) return "failed: " + bisection.failure;
  if (bisection.state == BisectionState::paused) return "paused";
  if (bisection.state == BisectionState::cancelled) return "cancelled";
  if (bisection.outcome == BisectionOutcome::environment)
    return "no commit is to blame: the nightlies were built or packaged differently";
  if (bisection.outcome == BisectionOutcome::layout)
    return "no commit is to blame: builds of the same commits differ by as much";
  if (bisection.outcome == BisectionOutcome::not_reproduced)
    return "the difference is gone: measured again, both ends are the same";
  if (bisection.outcome == BisectionOutcome::undecided)
    return "undecided: it ended before it was sure";
  return {};
}

void print_bisection(Bisection const& bisection) {
  auto const standing = standing_of(bisection);
  if (!standing.empty()) std::cout << "bisection: " << standing << '\n';
  for (auto const& finding : bisection.findings)
    print_finding(finding);
  if (!bisection.packages) return;
  for (auto const& line : bisection.packages->differences)
    std::cout << "  " << line << '\n';
}

/// Of a nightly without an incident.
std::string nothing_found_in(Judgement const& judgement) {
  if (!judgement.baseline) return "nothing to compare it with";
  if (judgement.baseline->commit == judgement.nightly.commit)
    return "nothing to compare: its baseline has the same commit";
  return "nothing";
}

void print(Judgement const& judgement) {
  auto const& nightly = judgement.nightly;
  std::cout << "nightly:   " << nightly.date << "  " << short_of(nightly.commit) << "  "
            << nightly.version << "  " << to_string(nightly.state);
  if (!nightly.failure.empty()) std::cout << ": " << nightly.failure;
  std::cout << '\n';
  if (judgement.baseline) {
    std::cout << "baseline:  " << judgement.baseline->date << "  "
              << short_of(judgement.baseline->commit) << '\n';
  }
  for (auto const& alarm : judgement.alarms)
    std::cout << "alarm:     " << to_string(alarm.kind) << "  "
              << (alarm.subject.empty() ? "" : alarm.subject + "  ") << alarm.detail << '\n';
  if (nightly.state == NightlyState::failed) return;
  if (!judgement.incident) {
    std::cout << "found:     " << nothing_found_in(judgement) << '\n';
    return;
  }
  for (auto const& change : judgement.incident->incident.changes)
    std::cout << "found:     " << name_of(change.series) << "  " << percent(change.comparison)
              << '\n';
  for (auto const& bisection : judgement.incident->bisections)
    print_bisection(bisection);
  auto const& report = judgement.incident->incident.report;
  std::cout << "report:    " << (report.empty() ? "when no search of it goes on" : report) << '\n';
}

/// One pass, and all bisections that people asked for.
boost::asio::awaitable<Result<>> pass_and_join(service::Service& service) {
  auto const passed = co_await service.parts.pass();
  service.parts.queue.start();
  co_await service.parts.queue.join();
  co_return passed;
}

int run_check(config::Options const& options, Place const& place, bool as_json) {
  auto store = service::open_store(options);
  if (!store) return complain("check", store.error().message);
  SystemClock const clock;
  boost::asio::io_context loop{1};
  service::Service service{loop.get_executor(), options, place.executable, *store, clock};
  auto const passed = async::run_until_signal(
      loop, bisection::ending_bisections(service.parts.queue, pass_and_join(service)));

  auto const judgement = newest_judgement(*store);
  if (judgement && as_json) std::cout << api::text_of(to_json(*judgement)) << std::endl;
  if (judgement && !as_json) print(*judgement);
  if (!passed) return complain("check", passed.error().message);
  if (!judgement) return complain("check", "feed " + options.feed.path + " has no nightly yet");
  if (judgement->nightly.state == NightlyState::failed)
    return complain("check", "nightly failed: " + judgement->nightly.failure);
  return judgement->incident ? incident_found : nothing_found;
}

}  // namespace

void add_check(CLI::App& app, Place const& place, Chosen& chosen) {
  auto const as_json = std::make_shared<bool>(false);
  auto* const check = app.add_subcommand(
      "check", "Look once, judge the newest nightly, exit: 0 nothing, 1 an incident, 2 could not");
  check->add_flag("--json", *as_json, "Print JSON");
  check->callback([as_json, &place, &chosen] {
    chosen = [as_json, &place] {
      auto const options = load_measuring_options(place);
      return options ? run_check(*options, place, *as_json) : int{could_not_run};
    };
  });
}

}  // namespace torchwatch::cli
