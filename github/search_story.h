#pragma once

#include <string>

#include "storage/domain/bisection.h"

/// What a search for the culprit found, in Markdown. Pure.
namespace torchwatch::github {

/// A commit's short name, linked where `project` shows it.
std::string commit_link(CommitSha const& sha, std::string const& project);

/// One search: the culprit with its proof; or the range that is left, every suspect with the reason
/// why; or that nothing was found. `changes` is the number of series of the incident.
std::string search_story(Bisection const& bisection,
                         std::size_t changes,
                         std::string const& project);

}  // namespace torchwatch::github
