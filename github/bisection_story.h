#pragma once

#include <string>

#include "storage/domain/bisection.h"

/// The result of a bisection, in Markdown. Pure.
namespace torchwatch::github {

/// A commit's short name, linked where `project` shows it.
std::string commit_link(CommitSha const& sha, std::string const& project);

/// The commits between two commits, "a...b", linked to GitHub's comparison.
std::string compare_link(CommitSha const& start, CommitSha const& end, std::string const& project);

/// The author's name without the address, which does not belong on a public page; "-" if empty.
std::string author_name(Commit const& commit);

/// The address of a commit's pull request; "-" if it has none.
std::string pull_request_link(Commit const& commit, std::string const& project);

/// " ([#7](...), `Jane Doe`)", the pull request and the author of a commit; empty without either.
std::string credit_of(Commit const& commit, std::string const& project);

/// A series and the fleet that measured it.
std::string series_name(Series const& series);

/// The commits of its start that the end of a bisection lacks, as a paragraph for the first lines
/// of a report. Empty if it has all of them.
std::string ancestry_story(Bisection const& bisection, std::string const& project);

/// The named commits that trunk has reverted already, or that caused an incident before: a
/// paragraph each, for the first lines of a report. Mostly empty.
std::string landings_story(Bisection const& bisection, std::string const& project);

/// The outcome of a bisection and its findings, in their order. A culprit, an improvement, and a
/// commit without proof are called just that. For a range, every suspect is listed with the reason.
std::string bisection_story(Bisection const& bisection, std::string const& project);

/// The evidence for each finding, series by series: proof, levels, confidence, revert check. Empty
/// without findings.
std::string evidence_story(Bisection const& bisection, std::string const& project);

}  // namespace torchwatch::github
