#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>

#include "github/transport.h"

namespace torchwatch::fakes {

/// The server's reply to a request.
struct Reply {
  github::Response response;
  bool drop = false;  ///< close the connection instead of answering
  std::chrono::milliseconds delay{0};
};

/// A fake of api.github.com for one repository, without a network. Thread-safe. Its state is one
/// JSON object. It is written to a file after each request, so a test can read it after all
/// processes were killed:
///
///     settings  repository, id, renamed_from, login (a login that ends in "[bot]" is an App, whose
///               token may not request /user), token (empty: any), push, triage (implied by push),
///               issues (enabled), archived, hourly_limit, writes_per_minute,
///               blocked: the owner blocked the token's user,
///               refused_labels, refused_assignees: names that an issue may not have,
///               now: the time in seconds for tokens of Apps; 0: the system's,
///               app: a GitHub App; null: none. {"client_id", "slug", "installation" (its number),
///               "public_keys" (PEM), "token_s": 3600, "suspended": false}. Only its tokens are
///               then accepted, and `token`, if that is not empty,
///               lag_s: seconds until a new issue is listed,
///               sso: the address at which the organization authorizes the token, which is
///               refused until then; empty: no such organization,
///               permissions: by login; others have "read"
///     issues, comments, labels   as the REST API shows them
///     reactions  of comments: comment, content, user
///     requests  the requests so far: method, target, body, status of the response, dropped
///     faults    the faults of later requests; the first that matches is used:
///               {"method", "path" (part of the target), "times": 1, "after": false (true: the
///               request takes effect first), "drop": false, "delay_ms": 0, "status": 0 (of the
///               response that is sent instead), "message", "headers": {}}
///     app_tokens  the installation tokens so far: token, expires_at in seconds
///     limits    hour (its begin), used, writes (the times of the last minute's, in seconds)
///
/// The path /_control is for tests. GET returns the object. POST takes {"settings": {}, "faults":
/// [], "issues": [], "labelled": {"1": ["label"]}, "changed": {"1": {"body", "state",
/// "state_reason"}}, "deleted": [1], "transferred": {"1": "URL"}, "revoked": true, "forgotten":
/// true}. It merges settings, adds faults and issues, labels, changes, deletes and transfers
/// issues, as users do, revokes all tokens of the App, and forgets the requests so far. It also
/// takes what change_by_people() takes (people.h).
///
/// A GET response has an ETag. A request with the same in If-None-Match gets 304, which no limit
/// counts.
class FakeGithub {
 public:
  /// Reads its state from `state_file` if the file exists. With an empty path, it writes no file.
  /// Throws when the file cannot be read or written.
  explicit FakeGithub(std::filesystem::path state_file);

  /// Returns the reply to a request. `request.url` is the target only. `url` is the server's URL,
  /// for links.
  Reply handle(github::Request const& request, std::string const& url);

  /// Changes the state like a POST request to /_control.
  void control(nlohmann::json const& change, std::string const& url);

  /// Returns a copy of the state.
  nlohmann::json state() const;

 private:
  Reply recorded(github::Request const& request, std::string const& url);
  Reply reply_to(github::Request const& request, std::string const& url);
  Reply controlled(github::Request const& request, std::string const& url);
  void apply(nlohmann::json const& change, std::string const& url);
  github::Response unless_known(github::Request const& request, github::Response response);
  github::Response limited(github::Request const& request, std::string const& url);
  nlohmann::json take_fault(github::Request const& request);
  void save() const;

  mutable std::mutex mutex_;
  std::filesystem::path file_;
  nlohmann::json state_;
};

}  // namespace torchwatch::fakes
