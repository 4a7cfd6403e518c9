#include "github/refusal.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "github/answer.h"

namespace torchwatch::github {
namespace {

using nlohmann::json;

struct Description {
  Refusal refusal;
  std::string_view word;
  std::string_view advice;
};

constexpr std::array descriptions{
    Description{Refusal::none, "none", "GitHub refuses nothing"},
    Description{Refusal::credentials,
                "credentials",
                "GitHub accepts no token of torchwatch: renew the token, or correct github.app; "
                "`torchwatch config check` tries them"},
    Description{Refusal::suspended,
                "suspended",
                "the installation of the GitHub App is suspended: its owner can end that under "
                "Settings, GitHub Apps"},
    Description{Refusal::archived,
                "archived",
                "the repository is archived, so nothing can be written: unarchive it, or change "
                "github.repository"},
    Description{Refusal::issues_disabled,
                "issues_disabled",
                "issues are disabled in the repository: enable them in its settings, or change "
                "github.repository"},
    Description{Refusal::hidden,
                "hidden",
                "the repository does not exist, or the token may not see it: correct "
                "github.repository, or give the token access"},
    Description{Refusal::blocked,
                "blocked",
                "the owner of the repository blocked the token's user: ask the owner to unblock "
                "it, or use another account"},
    Description{Refusal::deleted,
                "deleted",
                "the issue was deleted, so updates of its incident are not published"},
    Description{Refusal::transferred,
                "transferred",
                "the issue was moved to a repository that the token may not see, so updates of its "
                "incident are not published: give the token access there"},
    Description{Refusal::locked,
                "locked",
                "the issue is locked for the token, so this update is not published: unlock it, or "
                "let the token push"},
    Description{Refusal::permission,
                "permission",
                "the token lacks a permission: it needs \"Issues: read and write\""},
    Description{Refusal::label, "label", "GitHub allows no such label: correct github.labels"},
    Description{Refusal::assignee,
                "assignee",
                "a user cannot be assigned to issues of the repository: name users with access to "
                "it"},
    Description{Refusal::contents, "contents", "GitHub allows no such contents of a request"},
    Description{Refusal::other, "other", "GitHub refuses a request"},
};

Description const& description_of(Refusal refusal) {
  return *std::ranges::find(descriptions, refusal, &Description::refusal);
}

bool holds(std::string const& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Members of issues that GitHub does not accept: [{"resource": "Issue", "field": "assignees"}].
Refusal refused_member(json const& body) {
  auto const errors = body.find("errors");
  if (errors == body.end() || !errors->is_array()) return Refusal::contents;
  for (auto const& error : *errors) {
    if (!error.is_object()) continue;
    auto const field = text_at(error, "field");
    if (field == "labels" || text_at(error, "resource") == "Label") return Refusal::label;
    if (field.starts_with("assignee")) return Refusal::assignee;
  }
  return Refusal::contents;
}

Refusal forbidden(std::string const& message) {
  if (holds(message, "archived")) return Refusal::archived;
  if (holds(message, "suspended")) return Refusal::suspended;
  if (holds(message, "locked")) return Refusal::locked;
  return Refusal::permission;
}

}  // namespace

std::string_view to_string(Refusal refusal) {
  return description_of(refusal).word;
}

std::optional<Refusal> parse_refusal(std::string_view text) {
  auto const* const found = std::ranges::find(descriptions, text, &Description::word);
  return found == descriptions.end() ? std::nullopt : std::optional{found->refusal};
}

Refusal refusal_of(Response const& answer, bool was_redirected) {
  if (kind_of(answer) != AnswerKind::refused) return Refusal::none;
  auto const body = object_in(answer);
  auto const text = explanation_of(answer);
  if (holds(text, "Repository access blocked")) return Refusal::hidden;  // by GitHub itself
  // With status 403, or 422 among the errors.
  if (holds(text, "blocked") || holds(text, "Blocked")) return Refusal::blocked;
  switch (answer.status) {
    case 401:
      return Refusal::credentials;
    case 403:
      return forbidden(text);
    case 404:
      return was_redirected ? Refusal::transferred : Refusal::hidden;
    case 410:
      return holds(text, "disabled") ? Refusal::issues_disabled : Refusal::deleted;
    case 422:
      return refused_member(body);
    default:
      return Refusal::other;
  }
}

bool stops_repository(Refusal refusal) {
  return refusal >= Refusal::credentials && refusal <= Refusal::blocked;
}

bool refuses_token(Refusal refusal) {
  return refusal == Refusal::credentials || refusal == Refusal::suspended;
}

bool ends_report(Refusal refusal) {
  return refusal >= Refusal::blocked && refusal <= Refusal::locked;
}

std::string advice_on(Refusal refusal) {
  return std::string{description_of(refusal).advice};
}

}  // namespace torchwatch::github
