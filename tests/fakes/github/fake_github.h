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
///               issues (enabled), hourly_limit, writes_per_minute,
///               lag_s: seconds until a new issue is listed,
///               sso: the address at which the organization authorizes the token, which is
///               refused until then; empty: no such organization
///     issues, comments, labels   as the REST API shows them
///     requests  the requests so far: method, target, status of the response, dropped
///     faults    the faults of later requests; the first that matches is used:
///               {"method", "path" (part of the target), "times": 1, "after": false (true: the
///               request takes effect first), "drop": false, "delay_ms": 0, "status": 0 (of the
///               response that is sent instead), "message", "headers": {}}
///     limits    hour (its begin), used, writes (the times of the last minute's, in seconds)
///
/// The path /_control is for tests. GET returns the object. POST takes {"settings": {}, "faults":
/// [], "issues": [], "labelled": {"1": ["label"]}, "deleted": [1]}. It merges settings, adds faults
/// and issues, and labels and deletes issues.
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
  github::Response limited(github::Request const& request, std::string const& url);
  nlohmann::json take_fault(github::Request const& request);
  void save() const;

  mutable std::mutex mutex_;
  std::filesystem::path file_;
  nlohmann::json state_;
};

}  // namespace torchwatch::fakes
