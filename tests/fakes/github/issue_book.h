#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "github/transport.h"

namespace torchwatch::fakes {

/// Issues, comments and labels of one repository with GitHub's rules, kept in a JSON object that
/// somebody else stores:
///
///     {"settings": {"repository", "id", "login", "push", ...}, "issues": [], "comments": [],
///     "labels": []}
///
/// Each method is one call of the REST API and returns its answer. `body` is a JSON object.
class IssueBook {
 public:
  /// `state` must outlive the book. `url` is the server's own, for links.
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

  /// Puts an issue there that somebody else wrote: any member given replaces the default, and a
  /// member "pull_request" makes it one.
  void plant(nlohmann::json const& members);

  /// Its owner deletes it, which only people can.
  void erase(std::int64_t number);

  /// The URL of the repository by its number, which survives renaming.
  std::string place() const;

 private:
  nlohmann::json new_issue() const;
  nlohmann::json* find(std::int64_t number) const;
  nlohmann::json labels_from(nlohmann::json const& names);
  bool may_push() const;
  bool may_triage() const;

  nlohmann::json& state_;
  std::string url_;
};

}  // namespace torchwatch::fakes
