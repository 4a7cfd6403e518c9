// The requests by which people answer in issues.

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "github/answer.h"
#include "github/client.h"
#include "http/url.h"

namespace torchwatch::github {
namespace {

using boost::asio::awaitable;
using nlohmann::json;

/// Items of a list that are read at a time; GitHub's most.
constexpr std::size_t most_changed_items = 100;

/// Reads the answer for a list. Items that `read` does not know are left out.
template <class Item, class Read>
Result<Updates<Item>> updates_in(Response const& answer, Read read) {
  constexpr int not_modified = 304;
  Updates<Item> updates;
  updates.etag = header_of(answer, "etag");
  updates.is_unchanged = answer.status == not_modified;
  if (updates.is_unchanged) return updates;
  auto const list = json::parse(answer.body, nullptr, false);
  if (!list.is_array()) return Error{ErrorCode::corrupt, "GitHub's list is no JSON array"};
  for (auto const& object : list)
    if (auto item = read(object)) updates.items.push_back(std::move(*item));
  updates.is_full = list.size() >= most_changed_items;
  return updates;
}

}  // namespace

/// `list`: the path below the repository with a first parameter. The oldest changes come first,
/// so that a change during the reading is not left out.
awaitable<Result<Response>> Client::changed_items(std::string list, ListPlace place) {
  auto question = request("GET",
                          repository_url_ + list + "&direction=asc&per_page=100&since=" +
                              http::percent_encode(time_text(place.since)));
  if (!place.etag.empty()) question.headers["If-None-Match"] = place.etag;
  co_return co_await send(std::move(question));
}

awaitable<Result<Updates<IssueComment>>> Client::comments_since(ListPlace place) {
  auto const answer = co_await changed_items("/issues/comments?sort=updated", std::move(place));
  if (!answer) co_return within("look for comments", answer.error());
  co_return updates_in<IssueComment>(*answer, read_comment);
}

awaitable<Result<Updates<ClosedIssue>>> Client::closed_since(ListPlace place) {
  auto const answer = co_await changed_items("/issues?state=closed&sort=updated", std::move(place));
  if (!answer) co_return within("look for closed issues", answer.error());
  co_return updates_in<ClosedIssue>(*answer, read_closed);
}

awaitable<Result<std::optional<Closing>>> Client::closing_of(std::string issue_url) {
  auto const page = http::Url::parse(issue_url);
  if (!page) co_return Error{ErrorCode::invalid_argument, "this is no URL"};
  auto const url = options_.api + "/repos" + page->target();
  auto const answer = co_await get(url);
  if (!answer && answer.error().code == ErrorCode::not_found) co_return std::nullopt;
  if (!answer) co_return within("look for " + issue_url, answer.error());
  auto const issue = object_in(*answer);
  auto closing = read_closing(issue);
  if (!closing) co_return std::nullopt;
  std::vector<IssueComment> comments;
  std::function<bool(json const&)> collect = [&comments](json const& list) {
    for (auto const& object : list)
      if (auto comment = read_comment(object)) comments.push_back(std::move(*comment));
    return true;
  };
  auto const read = co_await each_page(url + "/comments?per_page=100", std::move(collect));
  if (!read) co_return within("look for the reason of a closing", read.error());
  closing->reason = reason_of_closing(issue, *closing, comments);
  co_return closing;
}

awaitable<Result<bool>> Client::may_write(std::string login) {
  if (login.empty()) co_return false;
  auto const answer = co_await get(repository_url_ + "/collaborators/" +
                                   http::percent_encode(login) + "/permission");
  if (!answer && answer.error().code == ErrorCode::not_found) co_return false;
  if (!answer) co_return within("read the permission of a user", answer.error());
  auto const permission = text_at(object_in(*answer), "permission");
  co_return permission == "admin" || permission == "write" || permission == "maintain";
}

awaitable<Result<>> Client::react_to(std::int64_t comment) {
  json const reaction{{"content", "eyes"}};
  auto const place = repository_url_ + "/issues/comments/" + std::to_string(comment) + "/reactions";
  auto const answer = co_await post(place, reaction);
  if (!answer) co_return within("react to a comment", answer.error());
  co_return Result<>{};
}

}  // namespace torchwatch::github
