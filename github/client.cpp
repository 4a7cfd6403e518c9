#include "github/client.h"

#include <algorithm>
#include <ctime>
#include <string_view>
#include <utility>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "github/answer.h"
#include "http/url.h"
#include "storage/base/number.h"

namespace torchwatch::github {
namespace {

using boost::asio::awaitable;
using nlohmann::json;

constexpr int max_redirects = 5;
/// Pages of 100 issues that are read at most. A correct search needs fewer.
constexpr int max_pages = 1000;
/// GitHub asks for a second between two requests that write.
constexpr std::chrono::seconds between_writes{1};
/// The time after which a list shows a new issue; tens of seconds have been seen.
constexpr std::chrono::seconds longest_lag{120};
/// The pause between two searches within that time.
constexpr std::chrono::seconds longest_search_pause{30};
/// The longest pause: a wrong `retry-after` must not end all filing.
constexpr std::chrono::hours longest_pause{24};

std::chrono::seconds backoff(int earlier) {
  return std::chrono::seconds{2} * (1 << std::clamp(earlier, 0, 6));
}

bool is_true(json const& object, char const* key) {
  auto const found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

/// GitHub's labels and logins ignore case.
bool same_name(std::string_view one, std::string_view other) {
  auto const lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
  };
  return std::ranges::equal(one, other, [&](char a, char b) { return lower(a) == lower(b); });
}

bool carries(json const& issue, std::string const& label) {
  auto const labels = issue.find("labels");
  if (labels == issue.end() || !labels->is_array()) return false;
  return std::any_of(labels->begin(), labels->end(), [&](json const& found) {
    return found.is_object() && same_name(text_at(found, "name"), label);
  });
}

/// An issue object of GitHub's; nothing when it is not one.
std::optional<CreatedIssue> read_issue(json const& object, IssueDraft const& draft) {
  if (!object.is_object()) return {};
  auto const number = object.find("number");
  auto const counted =
      number == object.end() ? std::nullopt : whole_number_in<std::int64_t>(*number);
  if (counted.value_or(0) <= 0) return {};
  CreatedIssue issue;
  issue.number = *counted;
  issue.url = text_at(object, "html_url");
  issue.body = text_at(object, "body");
  std::ranges::copy_if(draft.labels,
                       std::back_inserter(issue.missing_labels),
                       [&](std::string const& label) { return !carries(object, label); });
  return issue;
}

/// True when `issue` is by the token's user. A key can be copied from another issue, so it proves
/// nothing. An App's token may not read its login; its issues are by a "Bot", and only Apps that
/// the repository's owner installed write as such.
bool is_by(json const& issue, std::string const& login) {
  auto const user = issue.find("user");
  if (user == issue.end() || !user->is_object()) return login.empty();
  if (login.empty()) return text_at(*user, "type") != "User";
  return same_name(text_at(*user, "login"), login);
}

/// The issue among `page` that reports the draft's incident. Pull requests are listed as issues
/// too.
std::optional<CreatedIssue> issue_of(json const& page,
                                     IssueDraft const& draft,
                                     std::string const& login) {
  for (auto const& object : page) {
    if (!object.is_object() || object.contains("pull_request")) continue;
    if (key_in(text_at(object, "body")) != draft.key || !is_by(object, login)) continue;
    auto issue = read_issue(object, draft);
    if (issue) issue->existed = true;
    return issue;
  }
  return {};
}

/// A hundred issues a page, open and closed. `narrowed`: further parameters of the query.
std::string issues_url(std::string const& repository_url, std::string const& narrowed) {
  return repository_url + "/issues?state=all&per_page=100" + narrowed;
}

bool may_label(json const& repository) {
  auto const permissions = repository.find("permissions");
  return permissions != repository.end() && permissions->is_object() &&
         is_true(*permissions, "push");
}

/// True when a comma-separated list holds one of the two scopes that let a token write issues.
bool lets_write(std::string_view scopes) {
  for (std::string_view rest = scopes; !rest.empty();) {
    auto const end = std::min(rest.find(','), rest.size());
    auto scope = rest.substr(0, end);
    scope.remove_prefix(std::min(scope.find_first_not_of(' '), scope.size()));
    if (scope == "repo" || scope == "public_repo") return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

/// The error code of a response that is not a success.
ErrorCode code_of(Response const& answer) {
  auto const kind = kind_of(answer);
  if (kind == AnswerKind::lost || kind == AnswerKind::rate_limited) return ErrorCode::unavailable;
  bool const is_missing = answer.status == 404 || answer.status == 410;
  return is_missing ? ErrorCode::not_found : ErrorCode::refused;
}

std::string text_of(Timestamp time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::time_t{time.time_since_epoch().count()}));
}

void keep(SentCreate& sent, std::optional<Timestamp> at) {
  sent.at = at;
  if (sent.store) sent.store(at);
}

/// Nothing when `text` is anything but a plain https URL.
std::optional<http::Url> https_url(std::string const& text) {
  auto url = http::Url::parse(text);
  if (!url || url->scheme() != "https" || url->has_credentials()) return {};
  return url;
}

/// True when GitHub refused the request, and would refuse it again.
bool is_final(Error const& error) {
  return error.code == ErrorCode::refused || error.code == ErrorCode::not_found;
}

/// The path of a pull request as an issue, which it is for comments.
std::string as_issue(std::string path) {
  constexpr std::string_view pull = "/pull/";
  if (auto const at = path.find(pull); at != std::string::npos)
    path.replace(at, pull.size(), "/issues/");
  return path;
}

/// GitHub's word for the reason of a state.
char const* reason_of(IssueState state) {
  switch (state) {
    case IssueState::completed:
      return "completed";
    case IssueState::not_planned:
      return "not_planned";
    case IssueState::open:
      break;
  }
  return "reopened";
}

/// The class of an obstacle to issues.
Refusal refusal_in(Access const& access) {
  if (access.is_archived) return Refusal::archived;
  return access.has_issues ? Refusal::permission : Refusal::issues_disabled;
}

/// True when GitHub says that the token is an App's. Any other refusal may be over with the next
/// request, as in an outage.
bool says_it_is_an_app(Error const& error) {
  return error.code == ErrorCode::refused &&
         error.message.find("not accessible by integration") != std::string::npos;
}

/// True when the body is that of a message that this database has not sent: it was sent before an
/// older database was restored.
bool is_of_lost_message(std::string_view body, std::vector<std::string> const& sent_markers) {
  auto const marker = event_marker_in(body);
  return !marker.empty() && std::ranges::find(sent_markers, marker) == sent_markers.end();
}

bool says_locked(Error const& error) {
  return error.code == ErrorCode::refused && error.message.find("locked") != std::string::npos;
}

}  // namespace

std::string obstacle_to_issues(Access const& access) {
  if (access.is_archived) return access.repository + " is archived: nothing can be written";
  if (!access.has_issues) return access.repository + " has issues switched off";
  if (access.scopes.empty() || lets_write(access.scopes)) return {};
  return "the token may not write issues of " + access.repository + ": its scopes are \"" +
         access.scopes + "\", needed is repo or public_repo";
}

Client::Client(Transport& transport, Clock const& clock, Sleeper sleep, ClientOptions options)
    : transport_{transport},
      clock_{clock},
      sleep_{std::move(sleep)},
      options_{std::move(options)},
      repository_url_{options_.api + "/repos/" + options_.repository} {}

/// The result of `find`, or else of `create`. When the response to `create` is lost, the object may
/// exist: `find` is repeated before `create` is.
template <class T>
awaitable<Result<T>> Client::find_or_create(Find<T> find, Create<T> create, SentCreate sent) {
  for (int earlier = 0;; ++earlier) {
    auto const found = co_await find_in_lagging_lists<T>(find, sent.at);
    if (!found) co_return found.error();
    if (*found) co_return **found;
    keep(sent, clock_.now());
    auto const created = co_await create();
    if (created) co_return *created;
    if (is_final(created.error()) || is_paused()) keep(sent, std::nullopt);
    bool const is_lost = created.error().code == ErrorCode::unavailable && !is_paused();
    if (!is_lost || earlier == options_.retries) co_return created.error();
    report_repetition(created.error());
  }
}

/// The result of `find`, which is repeated until two minutes after `sent_at`: then lists show an
/// object that was created at that time.
template <class T>
awaitable<Result<std::optional<T>>> Client::find_in_lagging_lists(
    Find<T> const& find, std::optional<Timestamp> sent_at) {
  auto waited = longest_lag;
  // The clock may have been set back.
  if (sent_at) waited = std::max(clock_.now() - *sent_at, std::chrono::seconds{0});
  for (int earlier = 0;; ++earlier) {
    auto const found = co_await find();
    if (!found || *found || waited >= longest_lag) co_return found;
    auto const pause = std::min(backoff(earlier), longest_search_pause);
    co_await sleep_(pause);
    waited += pause;
  }
}

awaitable<Result<CreatedIssue>> Client::file_once(IssueDraft draft, SentCreate sent) {
  auto const search = co_await search_for(draft);
  if (!search) co_return within("file issue", search.error());
  Find<CreatedIssue> find_it = [&] {
    return find(draft, *search);
  };
  Create<CreatedIssue> create_it = [&] {
    return create(draft);
  };
  co_return co_await find_or_create(std::move(find_it), std::move(create_it), std::move(sent));
}

awaitable<Result<std::optional<std::string>>> Client::comment_once(std::string issue_url,
                                                                   CommentDraft draft,
                                                                   SentCreate sent) {
  auto const issue = co_await issue_at(issue_url, draft.report);
  if (!issue) co_return within("look for " + issue_url, issue.error());
  if (!*issue) co_return std::nullopt;
  auto const& comments = (*issue)->comments;
  Find<std::string> find_it = [this, &draft, &comments] {
    return find_comment(comments, draft.marker);
  };
  Create<std::string> create_it = [this, &draft, &comments] {
    return create_comment(comments, draft);
  };
  auto const written =
      co_await find_or_create(std::move(find_it), std::move(create_it), std::move(sent));
  if (written) co_return *written;
  // Only users with write access to the repository may comment on a locked issue.
  if ((*issue)->is_locked && says_locked(written.error())) co_return std::nullopt;
  co_return written.error();
}

/// The issue that was filed as `report`; nothing when it does not exist any more. The issue is the
/// report if it has the key, or the address where a user edited the key away.
awaitable<Result<std::optional<Client::FiledIssue>>> Client::issue_at(std::string issue_url,
                                                                      std::string report) {
  auto const url = https_url(issue_url);
  if (!url) co_return Error{ErrorCode::invalid_argument, "this is no URL"};
  auto const address = options_.api + "/repos" + as_issue(url->target());
  auto const answer = co_await get(address);
  if (answer) {
    auto const issue = read_filed(object_in(*answer));
    if (!issue) co_return issue.error();
    if (key_in(issue->body) == report || issue->page == issue_url) co_return *issue;
    refusal_ = Refusal::deleted;
    co_return std::nullopt;
  }
  if (answer.error().code != ErrorCode::not_found) co_return answer.error();
  bool const was_moved = refusal_ == Refusal::transferred;
  // GitHub replies the same for a repository that the token may no longer see.
  auto const seen = co_await access_to(address.substr(0, address.rfind("/issues/")));
  if (!seen) co_return seen.error();
  auto const obstacle = obstacle_to_issues(*seen);
  if (!obstacle.empty()) {
    refusal_ = refusal_in(*seen);
    co_return Error{ErrorCode::refused, obstacle};
  }
  refusal_ = was_moved ? Refusal::transferred : Refusal::deleted;
  co_return std::nullopt;
}

/// Requests follow the addresses in GitHub's answer, so they must be on its own host.
Result<Client::FiledIssue> Client::read_filed(json const& object) const {
  FiledIssue issue;
  issue.page = text_at(object, "html_url");
  if (issue.page.empty()) return Error{ErrorCode::unavailable, "GitHub's answer is no issue"};
  issue.url = text_at(object, "url");
  issue.comments = text_at(object, "comments_url");
  issue.body = text_at(object, "body");
  issue.is_open = text_at(object, "state") != "closed";
  issue.is_locked = is_true(object, "locked");
  if (is_ours(issue.comments)) return issue;
  return Error{ErrorCode::refused,
               "comments are on another host: \"" + masked(issue.comments, token_) + "\""};
}

/// Reads the issue and changes it. Reads it again when the response to the change was lost: the
/// change may have taken effect, and a user may have changed the issue since.
template <class T>
awaitable<Result<std::optional<T>>> Client::change_issue(
    std::string issue_url,
    std::string report,
    std::function<Awaitable<T>(FiledIssue const&)> change) {
  for (int earlier = 0;; ++earlier) {
    auto const issue = co_await issue_at(issue_url, report);
    if (!issue) co_return within("look for " + issue_url, issue.error());
    if (!*issue) co_return std::nullopt;
    auto const changed = co_await change(**issue);
    if (changed) co_return *changed;
    bool const is_lost = changed.error().code == ErrorCode::unavailable && !is_paused();
    if (!is_lost || earlier >= options_.retries)
      co_return within("change " + issue_url, changed.error());
    report_repetition(changed.error());
    co_await sleep_(backoff(earlier));
  }
}

awaitable<Result<std::optional<Edit>>> Client::edit_body(std::string issue_url, BodyDraft draft) {
  auto report = draft.report;
  std::function<Awaitable<Edit>(FiledIssue const&)> change = [this,
                                                              &draft](FiledIssue const& issue) {
    return try_to_edit(issue, draft);
  };
  co_return co_await change_issue<Edit>(std::move(issue_url), std::move(report), std::move(change));
}

awaitable<Result<Edit>> Client::try_to_edit(FiledIssue const& issue, BodyDraft const& draft) {
  if (issue.body.find(draft.marker) != std::string::npos) co_return Edit::written;
  bool const is_as_written = digest_of_body(issue.body) == draft.known_digest;
  if (!is_as_written && !is_of_lost_message(issue.body, draft.sent_markers))
    co_return Edit::foreign;
  json const changes{{"body", draft.body}};
  auto const answer = co_await patch(issue.url, changes);
  if (!answer) co_return answer.error();
  co_return Edit::written;
}

awaitable<Result<std::optional<std::string>>> Client::set_state(std::string issue_url,
                                                                std::string report,
                                                                IssueState state) {
  std::function<Awaitable<std::string>(FiledIssue const&)> change =
      [this, state](FiledIssue const& issue) {
        return try_to_set(issue, state);
      };
  co_return co_await change_issue<std::string>(
      std::move(issue_url), std::move(report), std::move(change));
}

awaitable<Result<std::string>> Client::try_to_set(FiledIssue const& issue, IssueState state) {
  if (issue.is_open == (state == IssueState::open)) co_return issue.page;
  json changes{{"state", issue.is_open ? "closed" : "open"}};
  changes["state_reason"] = reason_of(state);
  auto const answer = co_await patch(issue.url, changes);
  if (!answer) co_return answer.error();
  co_return issue.page;
}

awaitable<Result<std::optional<std::string>>> Client::find_comment(std::string const& comments,
                                                                   std::string const& marker) {
  std::optional<std::string> found;
  std::function<bool(json const&)> look = [&](json const& page) {
    for (auto const& comment : page)
      if (!found && comment.is_object() && text_at(comment, "body").starts_with(marker))
        found = text_at(comment, "html_url");
    return !found;
  };
  auto const searched = co_await each_page(comments + "?per_page=100", std::move(look));
  if (!searched) co_return within("look for comment", searched.error());
  co_return found;
}

awaitable<Result<std::string>> Client::create_comment(std::string const& comments,
                                                      CommentDraft const& draft) {
  json const body{{"body", draft.body}};
  auto const answer = co_await post(comments, body);
  if (!answer) co_return within("create comment", answer.error());
  co_return text_at(object_in(*answer), "html_url");
}

/// The login of the token's user; empty for an App's token that another program made, since that
/// may not read it.
awaitable<Result<std::string>> Client::login() {
  auto known = options_.tokens->login();
  if (!known.empty()) co_return known;
  auto const user = co_await get(options_.api + "/user");
  if (!user && says_it_is_an_app(user.error())) co_return std::string{};
  if (!user) co_return user.error();
  co_return text_at(object_in(*user), "login");
}

/// Searches by label and by creator: GitHub drops the labels of a token that may not push, and
/// users may remove labels. The whole list is read only if neither search is possible.
awaitable<Result<Client::Search>> Client::search_for(IssueDraft const& draft) {
  auto const repository = co_await get(repository_url_);
  if (!repository) co_return repository.error();
  auto const user = co_await login();
  if (!user) co_return user.error();
  Search search;
  search.login = *user;
  bool const has_label = !draft.labels.empty() && may_label(object_in(*repository));
  std::vector<std::string> filters;
  if (has_label) filters.push_back("&labels=" + http::percent_encode(draft.labels.front()));
  if (!user->empty()) filters.push_back("&creator=" + http::percent_encode(*user));
  if (filters.empty()) filters.emplace_back();
  for (auto const& filter : filters)
    search.urls.push_back(issues_url(repository_url_, filter));
  co_return search;
}

awaitable<Result<std::optional<CreatedIssue>>> Client::find(IssueDraft const& draft,
                                                            Search const& search) {
  std::optional<CreatedIssue> found;
  for (auto const& url : search.urls) {
    std::function<bool(json const&)> look = [&](json const& issues) {
      found = issue_of(issues, draft, search.login);
      return !found;
    };
    auto const searched = co_await each_page(url, std::move(look));
    if (!searched) co_return within("look for issue " + draft.key, searched.error());
    if (found) break;
  }
  co_return found;
}

awaitable<Result<Access>> Client::access() {
  return access_to(repository_url_);
}

awaitable<Result<Access>> Client::access_to(std::string repository_url) {
  auto const answer = co_await get(std::move(repository_url));
  if (!answer) co_return answer.error();
  auto const repository = object_in(*answer);
  Access access;
  access.repository = text_at(repository, "full_name");
  if (access.repository.empty())
    co_return Error{ErrorCode::unavailable, "GitHub's answer is no repository"};
  access.has_issues = !repository.contains("has_issues") || is_true(repository, "has_issues");
  access.is_archived = is_true(repository, "archived");
  access.may_label = may_label(repository);
  access.scopes = header_of(*answer, "x-oauth-scopes");
  co_return access;
}

awaitable<Result<std::vector<std::string>>> Client::keys_labelled(std::string label) {
  std::vector<json> reports;
  std::function<bool(json const&)> collect = [&](json const& issues) {
    for (auto const& issue : issues)
      if (issue.is_object() && key_in(text_at(issue, "body"))) reports.push_back(issue);
    return true;
  };
  auto url = issues_url(repository_url_, "&labels=" + http::percent_encode(label));
  auto const searched = co_await each_page(std::move(url), std::move(collect));
  if (!searched) co_return within("look for issues labelled " + label, searched.error());
  std::vector<std::string> keys;
  if (reports.empty()) co_return keys;
  auto const user = co_await login();
  if (!user) co_return within("look for issues labelled " + label, user.error());
  for (auto const& report : reports)
    if (is_by(report, *user)) keys.push_back(key_in(text_at(report, "body")).value());
  co_return keys;
}

awaitable<Result<>> Client::each_page(std::string url, std::function<bool(json const&)> visit) {
  for (int page = 0; page < max_pages; ++page) {
    auto const answer = co_await get(std::move(url));
    if (!answer) co_return answer.error();
    auto const list = json::parse(answer->body, nullptr, false);
    if (!list.is_array()) co_return Error{ErrorCode::corrupt, "GitHub's list is no JSON array"};
    if (!visit(list)) co_return Result<>{};
    url = next_page(*answer);
    if (url.empty()) co_return Result<>{};
    if (!is_ours(url))
      co_return Error{ErrorCode::refused, "next page is on another host: " + masked(url, token_)};
  }
  co_return Error{ErrorCode::refused, "gave up after " + std::to_string(max_pages) + " pages"};
}

awaitable<Result<CreatedIssue>> Client::create(IssueDraft const& draft) {
  json body{{"title", draft.title}, {"body", draft.body}};
  if (!draft.labels.empty()) body["labels"] = draft.labels;
  auto const url = repository_url_ + "/issues";
  auto answer = co_await post(url, body);
  bool const are_labels_refused = !answer && refusal_ == Refusal::label;
  if (are_labels_refused) {
    body.erase("labels");
    answer = co_await post(url, body);
  }
  if (!answer) co_return within("create issue", answer.error());
  auto issue = read_issue(json::parse(answer->body, nullptr, false), draft);
  // It was filed, but its number is not known: it is searched for again.
  if (!issue) co_return Error{ErrorCode::unavailable, "create issue: GitHub's answer is no issue"};
  issue->body = draft.body;
  issue->are_labels_refused = are_labels_refused;
  co_return *issue;
}

awaitable<Result<Response>> Client::get(std::string url) {
  auto question = request("GET", std::move(url));
  return send(std::move(question));
}

awaitable<Result<Response>> Client::post(std::string url, json const& body) {
  auto creation = request("POST", std::move(url));
  return write(std::move(creation), body);
}

/// Changes an issue at the address that GitHub gave for it.
awaitable<Result<Response>> Client::patch(std::string url, json const& body) {
  if (!is_ours(url))
    co_return Error{ErrorCode::refused,
                    "the issue is on another host: \"" + masked(url, token_) + "\""};
  auto change = request("PATCH", std::move(url));
  co_return co_await write(std::move(change), body);
}

awaitable<Result<Response>> Client::write(Request request, json const& body) {
  request.headers["Content-Type"] = "application/json";
  request.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  co_await sleep_(between_writes);
  co_return co_await send(std::move(request));
}

/// The successful response. Follows redirects and waits until limits end, since neither did
/// anything.
awaitable<Result<Response>> Client::send(Request request) {
  refusal_ = Refusal::none;
  if (is_paused()) co_return not_sent(request);
  int redirects = 0;
  int troubles = 0;
  for (;;) {
    auto const answer = co_await attempt(request);
    auto const kind = answer ? kind_of(*answer) : AnswerKind::lost;
    if (kind == AnswerKind::success) co_return *answer;
    if (kind == AnswerKind::redirect && redirects < max_redirects) {
      auto place = redirected(request, *answer);
      if (!place) co_return place.error();
      request.url = *place;
      ++redirects;
      continue;
    }
    auto const pause = pause_before_repeating(request, answer, troubles);
    if (!pause) {
      keep_outcome(answer, redirects > 0);
      keep_pause(answer, troubles);
      co_return error_of(request, answer);
    }
    report_repetition(error_of(request, answer));
    co_await sleep_(*pause);
    ++troubles;
  }
}

/// GitHub's response. If it rejects the token, the request is sent once more with a new one.
awaitable<Result<Response>> Client::attempt(Request const& request) {
  for (bool is_second = false;; is_second = true) {
    auto copy = request;
    auto ready = co_await authorized(std::move(copy));
    if (!ready) co_return ready.error();
    auto answer = co_await transport_.send(std::move(*ready));
    bool const is_rejected = answer && answer->status == 401;
    if (!is_rejected || is_second || !options_.tokens->drop(token_)) co_return answer;
  }
}

/// The request with the current token.
awaitable<Result<Request>> Client::authorized(Request request) {
  auto const token = co_await options_.tokens->token();
  if (!token) {
    auto const code = token.error().code;
    bool const is_temporary = code == ErrorCode::unavailable || code == ErrorCode::cancelled;
    refusal_ = is_temporary ? Refusal::none : Refusal::credentials;
    co_return token.error();
  }
  token_ = *token;
  request.headers["Authorization"] = "Bearer " + token_;
  co_return request;
}

/// Nothing when repeating cannot help. After a lost response, only requests that change nothing are
/// repeated.
std::optional<std::chrono::seconds> Client::pause_before_repeating(Request const& request,
                                                                   Result<Response> const& answer,
                                                                   int troubles) const {
  if (troubles >= options_.retries) return {};
  if (answer && kind_of(*answer) == AnswerKind::rate_limited) {
    auto const pause = pause_asked_by(*answer, clock_.now(), troubles);
    return pause > options_.patience ? std::nullopt : std::optional{pause};
  }
  bool const lost =
      answer ? kind_of(*answer) == AnswerKind::lost : answer.error().code == ErrorCode::unavailable;
  if (!lost || request.method != "GET") return {};
  return backoff(troubles);
}

bool Client::is_paused() const {
  return clock_.now() < options_.not_before;
}

/// Keeps the class of a refusal.
void Client::keep_outcome(Result<Response> const& answer, bool was_redirected) {
  if (answer) refusal_ = refusal_of(*answer, was_redirected);
}

/// A limit that the client does not wait for holds for the next request of any client.
void Client::keep_pause(Result<Response> const& answer, int troubles) {
  if (!answer || kind_of(*answer) != AnswerKind::rate_limited) return;
  auto const now = clock_.now();
  auto const asked = pause_asked_by(*answer, now, troubles);
  options_.not_before =
      now + std::clamp<std::chrono::seconds>(asked, std::chrono::seconds{1}, longest_pause);
  if (options_.on_limit) options_.on_limit(options_.not_before);
}

Error Client::not_sent(Request const& request) const {
  return {ErrorCode::unavailable,
          masked(request.method + " " + request.url, token_) +
              ": not sent: GitHub asked for no request before " + text_of(options_.not_before) +
              ", or refused an earlier one"};
}

Error Client::error_of(Request const& request, Result<Response> const& answer) const {
  if (!answer) return {answer.error().code, masked(answer.error().message, token_)};
  return {
      code_of(*answer),
      masked(request.method + " " + request.url, token_) + ": " + explanation_of(*answer, token_)};
}

void Client::report_repetition(Error const& why) const {
  if (options_.on_repetition) options_.on_repetition(why);
}

Request Client::request(std::string method, std::string url) const {
  Request request;
  request.method = std::move(method);
  request.url = std::move(url);
  request.headers = {{"Accept", "application/vnd.github+json"},
                     {"User-Agent", options_.user_agent},
                     {"X-GitHub-Api-Version", "2022-11-28"}};
  return request;
}

/// The target of a redirect. The token is sent there, so it must be on GitHub's host.
Result<std::string> Client::redirected(Request const& request, Response const& answer) const {
  auto const from = https_url(request.url);
  auto const location = header_of(answer, "location");
  auto const place = from && !location.empty() ? from->resolve(location) : std::nullopt;
  if (place && is_ours(place->text())) return place->text();
  return Error{
      ErrorCode::refused,
      masked(request.method + " " + request.url + ": redirected to \"" + location, token_) +
          "\", which is not on the same host"};
}

bool Client::is_ours(std::string const& url) const {
  auto const place = https_url(url);
  auto const api = https_url(options_.api);
  return place && api && place->origin() == api->origin();
}

}  // namespace torchwatch::github
