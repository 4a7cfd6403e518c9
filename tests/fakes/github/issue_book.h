#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "github/transport.h"

namespace torchwatch::fakes {

/// The issues, comments and labels of one repository, with GitHub's rules. They are in a JSON
/// object that the caller stores:
///
///     {"settings": {"repository", "id", "login", "push", ...}, "issues": [], "comments": [],
///     "labels": []}
///
/// Each method is one call of the REST API and returns its response. `body` is a JSON object.
class IssueBook {
 public:
  /// `state` must outlive the book. `url` is the server's URL, for links.
  IssueBook(nlohmann::json& state, std::string url);

  github::Response list(std::map<std::string, std::string> const& query) const;
  github::Response create(nlohmann::json const& body);
  github::Response get(std::int64_t number) const;
  github::Response update(std::int64_t number, nlohmann::json const& body);
  github::Response comments_of(std::int64_t number,
                               std::map<std::string, std::string> const& query) const;
  github::Response comment(std::int64_t number, nlohmann::json const& body);
  github::Response add_labels(std::int64_t number, nlohmann::json const& body);
  github::Response lock(std::int64_t number);
  github::Response labels(std::map<std::string, std::string> const& query) const;
  github::Response create_label(nlohmann::json const& body);

  /// Adds an issue of another user. Each member replaces the default of the issue. With a member
  /// "pull_request", the issue is a pull request.
  void plant(nlohmann::json const& members);

  /// Changes an issue as a user on GitHub's pages does: members "body", "state" and "state_reason".
  void change_by_user(std::int64_t number, nlohmann::json const& members);

  /// Moves an issue to another address, to which requests for it are redirected. The API has no
  /// call for this.
  void transfer(std::int64_t number, std::string const& url);

  /// Deletes an issue. The API has no call for this: only people can.
  void erase(std::int64_t number);

  /// Returns the URL of the repository by its number, which renaming does not change.
  std::string place() const;

 private:
  void set(nlohmann::json& issue, nlohmann::json const& members);
  bool is_own(nlohmann::json const& issue) const;
  nlohmann::json new_issue() const;
  nlohmann::json own_user() const;
  nlohmann::json* find(std::int64_t number) const;
  nlohmann::json labels_from(nlohmann::json const& names);
  nlohmann::json errors_of(nlohmann::json const& body) const;
  bool may_push() const;
  bool may_triage() const;

  nlohmann::json& state_;
  std::string url_;
};

}  // namespace torchwatch::fakes
