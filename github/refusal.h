#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "github/transport.h"

namespace torchwatch::github {

/// The reason why GitHub refuses a request for good, as far as its response shows it. The order
/// matters: `credentials` to `blocked` concern the whole repository, `blocked` to `locked` end the
/// updates of an issue.
enum class Refusal {
  none,             ///< it did not refuse, or a repetition may help
  credentials,      ///< the token or the App's key is wrong, expired or revoked, or there is none
  suspended,        ///< the owner suspended the installation of the App
  archived,         ///< the repository is read-only
  issues_disabled,  ///< the repository has no issues
  hidden,           ///< the repository does not exist, or the token may not see it
  blocked,          ///< the owner of the repository blocked the token's user
  deleted,          ///< the issue was deleted
  transferred,      ///< the issue was moved to a repository that the token may not see
  locked,           ///< the issue is locked, and the token may not push
  permission,       ///< the token lacks a permission, or an organization must authorize it
  label,            ///< a label is not allowed
  assignee,         ///< a user cannot be assigned to issues of the repository
  contents,         ///< another member of the request is not allowed
  other,
};

std::string_view to_string(Refusal refusal);
std::optional<Refusal> parse_refusal(std::string_view text);

/// Returns why GitHub refused a request. `was_redirected`: GitHub sent it from another address to
/// this one.
Refusal refusal_of(Response const& answer, bool was_redirected = false);

/// True when every request to the repository fails until a person changes something there, or in
/// the configuration.
bool stops_repository(Refusal refusal);

/// True when GitHub refuses the token or the App itself, so that every request fails.
bool refuses_token(Refusal refusal);

/// True when no further message can be added to the issue.
bool ends_report(Refusal refusal);

/// Returns what is wrong and how to mend it, as one line.
std::string advice_on(Refusal refusal);

}  // namespace torchwatch::github
