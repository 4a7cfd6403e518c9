#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace torchwatch::http {

struct Request {
  std::string method = "GET";  ///< "GET", "HEAD", "POST", ...
  std::string url;             ///< absolute, http or https
  /// By name. An empty value leaves the field out, also one that libcurl sends by itself.
  std::map<std::string, std::string> headers;
  std::string body;
};

struct Response {
  int status = 0;
  /// By name in lower case; a field that came several times is joined with ", ".
  std::map<std::string, std::string> headers;
  std::string body;
  std::string redirect{};  ///< where a redirect leads, absolute
  std::optional<std::chrono::seconds> retry_after{};
};

/// A header's value, or empty. `name` in lower case.
std::string header_of(Response const& response, std::string const& name);

/// How a server is reached, what it must prove, and how long that may take.
struct Options {
  /// Certificates to trust instead of the system's, PEM. Empty: the system's, or those that the
  /// variables SSL_CERT_FILE and SSL_CERT_DIR name.
  std::string ca_file{};
  /// A file with the very certificate that is expected, PEM, whatever name it has and whenever it
  /// ends. Empty: one for the URL's host.
  std::string certificate{};
  /// Path of a Unix socket to connect to, in place of the URL's host. Empty: none.
  std::string unix_socket{};
  /// For every host; "": no proxy. Not set: what https_proxy, no_proxy and such variables say.
  std::optional<std::string> proxy{};
  std::chrono::milliseconds limit{30'000};  ///< from the name's look-up to the last byte
  std::int64_t least_speed = 0;             ///< bytes a second
  std::chrono::seconds stall{0};            ///< how long it may be slower than that; 0: any time
  std::size_t most_bytes = std::size_t{16} << 20U;  ///< of a body that is collected
  /// Accepts a compressed body (Content-Encoding) and decodes it. Content-Length is then that of
  /// the compressed one.
  bool decodes = false;
};

/// Takes the next piece of a body; false: no more of it. `head` has everything but the body. May
/// throw.
using TakePiece = std::function<bool(Response const& head, std::string_view piece)>;

/// An HTTP client over libcurl: TLS 1.2 or newer, certificate and name always verified, redirects
/// not followed. Keeps its connection for the next request. One thread at a time, except for
/// stop().
class Client {
 public:
  /// Throws when libcurl cannot be set up.
  Client();
  Client(Client const&) = delete;
  Client& operator=(Client const&) = delete;
  ~Client();

  /// Blocks until the response ended. Its body is collected, or goes to `take` piece by piece. Any
  /// HTTP response is a value, whatever its status.
  ///
  /// Errors name the step, and the proxy without its password: invalid_argument, the URL or the
  /// file of certificates is unusable; refused, the server's certificate is not trusted; cancelled,
  /// stop() was called; unavailable, anything else. Rethrows what `take` throws.
  Result<Response> send(Request const& request, Options const& options, TakePiece const& take = {});

  /// Connects to a URL's server and sends nothing. Errors as send().
  Result<> connect(std::string const& url, Options const& options);

  /// Ends the request in progress at once, and every later one. Any thread.
  void stop();

 private:
  struct Curl;
  std::unique_ptr<Curl> curl_;
};

}  // namespace torchwatch::http
