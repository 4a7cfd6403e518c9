#include "tests/fakes/github/fake_github.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "tests/fakes/github/issue_book.h"
#include "tests/fakes/github/people.h"
#include "tests/fakes/github/request_log.h"
#include "tests/fakes/github/routes.h"
#include "tests/fakes/github/wire.h"

namespace torchwatch::fakes {
namespace {

using github::Request;
using github::Response;
using nlohmann::json;

constexpr auto control_path = "/_control";

json fresh_state() {
  json state{{"issues", json::array()}, {"comments", json::array()}, {"labels", json::array()}};
  state["requests"] = json::array();
  state["faults"] = json::array();
  state["app_tokens"] = json::array();
  state["limits"] = {{"hour", 0}, {"used", 0}, {"writes", json::array()}};
  state["settings"] = {{"repository", "pytorch/pytorch"},
                       {"id", 65600975},
                       {"renamed_from", ""},
                       {"login", "torchwatch-bot"},
                       {"token", ""},
                       {"push", true},
                       {"triage", false},
                       {"lag_s", 0},
                       {"sso", ""},
                       {"issues", true},
                       {"archived", false},
                       {"blocked", false},
                       {"refused_labels", json::array()},
                       {"refused_assignees", json::array()},
                       {"now", 0},
                       {"app", nullptr},
                       {"hourly_limit", 5000},
                       {"writes_per_minute", 80}};
  return state;
}

std::int64_t seconds_now() {
  using std::chrono::system_clock;
  return std::chrono::floor<std::chrono::seconds>(system_clock::now()).time_since_epoch().count();
}

/// True when this write exceeds the limit of writes in a minute. Counts it when it does not.
bool too_many_writes(json& limits, std::size_t allowed) {
  auto recent = json::array();
  for (auto const& time : limits["writes"])
    if (time.get<std::int64_t>() > seconds_now() - 60) recent.push_back(time);
  bool const refused = recent.size() >= allowed;
  if (!refused) recent.push_back(seconds_now());
  limits["writes"] = std::move(recent);
  return refused;
}

Response fault_response(json const& fault, Response otherwise) {
  auto const status = fault.value("status", 0);
  auto response = status == 0 ? std::move(otherwise) : problem(status, fault.value("message", ""));
  auto const headers = fault.value("headers", json::object());
  for (auto const& [name, value] : headers.items())
    response.headers[name] = value.get<std::string>();
  return response;
}

}  // namespace

FakeGithub::FakeGithub(std::filesystem::path state_file)
    : file_{std::move(state_file)},
      state_(fresh_state()) {
  if (!file_.empty() && std::filesystem::exists(file_)) {
    std::ifstream file{file_};
    state_ = json::parse(file);
  }
  save();
}

Reply FakeGithub::handle(Request const& request, std::string const& url) {
  std::lock_guard const lock{mutex_};
  try {
    return request.url == control_path ? controlled(request, url) : recorded(request, url);
  } catch (json::exception const&) {
    return {problem(422, "Invalid request: a member has the wrong type.")};
  }
}

void FakeGithub::control(json const& change, std::string const& url) {
  std::lock_guard const lock{mutex_};
  apply(change, url);
}

json FakeGithub::state() const {
  std::lock_guard const lock{mutex_};
  return state_;
}

Reply FakeGithub::recorded(Request const& request, std::string const& url) {
  log_request(request);
  auto reply = reply_to(request, url);
  state_["requests"].push_back({{"method", request.method},
                                {"target", request.url},
                                {"body", request.body},
                                {"status", reply.response.status},
                                {"dropped", reply.drop}});
  save();
  return reply;
}

Reply FakeGithub::reply_to(Request const& request, std::string const& url) {
  auto const fault = take_fault(request);
  // A fault with a status that does not come after the effect is GitHub's whole response.
  bool const takes_effect =
      fault.value("after", false) || (!fault.value("drop", false) && fault.value("status", 0) == 0);
  Reply reply;
  if (takes_effect) reply.response = limited(request, url);
  reply.response = fault_response(fault, std::move(reply.response));
  reply.drop = fault.value("drop", false);
  reply.delay = std::chrono::milliseconds{fault.value("delay_ms", 0)};
  return reply;
}

Reply FakeGithub::controlled(Request const& request, std::string const& url) {
  if (request.method == "GET") return {answer(200, state_)};
  auto const change = json::parse(request.body, nullptr, false);
  if (!change.is_object()) return {problem(400, "found another body, allowed is a JSON object")};
  apply(change, url);
  return {answer(200, json::object())};
}

void FakeGithub::apply(json const& change, std::string const& url) {
  if (change.contains("settings")) state_["settings"].update(change["settings"]);
  for (auto const& fault : change.value("faults", json::array()))
    state_["faults"].push_back(fault);
  IssueBook book{state_, url};
  for (auto const& issue : change.value("issues", json::array()))
    book.plant(issue);
  auto const labelled = change.value("labelled", json::object());
  for (auto const& [number, labels] : labelled.items())
    book.add_labels(std::stoll(number), {{"labels", labels}});
  auto const changed = change.value("changed", json::object());
  for (auto const& [number, members] : changed.items())
    book.change_by_user(std::stoll(number), members);
  for (auto const& number : change.value("deleted", json::array()))
    book.erase(number);
  change_by_people(state_, change);
  if (change.value("forgotten", false)) state_["requests"] = json::array();
  if (change.value("revoked", false)) state_["app_tokens"] = json::array();
  auto const transferred = change.value("transferred", json::object());
  for (auto const& [number, place] : transferred.items())
    book.transfer(std::stoll(number), place.get<std::string>());
  save();
}

/// Returns the response under GitHub's rate limits, with the headers that report them.
Response FakeGithub::limited(Request const& request, std::string const& url) {
  constexpr std::int64_t hour = 3600;
  auto& limits = state_["limits"];
  if (seconds_now() >= limits["hour"].get<std::int64_t>() + hour)
    limits.update({{"hour", seconds_now()}, {"used", 0}});
  auto const limit = state_["settings"]["hourly_limit"].get<std::int64_t>();
  auto const used = limits["used"].get<std::int64_t>() + 1;
  limits["used"] = used;
  Response response;
  if (used > limit) {
    response = problem(403, "API rate limit exceeded for user ID 1.");
  } else if (request.method != "GET" &&
             too_many_writes(limits, state_["settings"]["writes_per_minute"])) {
    response = problem(403,
                       "You have exceeded a secondary rate limit. Please wait a few minutes before "
                       "you try again.");
  } else {
    response = unless_known(request, route(state_, request, url));
    if (response.status == 304) limits["used"] = used - 1;
  }
  auto& headers = response.headers;
  headers["x-ratelimit-limit"] = std::to_string(limit);
  headers["x-ratelimit-used"] = std::to_string(std::min(used, limit));
  headers["x-ratelimit-remaining"] = std::to_string(std::max<std::int64_t>(limit - used, 0));
  headers["x-ratelimit-reset"] = std::to_string(limits["hour"].get<std::int64_t>() + hour);
  headers["x-ratelimit-resource"] = "core";
  return response;
}

/// Adds the ETag of a GET response. Returns 304 instead where the client has the same.
Response FakeGithub::unless_known(Request const& request, Response response) {
  if (request.method != "GET" || response.status != 200) return response;
  auto const tag = fmt::format("W/\"{:x}\"", std::hash<std::string>{}(response.body));
  response.headers["etag"] = tag;
  auto const known = request.headers.find("if-none-match");
  if (known == request.headers.end() || known->second != tag) return response;
  response.status = 304;
  response.body.clear();
  return response;
}

/// Returns the first fault that matches the request, and counts it as used once. Returns an empty
/// object when none matches.
json FakeGithub::take_fault(Request const& request) {
  auto& faults = state_["faults"];
  for (auto fault = faults.begin(); fault != faults.end(); ++fault) {
    if (fault->value("method", request.method) != request.method) continue;
    if (request.url.find(fault->value("path", "")) == std::string::npos) continue;
    auto taken = *fault;
    auto const left = fault->value("times", 1) - 1;
    (*fault)["times"] = left;
    if (left <= 0) faults.erase(fault);
    return taken;
  }
  return json::object();
}

void FakeGithub::save() const {
  if (file_.empty()) return;
  auto const draft = std::filesystem::path{file_.string() + ".new"};
  std::ofstream file{draft, std::ios::binary};
  file << state_.dump(1) << '\n';
  file.close();
  if (!file) throw std::runtime_error("fake GitHub: cannot write " + draft.string());
  std::filesystem::rename(draft, file_);
}

}  // namespace torchwatch::fakes
