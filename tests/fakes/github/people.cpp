#include "tests/fakes/github/people.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <string_view>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "github/answer.h"
#include "storage/base/number.h"

namespace torchwatch::fakes {
namespace {

using github::Request;
using github::Response;
using nlohmann::json;
using Rest = std::vector<std::string>;

constexpr std::array<std::string_view, 8> kinds_of_reactions{
    "+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"};

std::string time_of_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

/// Returns the object at a place that counts from 1; null if there is none.
json* at_place(json& objects, std::string const& place) {
  auto const number = parse_number<std::size_t>(place).value_or(0);
  return number >= 1 && number <= objects.size() ? &objects[number - 1] : nullptr;
}

/// Returns the comments of all issues that changed since a time, as the query orders them.
Response all_comments(json const& state, Target const& target, std::string const& url) {
  auto const value = [&](char const* name, char const* otherwise) {
    auto const found = target.query.find(name);
    return found == target.query.end() ? std::string{otherwise} : found->second;
  };
  auto const order = value("sort", "created") == "updated" ? "updated_at" : "created_at";
  std::vector<json> wanted;
  for (auto const& comment : state.at("comments"))
    if (comment.at("updated_at") >= json(value("since", ""))) wanted.push_back(comment);
  std::ranges::stable_sort(wanted, std::ranges::less{}, [&](json const& comment) {
    return comment.at(order).get<std::string>();
  });
  if (value("direction", "asc") == "desc") std::ranges::reverse(wanted);
  auto const place = url + "/repositories/" + state.at("settings").at("id").dump();
  return page_of(wanted, place + "/issues/comments", target.query);
}

bool is_reaction(json const& body) {
  auto const content = body.is_object() ? github::text_at(body, "content") : std::string{};
  return std::ranges::any_of(kinds_of_reactions,
                             [&](std::string_view kind) { return kind == content; });
}

/// Adds a reaction of the token's user. GitHub keeps one of each kind.
Response react(json& state, std::string const& comment, json const& body) {
  if (at_place(state["comments"], comment) == nullptr) return problem(404, "Not Found");
  if (!is_reaction(body)) return problem(422, "Validation Failed");
  json reaction{{"comment", comment}, {"content", body["content"]}};
  reaction["user"]["login"] = state["settings"]["login"];
  auto& all = state["reactions"];
  for (auto const& known : all)
    if (known == reaction) return answer(200, known);
  all.push_back(reaction);
  return answer(201, reaction);
}

Response permission_of(json const& state, std::string const& login) {
  auto const& settings = state.at("settings");
  if (!settings.at("push").get<bool>())
    return problem(403, "Must have push access to view collaborator permission.");
  auto const known = settings.value("permissions", json::object());
  auto const permission = known.value(login, std::string{"read"});
  json body{{"permission", permission}, {"role_name", permission}};
  body["user"]["login"] = login;
  return answer(200, body);
}

void add_comment(json& state, json const& members) {
  auto* const issue = at_place(state["issues"], members.at("issue").dump());
  if (issue == nullptr) return;
  auto const id = state["comments"].size() + 1;
  json comment{{"id", id}, {"author_association", "MEMBER"}, {"body", ""}};
  comment["html_url"] =
      fmt::format("{}#issuecomment-{}", issue->at("html_url").get<std::string>(), id);
  comment["created_at"] = members.value("created_at", time_of_now());
  comment["updated_at"] = comment["created_at"];
  comment.update(members);
  comment["user"] = {{"login", members.at("user")}, {"type", "User"}};
  (*issue)["comments"] = issue->at("comments").get<int>() + 1;
  (*issue)["updated_at"] = comment["updated_at"];
  state["comments"].push_back(std::move(comment));
}

void close_issue(json& issue, json const& closing) {
  auto const at = closing.value("at", time_of_now());
  issue["state"] = "closed";
  issue["state_reason"] = closing.value("state_reason", "completed");
  issue["closed_by"] = {{"login", closing.at("by")}, {"type", closing.value("type", "User")}};
  issue["closed_at"] = at;
  issue["updated_at"] = at;
}

}  // namespace

std::optional<Response> people_call(json& state,
                                    Request const& request,
                                    Target const& target,
                                    Rest const& rest,
                                    std::string const& url) {
  bool const is_read = request.method == "GET";
  if (rest.size() == 3 && rest[0] == "collaborators" && rest[2] == "permission" && is_read)
    return permission_of(state, rest[1]);
  if (rest.size() < 2 || rest[0] != "issues" || rest[1] != "comments") return std::nullopt;
  if (rest.size() == 2 && is_read) return all_comments(state, target, url);
  if (rest.size() != 4 || rest[3] != "reactions" || request.method != "POST") return std::nullopt;
  return react(state, rest[2], json::parse(request.body, nullptr, false));
}

void change_by_people(json& state, json const& change) {
  auto const comments = change.value("comments", json::array());
  for (auto const& comment : comments)
    add_comment(state, comment);
  auto const edited = change.value("edited", json::object());
  for (auto const& [id, members] : edited.items())
    if (auto* const comment = at_place(state["comments"], id)) comment->update(members);
  auto const closings = change.value("closings", json::object());
  for (auto const& [number, closing] : closings.items())
    if (auto* const issue = at_place(state["issues"], number)) close_issue(*issue, closing);
}

}  // namespace torchwatch::fakes
