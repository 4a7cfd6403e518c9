#include "github/bisection_story.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "github/markdown.h"
#include "storage/domain/words.h"

namespace torchwatch::github {
namespace {

/// Series shown of one finding. More would hide the next finding.
constexpr std::size_t max_effects = 8;

/// Lines shown of the differences between two builds.
constexpr std::size_t max_differences = 20;

/// The reason, with its quote made harmless.
std::string escaped_reason(words::Summary const& summary) {
  if (summary.quote.empty()) return summary.reason;
  return summary.reason + (summary.reason.empty() ? "" : ": ") +
         verbatim(without_directories(summary.quote));
}

/// "**Headline:** reason."
std::string paragraph(words::Summary const& summary) {
  auto const reason = escaped_reason(summary);
  if (reason.empty()) return "**" + summary.headline + ".**\n\n";
  return "**" + summary.headline + ":** " + reason + ".\n\n";
}

std::string effect_lines(Finding const& finding) {
  auto const shown = std::min(finding.effects.size(), max_effects);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    auto const& effect = finding.effects[i];
    text += "- " + series_name(effect.series) + ": " + words::evidence(effect, finding) + "\n";
  }
  if (finding.effects.size() > shown)
    text += fmt::format("- and {} more series\n", finding.effects.size() - shown);
  if (!finding.no_revert_check.empty())
    text += "- No revert check: " + verbatim(without_directories(finding.no_revert_check)) + "\n";
  return text + "\n";
}

/// The incident, linked where its report is an issue: a file's path stays on this host.
std::string earlier_link(EarlierIncident const& earlier) {
  auto const name =
      fmt::format("incident {} of nightly {}", earlier.id.value, verbatim(earlier.date));
  return earlier.report.starts_with("https://") ? name + " (" + earlier.report + ")" : name;
}

std::string commit_story(Finding const& finding,
                         Bisection const& bisection,
                         std::string const& project) {
  auto const& commit = finding.suspects.front();
  auto const [headline, reason, quote] = words::summary(finding, bisection);
  return fmt::format("**{}: {}** {}{}: {}.\n\n",
                     headline,
                     commit_link(commit.sha, project),
                     verbatim(commit.subject),
                     credit_of(commit, project),
                     reason);
}

std::string range_story(Finding const& finding,
                        Bisection const& bisection,
                        std::string const& project) {
  std::vector<TableRow> rows;
  for (auto const& commit : finding.suspects) {
    rows.push_back({commit_link(commit.sha, project),
                    pull_request_link(commit, project),
                    verbatim(commit.subject),
                    author_name(commit),
                    escaped_reason(words::suspicion(commit, finding, bisection))});
  }
  auto const* const order = finding.missing > 0 ? "As they were searched" : "Oldest first";
  return paragraph(words::summary(finding, bisection)) + order + ":\n\n" +
         table({"commit", "pull request", "subject", "author", "why it is listed"}, rows) + "\n";
}

/// The comparisons of the nightly builds, made once more.
std::string packages_measured(std::vector<SeriesChange> const& changes) {
  if (changes.empty()) return {};
  std::vector<TableRow> rows;
  for (auto const& change : changes) {
    rows.push_back({series_name(change.series),
                    words::figures(change.series.metric, change.comparison),
                    std::string{to_string(change.comparison.verdict)}});
  }
  return table({"nightly builds, measured again", "change", "verdict"}, rows) + "\n";
}

std::string packages_story(Bisection const& bisection) {
  if (!bisection.packages) return {};
  auto const& lines = bisection.packages->differences;
  auto text = packages_measured(bisection.packages->changes);
  auto const introduction = words::package_differences(bisection);
  if (!introduction.headline.empty()) text += paragraph(introduction);
  for (std::size_t i = 0; i < std::min(lines.size(), max_differences); ++i)
    text += "- " + verbatim(without_directories(lines[i])) + "\n";
  if (lines.size() > max_differences)
    text += fmt::format("- and {} more\n", lines.size() - max_differences);
  return text + (lines.empty() ? "" : "\n");
}

/// The series without an answer: no finding names them, and they were not measured as unchanged.
std::string open_story(Bisection const& bisection) {
  if (bisection.steps.empty()) return {};
  auto const is_named = [&](Series const& series) {
    return std::ranges::any_of(bisection.findings, [&](Finding const& finding) {
      return std::ranges::count(finding.effects, series, &Effect::series) > 0;
    });
  };
  std::string text;
  for (auto const& belief : bisection.steps.back().beliefs)
    if (belief.no_change < words::certain && !is_named(belief.series))
      text += "- " + series_name(belief.series) + "\n";
  if (text.empty()) return text;
  return "It is not known whether these series changed:\n\n" + text + "\n";
}

/// The outcome, unless the findings say all of it.
std::string outcome_story(Bisection const& bisection) {
  auto const summary = words::summary(bisection);
  bool const is_said_by_findings = bisection.state == BisectionState::done &&
                                   !bisection.findings.empty() && summary.reason.empty();
  return is_said_by_findings ? "" : paragraph(summary);
}

/// "Bisected from A (good) to B (bad)."
std::string ends_story(Bisection const& bisection, std::string const& project) {
  auto const& [start, end] = std::tie(bisection.request.start, bisection.request.end);
  auto const merge =
      bisection.inside ? "inside merge " + commit_link(bisection.inside->merge, project) + " " : "";
  return fmt::format("Bisected {}from {} (good) to {} (bad).\n\n",
                     merge,
                     commit_link(start, project),
                     commit_link(end, project));
}

/// A link to all commits, where the bisection could build none of them.
std::string all_commits(Bisection const& bisection, std::string const& project) {
  if (bisection.outcome != BisectionOutcome::range || !measured_nightlies_alone(bisection))
    return {};
  return "All that lies between the ends: " +
         compare_link(bisection.request.start, bisection.request.end, project) + "\n\n";
}

}  // namespace

std::string commit_link(CommitSha const& sha, std::string const& project) {
  if (!is_commit_sha(sha.hex)) return verbatim(sha.hex);
  return fmt::format("[`{}`]({}/commit/{})", short_of(sha), project, sha.hex);
}

std::string compare_link(CommitSha const& start, CommitSha const& end, std::string const& project) {
  if (!is_commit_sha(start.hex) || !is_commit_sha(end.hex))
    return verbatim(start.hex + "..." + end.hex);
  return fmt::format("[`{}...{}`]({}/compare/{}...{})",
                     short_of(start),
                     short_of(end),
                     project,
                     start.hex,
                     end.hex);
}

std::string author_name(Commit const& commit) {
  return verbatim(std::string_view{commit.author}.substr(0, commit.author.find('<')));
}

std::string pull_request_link(Commit const& commit, std::string const& project) {
  if (!commit.pull_request) return "-";
  return fmt::format("{}/pull/{}", project, *commit.pull_request);
}

std::string credit_of(Commit const& commit, std::string const& project) {
  std::string credit;
  if (commit.pull_request)
    credit = fmt::format("[#{}]({})", *commit.pull_request, pull_request_link(commit, project));
  if (!commit.author.empty()) credit += (credit.empty() ? "" : ", ") + author_name(commit);
  return credit.empty() ? credit : " (" + credit + ")";
}

std::string series_name(Series const& series) {
  return verbatim(name_of(series)) + " on " + verbatim(series.fleet);
}

std::string ancestry_story(Bisection const& bisection, std::string const& project) {
  if (!bisection.ancestry) return {};
  auto const& [start, end] = std::tie(bisection.request.start, bisection.request.end);
  auto const& [base, missing, added] = *bisection.ancestry;
  auto const lacked = fmt::format("{} is missing in {} ({})",
                                  compare_link(base, start, project),
                                  commit_link(end, project),
                                  words::commits(missing));
  if (added == 0) return "**Built from an older commit:** " + lacked + ".\n\n";
  return fmt::format("**Built from a side branch:** {}; {} is only in it ({}).\n\n",
                     lacked,
                     compare_link(base, end, project),
                     words::commits(added));
}

std::string landings_story(Bisection const& bisection, std::string const& project) {
  std::string text;
  for (auto const& finding : bisection.findings) {
    auto const& commit = finding.suspects.front();
    auto const named = fmt::format("{}: {} {}\n\n",
                                   words::summary(finding, bisection).headline,
                                   commit_link(commit.sha, project),
                                   verbatim(commit.subject));
    if (finding.reverted_by)
      text += fmt::format("**Already reverted on trunk by {}.** {}",
                          commit_link(*finding.reverted_by, project),
                          named);
    if (finding.earlier)
      text +=
          fmt::format("**Landed before:** the culprit of {} had the same title or pull request. {}",
                      earlier_link(*finding.earlier),
                      named);
  }
  return text;
}

std::string bisection_story(Bisection const& bisection, std::string const& project) {
  auto text =
      ends_story(bisection, project) + outcome_story(bisection) + all_commits(bisection, project);
  for (auto const& finding : bisection.findings) {
    text += finding.suspects.size() == 1 ? commit_story(finding, bisection, project)
                                         : range_story(finding, bisection, project);
  }
  if (bisection.state == BisectionState::done && !bisection.findings.empty())
    text += open_story(bisection);
  return text + packages_story(bisection);
}

std::string evidence_story(Bisection const& bisection, std::string const& project) {
  std::string text;
  for (auto const& finding : bisection.findings) {
    text += words::summary(finding, bisection).headline;
    if (finding.suspects.size() == 1)
      text += " " + commit_link(finding.suspects.front().sha, project);
    text += ":\n\n" + effect_lines(finding);
  }
  return text;
}

}  // namespace torchwatch::github
