#include "daemon/cli/bisection_text.h"

#include <algorithm>
#include <iostream>

#include <spdlog/fmt/fmt.h>

#include "storage/base/printable.h"
#include "storage/domain/build.h"
#include "storage/domain/project.h"

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

void print_commit(ordered_json const& commit) {
  auto const& pull_request = commit.at("pull_request");
  std::cout << text(commit, "sha");
  if (pull_request.is_number()) std::cout << ' ' << project_url << "/pull/" << pull_request;
  std::cout << "  " << text(commit, "subject") << " (" << text(commit, "author") << ")\n";
}

void print_suspects(ordered_json const& finding) {
  auto const& suspects = finding.at("suspects");
  std::cout << "  " << text(finding, "headline") << " (" << text(finding, "reason") << "):";
  if (suspects.size() > 1) std::cout << '\n';
  for (auto const& commit : suspects) {
    std::cout << (suspects.size() > 1 ? "    " : " ");
    print_commit(commit);
  }
}

void print_effects(ordered_json const& effects) {
  constexpr std::size_t most = 5;
  auto const shown = std::min(effects.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    auto const& series = effects.at(i).at("series");
    std::cout << "    " << text(series, "name") << " on " << text(series, "fleet") << ": "
              << text(effects.at(i), "reason") << '\n';
  }
  if (shown < effects.size()) std::cout << "    and " << effects.size() - shown << " more\n";
}

/// "Earlier incident: 3 of nightly 2026-11-18, https://..."
void print_earlier(ordered_json const& earlier) {
  if (earlier.is_null()) return;
  std::cout << "    Earlier incident: " << earlier.at("id") << " of nightly "
            << text(earlier, "date");
  if (earlier.at("report").is_string()) std::cout << ", " << text(earlier, "report");
  std::cout << '\n';
}

void print_approvers(ordered_json const& approvers) {
  std::string names;
  for (std::string const name : approvers)
    names += (names.empty() ? "" : ", ") + name;
  if (!names.empty()) std::cout << "    Approved by: " << names << '\n';
}

void print_finding(ordered_json const& finding) {
  print_suspects(finding);
  print_approvers(finding.at("approvers"));
  print_earlier(finding.at("earlier_incident"));
  print_effects(finding.at("effects"));
  auto const& no_revert_check = finding.at("no_revert_check");
  if (no_revert_check.is_string())
    std::cout << "    No revert check: " << text(finding, "no_revert_check") << '\n';
}

/// Prints "headline: reason", or the headline alone; nothing without a headline.
void print_summary(ordered_json const& summarized) {
  if (summarized.at("headline").is_null()) return;
  std::cout << text(summarized, "headline");
  if (summarized.at("reason").is_string()) std::cout << ": " << text(summarized, "reason");
  std::cout << '\n';
}

}  // namespace

std::string text(ordered_json const& json, char const* key) {
  return printable(json.at(key).get_ref<std::string const&>(), std::string::npos);
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
  return surest.is_null() ? "no new belief" : line_of_belief(surest);
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
  std::cout << "bisection " << bisection.at("id") << ": ";
  print_summary(bisection);
  for (auto const& finding : bisection.at("findings"))
    print_finding(finding);
  auto const& packages = bisection.at("packages");
  if (packages.is_null()) return;
  print_summary(packages);
  for (std::string const line : packages.at("differences"))
    std::cout << "  " << line << '\n';
}

}  // namespace torchwatch::cli
