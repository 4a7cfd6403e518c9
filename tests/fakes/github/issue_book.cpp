#include "tests/fakes/github/issue_book.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <ctime>
#include <sstream>
#include <utility>
#include <vector>

#include <boost/algorithm/string/case_conv.hpp>
#include <fmt/chrono.h>

#include "tests/fakes/github/wire.h"

namespace torchwatch::fakes {
namespace {

using github::Response;
using nlohmann::json;
using Query = std::map<std::string, std::string>;

std::string text_of(std::time_t time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time));
}

std::string now() {
  return text_of(std::time(nullptr));
}

std::ptrdiff_t code_points(std::string const& text) {
  return std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  });
}

json field_error(std::string const& resource, std::string const& field, std::string const& code) {
  return json::array({{{"resource", resource}, {"field", field}, {"code", code}}});
}

/// Returns the errors of a text member, or null.
json text_error(json const& body, std::string const& field, std::ptrdiff_t limit) {
  auto const found = body.find(field);
  if (found == body.end() || found->is_null()) return nullptr;
  if (!found->is_string()) return field_error("Issue", field, "invalid");
  if (code_points(found->get<std::string>()) <= limit) return nullptr;
  auto errors = field_error("Issue", field, "custom");
  errors[0]["message"] = fmt::format("{} is too long (maximum is {} characters)", field, limit);
  return errors;
}

/// Returns the errors of an issue's members, or null.
json issue_errors(json const& body) {
  auto errors = text_error(body, "title", 256);
  if (errors.is_null()) errors = text_error(body, "body", 65536);
  if (errors.is_null() && body.contains("labels") && !body["labels"].is_array())
    errors = field_error("Issue", "labels", "invalid");
  return errors;
}

bool is_one_of(json const& value, std::vector<std::string> const& words) {
  return value.is_string() && std::ranges::count(words, value.get<std::string>()) > 0;
}

/// Returns the errors of the members that change the state of an issue, or null.
json state_errors(json const& body) {
  if (body.contains("state") && !is_one_of(body["state"], {"open", "closed"}))
    return field_error("Issue", "state", "invalid");
  auto const reason = body.value("state_reason", json());
  if (!reason.is_null() &&
      !is_one_of(reason, {"completed", "not_planned", "duplicate", "reopened"}))
    return field_error("Issue", "state_reason", "invalid");
  return nullptr;
}

bool is_gone(json const* issue) {
  return issue == nullptr || issue->value("deleted", false) || issue->contains("moved_to");
}

/// Returns GitHub's response for an issue that does not exist, was deleted or was transferred.
Response missing(json const* issue) {
  if (issue == nullptr) return problem(404, "Not Found");
  if (!issue->contains("moved_to")) return problem(410, "This issue was deleted");
  auto response = problem(301, "Moved Permanently");
  response.headers["location"] = issue->at("moved_to").get<std::string>();
  return response;
}

/// Returns the errors of the names in `field` that are in `refused`, or null.
json refused_names(json const& body, char const* field, json const& refused) {
  auto const names = body.value(field, json::array());
  for (auto const& name : names)
    if (std::find(refused.begin(), refused.end(), name) != refused.end()) {
      auto errors = field_error("Issue", field, "invalid");
      errors[0]["value"] = name;
      return errors;
    }
  return nullptr;
}

Response invalid(json const& errors) {
  return problem(422, "Validation Failed", errors);
}

std::string value_of(Query const& query, std::string const& name, std::string const& otherwise) {
  auto const found = query.find(name);
  return found == query.end() ? otherwise : found->second;
}

bool has_label(json const& labels, std::string const& name) {
  return std::ranges::any_of(labels, [&](json const& label) {
    return boost::to_lower_copy(label.value("name", std::string{})) == boost::to_lower_copy(name);
  });
}

bool is_wanted(json const& issue, Query const& query) {
  auto const state = value_of(query, "state", "open");
  if (state != "all" && issue.at("state") != state) return false;
  auto const creator = value_of(query, "creator", "");
  if (!creator.empty() && boost::to_lower_copy(issue.at("user").at("login").get<std::string>()) !=
                              boost::to_lower_copy(creator))
    return false;
  if (issue.at("updated_at") < json(value_of(query, "since", ""))) return false;
  std::istringstream labels{value_of(query, "labels", "")};
  for (std::string label; std::getline(labels, label, ',');)
    if (!has_label(issue.at("labels"), label)) return false;
  return true;
}

}  // namespace

IssueBook::IssueBook(json& state, std::string url) : state_{state}, url_{std::move(url)} {}

std::string IssueBook::place() const {
  return url_ + "/repositories/" + state_["settings"]["id"].dump();
}

Response IssueBook::list(Query const& query) const {
  std::vector<json> wanted;
  auto const lag = state_["settings"]["lag_s"].get<std::time_t>();
  auto const newest = json(text_of(std::time(nullptr) - lag));
  for (auto const& issue : state_["issues"])
    if (!is_gone(&issue) && issue.at("created_at") <= newest && is_wanted(issue, query))
      wanted.push_back(issue);
  if (value_of(query, "direction", "desc") == "desc") std::ranges::reverse(wanted);
  return page_of(wanted, place() + "/issues", query);
}

Response IssueBook::create(json const& body) {
  auto const title = body.value("title", json());
  if (title.is_null() || title == json(std::string{}))
    return invalid(field_error("Issue", "title", "missing_field"));
  auto const errors = errors_of(body);
  if (!errors.is_null()) return invalid(errors);
  auto issue = new_issue();
  issue["title"] = title;
  issue["body"] = body.value("body", json());
  // Without the right to push, GitHub drops labels without an error. The right to triage is not
  // enough.
  if (may_push()) issue["labels"] = labels_from(body.value("labels", json::array()));
  state_["issues"].push_back(issue);
  auto response = answer(201, issue);
  response.headers["location"] = issue["url"];
  return response;
}

Response IssueBook::get(std::int64_t number) const {
  auto const* const issue = find(number);
  return is_gone(issue) ? missing(issue) : answer(200, *issue);
}

Response IssueBook::update(std::int64_t number, json const& body) {
  auto* const issue = find(number);
  if (is_gone(issue)) return missing(issue);
  // Authors may edit and close their own issues, but not label them.
  bool const is_allowed = may_triage() || (is_own(*issue) && !body.contains("labels"));
  if (!is_allowed) return problem(403, "Resource not accessible by personal access token");
  auto errors = errors_of(body);
  if (errors.is_null()) errors = state_errors(body);
  if (!errors.is_null()) return invalid(errors);
  bool const was_open = issue->at("state") == "open";
  set(*issue, body);
  if (was_open && issue->at("state") == "closed") (*issue)["closed_by"] = own_user();
  if (body.contains("labels")) (*issue)["labels"] = labels_from(body["labels"]);
  return answer(200, *issue);
}

/// Changes members of an issue. GitHub names a reason for each change of the state.
void IssueBook::set(json& issue, json const& members) {
  for (auto const* const key : {"title", "body"})
    if (members.contains(key)) issue[key] = members[key];
  auto const before = issue.at("state");
  auto const after = members.value("state", before);
  auto const reason = members.value("state_reason", json());
  if (after != before) {
    bool const is_closed = after == "closed";
    issue["state"] = after;
    issue["closed_by"] = nullptr;
    issue["state_reason"] =
        is_closed ? (reason.is_null() ? json("completed") : reason) : json("reopened");
    issue["closed_at"] = is_closed ? json(now()) : json();
  } else if (after == "closed" && !reason.is_null()) {
    issue["state_reason"] = reason;
  }
  issue["updated_at"] = now();
}

void IssueBook::change_by_user(std::int64_t number, json const& members) {
  auto* const issue = find(number);
  if (!is_gone(issue)) set(*issue, members);
}

/// True for an issue of the token's user.
bool IssueBook::is_own(json const& issue) const {
  return issue.at("user").at("login") == state_["settings"]["login"];
}

Response IssueBook::comments_of(std::int64_t number, Query const& query) const {
  if (auto const* const issue = find(number); is_gone(issue)) return missing(issue);
  std::vector<json> comments;
  for (auto const& comment : state_["comments"])
    if (comment.at("issue") == number) comments.push_back(comment);
  return page_of(comments, fmt::format("{}/issues/{}/comments", place(), number), query);
}

Response IssueBook::comment(std::int64_t number, json const& body) {
  auto* const issue = find(number);
  if (is_gone(issue)) return missing(issue);
  if (issue->at("locked") == true && !may_push())
    return problem(403, "Unable to create comment because issue is locked.");
  auto const errors = text_error(body, "body", 65536);
  if (!errors.is_null()) return invalid(errors);
  if (!body.contains("body")) return invalid(field_error("IssueComment", "body", "missing_field"));
  json comment{{"issue", number}, {"body", body["body"]}, {"created_at", now()}};
  comment["updated_at"] = comment["created_at"];
  comment["id"] = state_["comments"].size() + 1;
  comment["html_url"] = fmt::format(
      "{}#issuecomment-{}", issue->at("html_url").get<std::string>(), comment["id"].dump());
  comment["user"]["login"] = state_["settings"]["login"];
  state_["comments"].push_back(comment);
  (*issue)["comments"] = issue->at("comments").get<int>() + 1;
  (*issue)["updated_at"] = now();
  return answer(201, comment);
}

Response IssueBook::add_labels(std::int64_t number, json const& body) {
  auto* const issue = find(number);
  if (is_gone(issue)) return missing(issue);
  if (!may_triage()) return problem(403, "Resource not accessible by personal access token");
  for (auto const& label : labels_from(body.value("labels", json::array())))
    if (!has_label(issue->at("labels"), label.at("name"))) (*issue)["labels"].push_back(label);
  return answer(200, issue->at("labels"));
}

Response IssueBook::labels(Query const& query) const {
  return page_of(state_["labels"].get<std::vector<json>>(), place() + "/labels", query);
}

Response IssueBook::create_label(json const& body) {
  if (!may_push()) return problem(403, "Resource not accessible by personal access token");
  if (!body.contains("name") || !body["name"].is_string())
    return invalid(field_error("Label", "name", "missing_field"));
  if (has_label(state_["labels"], body["name"]))
    return invalid(field_error("Label", "name", "already_exists"));
  return answer(201, labels_from(json::array({body["name"]})).at(0));
}

Response IssueBook::lock(std::int64_t number) {
  auto* const issue = find(number);
  if (is_gone(issue)) return missing(issue);
  if (!may_push()) return problem(403, "Must have admin rights to Repository.");
  (*issue)["locked"] = true;
  return {204, {}, {}};
}

void IssueBook::transfer(std::int64_t number, std::string const& url) {
  auto* const issue = find(number);
  if (issue != nullptr) (*issue)["moved_to"] = url;
}

void IssueBook::erase(std::int64_t number) {
  auto* const issue = find(number);
  if (issue != nullptr) (*issue)["deleted"] = true;
}

void IssueBook::plant(json const& members) {
  auto issue = new_issue();
  issue.update(members);
  state_["issues"].push_back(std::move(issue));
}

json IssueBook::new_issue() const {
  auto const& settings = state_["settings"];
  auto const number = state_["issues"].size() + 1;
  auto const repository = settings["repository"].get<std::string>();
  json issue{{"number", number}, {"id", 1000 + number}, {"title", ""}, {"body", nullptr}};
  issue["url"] = fmt::format("{}/repos/{}/issues/{}", url_, repository, number);
  issue["html_url"] = fmt::format("https://github.com/{}/issues/{}", repository, number);
  issue["comments_url"] = issue["url"].get<std::string>() + "/comments";
  issue["locked"] = false;
  issue["state"] = "open";
  issue["state_reason"] = nullptr;
  issue["labels"] = json::array();
  issue["user"] = own_user();
  issue["closed_by"] = nullptr;
  issue["comments"] = 0;
  issue["created_at"] = issue["updated_at"] = now();
  issue["closed_at"] = nullptr;
  return issue;
}

/// Returns the token's user as GitHub shows it.
json IssueBook::own_user() const {
  auto const login = state_["settings"]["login"].get<std::string>();
  return {{"login", login}, {"type", login.ends_with("[bot]") ? "Bot" : "User"}};
}

json* IssueBook::find(std::int64_t number) const {
  auto& issues = state_["issues"];
  if (number < 1 || std::cmp_greater(number, issues.size())) return nullptr;
  return &issues[static_cast<std::size_t>(number - 1)];
}

/// Returns the labels with these names. Creates those that the repository does not have.
json IssueBook::labels_from(json const& names) {
  auto labels = json::array();
  for (auto const& item : names) {
    auto const name = item.is_string() ? item.get<std::string>() : item.value("name", "");
    auto const label = json{{"name", name}, {"color", "ededed"}, {"description", nullptr}};
    if (!has_label(state_["labels"], name)) state_["labels"].push_back(label);
    labels.push_back(label);
  }
  return labels;
}

/// Returns the errors of an issue's members, or null.
json IssueBook::errors_of(json const& body) const {
  auto const& settings = state_["settings"];
  auto errors = issue_errors(body);
  if (errors.is_null()) errors = refused_names(body, "labels", settings["refused_labels"]);
  if (errors.is_null()) errors = refused_names(body, "assignees", settings["refused_assignees"]);
  return errors;
}

bool IssueBook::may_push() const {
  return state_["settings"]["push"].get<bool>();
}

bool IssueBook::may_triage() const {
  return may_push() || state_["settings"]["triage"].get<bool>();
}

}  // namespace torchwatch::fakes
