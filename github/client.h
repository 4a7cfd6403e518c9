#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <nlohmann/json_fwd.hpp>

#include "github/comment.h"
#include "github/issue.h"
#include "github/refusal.h"
#include "github/token_source.h"
#include "github/transport.h"
#include "github/updates.h"
#include "storage/base/clock.h"

namespace torchwatch::github {

/// The repository, the token, and the limits of a client.
struct ClientOptions {
  /// Without a trailing slash; GitHub Enterprise Server: "https://HOST/api/v3".
  std::string api = "https://api.github.com";
  std::string repository;               ///< "owner/name"
  std::shared_ptr<TokenSource> tokens;  ///< asked before each request; required
  std::string user_agent = "torchwatch";
  /// The number of repetitions of a request after a limit or a lost response, and of a create.
  int retries = 5;
  /// The longest single wait. A primary limit is lifted within the hour.
  std::chrono::seconds patience{3700};
  /// GitHub asked for a pause that ends then; no request is sent before.
  Timestamp not_before{};
  /// Called with the reason before each repetition of a request.
  std::function<void(Error const&)> on_repetition{};
  /// Receives the end of each pause that GitHub asks for and that is longer than `patience`, or
  /// comes after `retries`. The owner hands it to the next client as `not_before`.
  std::function<void(Timestamp)> on_limit{};
};

/// Waits without blocking the loop.
using Sleeper = std::function<boost::asio::awaitable<void>(std::chrono::seconds)>;

/// An issue as GitHub has it.
struct CreatedIssue {
  std::int64_t number = 0;
  std::string url;                          ///< the page of the issue
  std::string body;                         ///< the current one: users may have edited it
  bool existed = false;                     ///< it had been filed before
  std::vector<std::string> missing_labels;  ///< requested, but dropped by GitHub
  bool are_labels_refused = false;          ///< GitHub did not allow one, so it got none
};

/// A new body of an issue that was filed before.
struct BodyDraft {
  std::string report;  ///< the key of the issue
  std::string marker;  ///< the body holds it, and no earlier body does
  std::string body;    ///< Markdown
  /// The digest_of_body() of the body that was written last. A user edited any other body, except
  /// one of a message that is not in `sent_markers`.
  std::string known_digest;
  /// The markers of all messages about the issue that were sent. The body of any other message was
  /// written before an older database was restored from a backup, so it is replaced.
  std::vector<std::string> sent_markers{};
};

/// The result of an edit.
enum class Edit {
  written,
  foreign,  ///< a user edited the body: it was left as it is
};

/// The states of an issue that a client sets.
enum class IssueState { open, completed, not_planned };

/// The last request to create an issue or a comment, until its result is known.
struct SentCreate {
  std::optional<Timestamp> at;  ///< when it was sent; nothing when there is none
  /// Stores a new value of `at`: before a request is sent, and when GitHub did nothing for it. A
  /// crash in between then leaves `at` behind, and the issue is searched for.
  std::function<void(std::optional<Timestamp>)> store{};
};

/// GitHub's information about the repository and the token's rights. Nothing is written to get it.
struct Access {
  std::string repository;  ///< its full name, as GitHub spells it
  bool has_issues = true;
  bool is_archived = false;  ///< then nothing can be written
  /// True when GitHub keeps the labels of an issue that the token creates. The token needs the
  /// right to push: GitHub silently drops the labels of a token that may only triage.
  bool may_label = false;
  /// The scopes of a classic token: "repo, read:org". GitHub does not list those of other tokens:
  /// empty.
  std::string scopes;
};

/// The installation of a GitHub App in a repository or organization.
struct Installation {
  std::int64_t id = 0;
  std::string slug;  ///< the App's name in addresses; its issues are by "SLUG[bot]"
};

/// A token by which a GitHub App acts in its installation.
struct InstallationToken {
  std::string value;
  Timestamp expires_at{};
};

/// The reason why issues cannot be filed with `access`, in one line; empty when none is known. Only
/// filing an issue proves that it works.
std::string obstacle_to_issues(Access const& access);

/// Files issues through GitHub's REST API, version 2022-11-28. Sends one request at a time; used by
/// one coroutine at a time. `transport` and `clock` must outlive it.
class Client {
 public:
  Client(Transport& transport, Clock const& clock, Sleeper sleep, ClientOptions options);

  /// The issue of the token's own user that holds the draft's marker. It is created only after a
  /// search, open and closed, has not found it. GitHub's lists lag by tens of seconds: when the
  /// response to a create was lost, now or before (`sent`), the issue is searched for until two
  /// minutes have passed since then. Waits until limits end. Fails with `refused` or `not_found`
  /// and GitHub's reason when repeating cannot help. Fails with `unavailable` when GitHub could not
  /// be reached, or wants no request now. Then it is safe to call it again with the same draft and
  /// the time that `sent` stored.
  boost::asio::awaitable<Result<CreatedIssue>> file_once(IssueDraft draft, SentCreate sent);

  /// The URL of the comment that holds the draft's marker, on the issue or pull request at
  /// `issue_url`, in any repository. It is written only after the issue's comments were searched,
  /// as file_once() searches for an issue. Nothing when no comment can be written there any more:
  /// the issue was deleted or locked, or is another one now. Fails like file_once.
  boost::asio::awaitable<Result<std::optional<std::string>>> comment_once(std::string issue_url,
                                                                          CommentDraft draft,
                                                                          SentCreate sent);

  /// Replaces the body of the issue at `issue_url`, unless a user edited it. The body is read
  /// first, and again whenever GitHub's response was lost, so it is safe to repeat. GitHub has no
  /// conditional requests for issues: an edit in the instant between both requests is lost. Nothing
  /// when the issue was deleted or is another one now. Fails like file_once.
  boost::asio::awaitable<Result<std::optional<Edit>>> edit_body(std::string issue_url,
                                                                BodyDraft draft);

  /// Closes or reopens the issue at `issue_url`. The state is read first, and again whenever
  /// GitHub's response was lost. An issue that is closed for another reason stays as it is: a user
  /// closed it. Returns its address. Nothing when the issue was deleted or is another one now.
  /// Fails like file_once.
  boost::asio::awaitable<Result<std::optional<std::string>>> set_state(std::string issue_url,
                                                                       std::string report,
                                                                       IssueState state);

  /// Requests the repository alone. Fails like file_once.
  boost::asio::awaitable<Result<Access>> access();

  /// The keys of all reports of the token's own user, open and closed, that carry `label`. Fails
  /// like file_once.
  boost::asio::awaitable<Result<std::vector<std::string>>> keys_labelled(std::string label);

  /// The comments on all issues of the repository that changed since. One request. Fails like
  /// file_once.
  boost::asio::awaitable<Result<Updates<IssueComment>>> comments_since(ListPlace place);

  /// The closed issues of the repository that changed since. One request. Fails like file_once.
  boost::asio::awaitable<Result<Updates<ClosedIssue>>> closed_since(ListPlace place);

  /// The person who closed the issue at `issue_url`, and the reason. Nothing when it is open, gone,
  /// or was closed by a program. Fails like file_once.
  boost::asio::awaitable<Result<std::optional<Closing>>> closing_of(std::string issue_url);

  /// True when a user may write to the repository. Fails like file_once, with `refused` when the
  /// token may not read permissions.
  boost::asio::awaitable<Result<bool>> may_write(std::string login);

  /// Adds the reaction "eyes" to a comment. GitHub keeps one of each kind, so it is safe to repeat.
  /// Fails like file_once.
  boost::asio::awaitable<Result<>> react_to(std::int64_t comment);

  /// The installation with `id`, or with 0 that of the repository. The token must be an App's JSON
  /// Web Token. Fails like file_once; with not_found when the App is not installed there.
  boost::asio::awaitable<Result<Installation>> installation(std::int64_t id);

  /// A new token for issues of the repository. The token must be an App's JSON Web Token. Fails
  /// like file_once.
  boost::asio::awaitable<Result<InstallationToken>> installation_token(std::int64_t installation);

  /// Why the last operation failed for good, or an issue could not be changed; `none` otherwise.
  Refusal refusal() const { return refusal_; }

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<Result<T>>;

  /// An issue that was filed before, as GitHub has it now.
  struct FiledIssue {
    std::string page;      ///< its address for people
    std::string url;       ///< its address in the API
    std::string comments;  ///< the address of its comments in the API
    std::string body;
    bool is_open = true;
    bool is_locked = false;
  };

  template <class T>
  using Find = std::function<Awaitable<std::optional<T>>()>;
  template <class T>
  using Create = std::function<Awaitable<T>()>;

  /// The lists in which a report is searched, and the user whose issue it must be.
  struct Search {
    std::string login;  ///< empty: an App's token, which may not read its own
    std::vector<std::string> urls;
  };

  template <class T>
  Awaitable<T> find_or_create(Find<T> find, Create<T> create, SentCreate sent);
  template <class T>
  Awaitable<std::optional<T>> find_in_lagging_lists(Find<T> const& find,
                                                    std::optional<Timestamp> sent_at);
  Awaitable<Access> access_to(std::string repository_url);
  Awaitable<std::string> login();
  Awaitable<Search> search_for(IssueDraft const& draft);
  Awaitable<std::optional<CreatedIssue>> find(IssueDraft const& draft, Search const& search);
  Awaitable<CreatedIssue> create(IssueDraft const& draft);
  Awaitable<std::optional<FiledIssue>> issue_at(std::string issue_url, std::string report);
  Result<FiledIssue> read_filed(nlohmann::json const& object) const;
  Awaitable<Edit> try_to_edit(FiledIssue const& issue, BodyDraft const& draft);
  Awaitable<std::string> try_to_set(FiledIssue const& issue, IssueState state);
  template <class T>
  Awaitable<std::optional<T>> change_issue(std::string issue_url,
                                           std::string report,
                                           std::function<Awaitable<T>(FiledIssue const&)> change);
  Awaitable<std::optional<std::string>> find_comment(std::string const& comments,
                                                     std::string const& marker);
  Awaitable<std::string> create_comment(std::string const& comments, CommentDraft const& draft);
  Awaitable<Response> changed_items(std::string list, ListPlace place);
  /// Hands each page of a list to `visit`, until that returns false. `url` asks for 100 a page.
  boost::asio::awaitable<Result<>> each_page(std::string url,
                                             std::function<bool(nlohmann::json const& page)> visit);
  Awaitable<Response> get(std::string url);
  Awaitable<Response> post(std::string url, nlohmann::json const& body);
  Awaitable<Response> patch(std::string url, nlohmann::json const& body);
  Awaitable<Response> write(Request request, nlohmann::json const& body);
  Awaitable<Response> send(Request request);
  Awaitable<Response> attempt(Request const& request);
  Awaitable<Request> authorized(Request request);

  void report_repetition(Error const& why) const;
  bool is_paused() const;
  void keep_outcome(Result<Response> const& answer, bool was_redirected);
  void keep_pause(Result<Response> const& answer, int troubles);
  Error not_sent(Request const& request) const;
  Error error_of(Request const& request, Result<Response> const& answer) const;
  Request request(std::string method, std::string url) const;
  std::optional<std::chrono::seconds> pause_before_repeating(Request const& request,
                                                             Result<Response> const& answer,
                                                             int troubles) const;
  Result<std::string> redirected(Request const& request, Response const& answer) const;
  bool is_ours(std::string const& url) const;

  Transport& transport_;
  Clock const& clock_;
  Sleeper sleep_;
  ClientOptions options_;
  std::string repository_url_;
  std::string token_;  ///< the last request's; masked in messages
  Refusal refusal_ = Refusal::none;
};

}  // namespace torchwatch::github
