#pragma once

#include <string>

#include "storage/domain/bisection.h"

/// What a bisection found, in Markdown. Pure.
namespace torchwatch::github {

/// A commit's short name, linked where `project` shows it.
std::string commit_link(CommitSha const& sha, std::string const& project);

/// All that changed between two commits, "a...b", linked as GitHub compares them.
std::string compare_link(CommitSha const& start, CommitSha const& end, std::string const& project);

/// A series and the fleet that measured it.
std::string series_name(Series const& series);

/// Which commits of its start the end of a bisection lacks, a paragraph for the first lines of a
/// report. Empty where it has all of them.
std::string ancestry_story(Bisection const& bisection, std::string const& project);

/// What trunk and earlier incidents say of commits that it named, a paragraph each, for the first
/// lines of a report: that one is reverted already, or caused an incident before. Mostly empty.
std::string landings_story(Bisection const& bisection, std::string const& project);

/// How it ended, and what it found, in the order of its findings. A culprit comes with
/// its proof on each series; an improvement, and a commit without proof, are called just that; of a
/// range every suspect is listed with the reason why.
std::string bisection_story(Bisection const& bisection, std::string const& project);

}  // namespace torchwatch::github
