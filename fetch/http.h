#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/url.h"

namespace torchwatch::fetch {

/// How a server names one version of a file (RFC 9110, 8.8). Either may be empty.
struct Validators {
  std::string etag;
  std::string last_modified;
  friend bool operator==(Validators const&, Validators const&) = default;
};

struct HttpRequest {
  Url url;
  bool is_head = false;              ///< for the head alone
  std::vector<std::string> headers;  ///< "Range: bytes=5-"
  std::string ca_file;               ///< certificates to trust instead of the system's, PEM
  std::chrono::milliseconds limit;   ///< for all of it
  std::int64_t least_speed = 1;      ///< bytes a second
  std::chrono::seconds stall;        ///< how long it may be slower than that
};

/// What a server says of an answer before its contents.
struct HttpHead {
  long status = 0;  ///< 0: there was no answer
  Validators validators;
  std::optional<std::int64_t> length;  ///< of what follows
  std::string range;                   ///< "bytes 5-9/10", "bytes */10"

  bool is_success() const { return status == 200 || status == 206; }
};

/// How a request ended.
struct HttpAnswer {
  HttpHead head;
  std::string redirect;  ///< where to, absolute
  std::optional<std::chrono::seconds> retry_after;
  std::string trouble;       ///< why it is not whole, in libcurl's words; empty: it is
  bool is_hopeless = false;  ///< not to be tried again: an address or a certificate that is no good
};

/// Takes the next contents of a success; false: no more of it. May throw.
using TakeContents = std::function<bool(HttpHead const&, std::string_view)>;

/// Asks servers, through libcurl: proxies are those of the environment, certificates are verified,
/// redirects are not followed. Keeps the connection for the next request.
class HttpClient {
 public:
  HttpClient();
  HttpClient(HttpClient const&) = delete;
  HttpClient& operator=(HttpClient const&) = delete;
  ~HttpClient();

  /// Blocks until the answer ended; rethrows what `take` throws.
  HttpAnswer ask(HttpRequest const& request, TakeContents const& take);

 private:
  struct Curl;
  std::unique_ptr<Curl> curl_;
};

}  // namespace torchwatch::fetch
