#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>

#include "github/transport.h"

namespace torchwatch::fakes {

/// What a server does with a request.
struct Reply {
  github::Response response;
  bool drop = false;  ///< close the connection instead of answering
  std::chrono::milliseconds delay{0};
};

/// api.github.com for one repository, as a function from request to reply with a memory.
/// Thread-safe. Everything it knows is one JSON object, written to a file after each request, so
/// that a test can count after killing everything:
///
///     settings  repository, id, renamed_from, login (one that ends in "[bot]" is an App's, whose
///               token may not ask for /user), token (empty: any), push, triage (implied by push),
///               issues (enabled), hourly_limit, writes_per_minute,
///               lag_s: a new issue is listed only so many seconds later,
///               sso: the address at which the organization would authorize the token, which is
///               refused until then; empty: no such organization
///     issues, comments, labels   as the REST API shows them
///     requests  what was asked: method, target, status as answered, dropped
///     faults    what goes wrong next, first match first:
///               {"method", "path" (part of the target), "times": 1, "after": false (true: it takes
///               effect first),
///                "drop": false, "delay_ms": 0, "status": 0 (answer instead), "message", "headers":
///                {}}
///     limits    hour (begin), used, writes (seconds of the last minute's)
///
/// The path /_control is for tests: GET shows the object, POST takes {"settings": {}, "faults": [],
/// "issues": [], "labelled": {"1": ["label"]}, "deleted": [1]}; settings are merged, faults and
/// issues added.
class FakeGithub {
 public:
  /// Goes on from `state_file` where it exists. An empty path keeps nothing. Throws when the file
  /// cannot be used.
  explicit FakeGithub(std::filesystem::path state_file);

  /// `request.url` is the target alone. `url` is the server's own, for links.
  Reply handle(github::Request const& request, std::string const& url);

  /// What a POST to /_control does.
  void control(nlohmann::json const& change, std::string const& url);

  /// A copy of all it knows.
  nlohmann::json state() const;

 private:
  Reply recorded(github::Request const& request, std::string const& url);
  Reply reply_to(github::Request const& request, std::string const& url);
  Reply controlled(github::Request const& request, std::string const& url);
  void apply(nlohmann::json const& change, std::string const& url);
  github::Response limited(github::Request const& request, std::string const& url);
  nlohmann::json take_fault(github::Request const& request);
  void save() const;

  mutable std::mutex mutex_;
  std::filesystem::path file_;
  nlohmann::json state_;
};

}  // namespace torchwatch::fakes
