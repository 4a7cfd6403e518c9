#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <nlohmann/json_fwd.hpp>

#include "github/issue.h"
#include "github/transport.h"
#include "storage/domain/clock.h"

namespace torchwatch::github {

/// Which repository is told, as whom, and how stubbornly.
struct ClientOptions {
  /// Without a trailing slash; GitHub Enterprise Server: "https://HOST/api/v3".
  std::string api = "https://api.github.com";
  std::string repository;  ///< "owner/name"
  std::string token;
  std::string user_agent = "torchwatch";
  /// How often a request is repeated after a limit or an answer that was lost, and how often a
  /// create is.
  int retries = 5;
  /// The longest single wait that is obeyed. A primary limit is lifted within the hour.
  std::chrono::seconds patience{3700};
  /// Told why, whenever a request is going to be repeated.
  std::function<void(Error const&)> on_repetition{};
};

/// Waits without blocking the loop.
using Sleeper = std::function<boost::asio::awaitable<void>(std::chrono::seconds)>;

/// An issue as GitHub has it.
struct CreatedIssue {
  std::int64_t number = 0;
  std::string url;                          ///< for people
  bool existed = false;                     ///< it had been filed before
  std::vector<std::string> missing_labels;  ///< asked for, not on it: the token may not label
};

/// What GitHub tells of the repository and of whoever asks, without anything being written.
struct Access {
  std::string repository;  ///< its full name, as GitHub spells it
  bool has_issues = true;
  bool is_archived = false;  ///< then nothing can be written
  bool may_label = false;
  /// Of a classic token: "repo, read:org"; empty where GitHub does not tell, as with other tokens.
  std::string scopes;
};

/// Why nobody could file issues with `access`, in one line; empty when nothing speaks against it.
/// Only to write one would prove it.
std::string obstacle_to_issues(Access const& access);

/// Files issues through GitHub's REST API, version 2022-11-28. Sends one request at a time; used by
/// one coroutine at a time. `transport` and `clock` must outlive it.
class Client {
 public:
  Client(Transport& transport, Clock const& clock, Sleeper sleep, ClientOptions options);

  /// The issue that holds the draft's marker; created only after a search, open and closed, has not
  /// found it, and searched for again whenever GitHub's answer to a create was lost. Limits are
  /// waited for. Fails with `refused` and GitHub's reason when repeating cannot help, with
  /// `unavailable` when GitHub could not be reached: calling again with the same draft is then
  /// safe.
  boost::asio::awaitable<Result<CreatedIssue>> file_once(IssueDraft draft);

  /// Asks for the repository alone. Fails like file_once.
  boost::asio::awaitable<Result<Access>> access();

  /// The keys of all reports, open and closed, that somebody put `label` on. Fails like file_once.
  boost::asio::awaitable<Result<std::vector<std::string>>> keys_labelled(std::string label);

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<Result<T>>;

  Awaitable<std::string> narrowing(IssueDraft const& draft);
  Awaitable<std::optional<CreatedIssue>> find(IssueDraft const& draft, std::string const& narrowed);
  /// Hands each page of a list of issues to `visit`, until that returns false.
  boost::asio::awaitable<Result<>> each_page(
      std::string query, std::function<bool(nlohmann::json const& issues)> visit);
  Awaitable<CreatedIssue> create(IssueDraft const& draft);
  Awaitable<Response> get(std::string url);
  Awaitable<Response> send(Request request);

  void tell_repetition(Error const& why) const;
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
