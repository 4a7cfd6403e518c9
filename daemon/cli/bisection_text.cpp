#include "daemon/cli/bisection_text.h"

#include <algorithm>
#include <iostream>

#include <spdlog/fmt/fmt.h>

#include "storage/domain/bisection.h"

namespace torchwatch::cli {
namespace {

using nlohmann::ordered_json;

/// "latency 73% in 3bb8db4bf099..e275c308a59b".
std::string line_of_belief(ordered_json const& belief) {
  auto const metric = text(belief.at("series"), "metric");
  double const no_change = belief.at("no_change");
  double const probability = belief.at("probability");
  if (no_change > probability) return fmt::format("{} {:.0f}% unchanged", metric, 100 * no_change);
  auto const first = short_sha(belief.at("suspects").at(0));
  auto const last = short_sha(belief.at("suspects").at(1));
  auto const place = first == last ? first : first + ".." + last;
  return fmt::format("{} {:.0f}% in {}", metric, 100 * probability, place);
}

/// What a finding is called, as kind_of() says. Only a proof accuses.
std::string heading_of(ordered_json const& finding) {
  auto const kind = text(finding, "kind");
  if (kind == to_string(FindingKind::improvement)) return "improved:";
  if (kind == to_string(FindingKind::culprit)) return "culprit:";
  if (kind == to_string(FindingKind::gradual)) return "many of these, each a little:";
  if (kind == to_string(FindingKind::layout)) return "one build, not the commit:";
  if (finding.at("suspects").size() == 1) return "most likely, not proved:";
  return "range, of which one is the culprit:";
}

void print_finding(ordered_json const& finding) {
  std::cout << "  " << heading_of(finding) << '\n';
  for (auto const& commit : finding.at("suspects"))
    std::cout << "    " << text(commit, "sha") << "  " << text(commit, "subject") << '\n';
}

}  // namespace

std::string text(ordered_json const& json, char const* key) {
  return json.at(key).get<std::string>();
}

std::string short_sha(ordered_json const& sha) {
  return sha.is_string() ? short_of(CommitSha{sha.get<std::string>()}) : "-";
}

std::string belief_after(ordered_json const& step) {
  ordered_json surest;
  for (auto const& belief : step.at("beliefs")) {
    auto const& series = belief.at("series");
    if (series.at("fleet") != step.at("fleet")) continue;
    if (series.at("benchmark") != step.at("benchmark")) continue;
    if (surest.is_null() || belief.at("no_change") < surest.at("no_change")) surest = belief;
  }
  return surest.is_null() ? "nothing new" : line_of_belief(surest);
}

std::string line_of_step(ordered_json const& step) {
  std::string commits;
  for (auto const& commit : step.at("commits"))
    commits += " " + short_sha(commit);
  auto const note = text(step, "note");
  return fmt::format("wave {}  {}{} {}  {} -> {}",
                     step.at("wave").get<int>(),
                     step.at("stage") == "nightlies" ? "nightlies of " : "",
                     text(step, "benchmark"),
                     commits,
                     text(step, "reason"),
                     note.empty() ? belief_after(step) : note);
}

void print_bisection(ordered_json const& bisection) {
  std::cout << "bisection " << bisection.at("id") << ": " << text(bisection, "state");
  if (bisection.at("outcome").is_string()) std::cout << ", " << text(bisection, "outcome");
  std::cout << '\n';
  for (auto const& finding : bisection.at("findings"))
    print_finding(finding);
  if (bisection.at("packages").is_null()) return;
  for (std::string const line : bisection.at("packages").at("differences"))
    std::cout << "  " << line << '\n';
}

}  // namespace torchwatch::cli
