#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <nlohmann/json_fwd.hpp>

#include "github/comment.h"
#include "github/issue.h"
#include "github/transport.h"
#include "storage/base/clock.h"

namespace torchwatch::github {

/// The repository, the token, and the limits of a client.
struct ClientOptions {
  /// Without a trailing slash; GitHub Enterprise Server: "https://HOST/api/v3".
  std::string api = "https://api.github.com";
  std::string repository;  ///< "owner/name"
  std::string token;
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
};

/// The last request to create an issue, until its result is known.
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

  /// The URL of the comment that holds the draft's marker, on the issue at `issue_url`, in any
  /// repository. It is written only after the issue's comments were searched, and searched for
  /// again whenever GitHub's response was lost. Nothing when no comment can be written there any
  /// more: the issue was deleted or locked, or is another one now. Fails like file_once.
  boost::asio::awaitable<Result<std::optional<std::string>>> comment_once(std::string issue_url,
                                                                          CommentDraft draft);

  /// Requests the repository alone. Fails like file_once.
  boost::asio::awaitable<Result<Access>> access();

  /// The keys of all reports of the token's own user, open and closed, that carry `label`. Fails
  /// like file_once.
  boost::asio::awaitable<Result<std::vector<std::string>>> keys_labelled(std::string label);

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<Result<T>>;

  /// The address of an issue's comments.
  struct CommentPlace {
    std::string url;
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
  Awaitable<std::optional<CommentPlace>> place_for_comments(std::string const& issue_url,
                                                            std::string const& report);
  Result<std::optional<CommentPlace>> place_in(nlohmann::json const& issue,
                                               std::string const& issue_url,
                                               std::string const& report) const;
  Awaitable<std::optional<std::string>> find_comment(std::string const& comments,
                                                     std::string const& marker);
  Awaitable<std::string> create_comment(std::string const& comments, CommentDraft const& draft);
  /// Hands each page of a list to `visit`, until that returns false. `url` asks for 100 a page.
  boost::asio::awaitable<Result<>> each_page(std::string url,
                                             std::function<bool(nlohmann::json const& page)> visit);
  Awaitable<Response> get(std::string url);
  Awaitable<Response> post(std::string url, nlohmann::json const& body);
  Awaitable<Response> send(Request request);

  void report_repetition(Error const& why) const;
  bool is_paused() const;
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
};

}  // namespace torchwatch::github
