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
  /// Values by field name. An empty value removes the field, also one that libcurl adds itself.
  std::map<std::string, std::string> headers;
  std::string body;
};

struct Response {
  int status = 0;
  /// Values by field name in lower case. Repeated fields are joined with ", ".
  std::map<std::string, std::string> headers;
  std::string body;
  std::string redirect{};  ///< the absolute URL of a redirect; empty without one
  std::optional<std::chrono::seconds> retry_after{};
};

/// Returns the value of a header, or "" without one. `name` is in lower case.
std::string header_of(Response const& response, std::string const& name);

/// Options of a request: route to the server, trusted certificates, and limits.
struct Options {
  /// PEM file of the certificates to trust. Empty: those of SSL_CERT_FILE and SSL_CERT_DIR, or else
  /// the system's.
  std::string ca_file{};
  /// PEM file of the only certificate to trust. Its name and end date are not checked. Empty: any
  /// trusted certificate for the URL's host.
  std::string certificate{};
  /// Path of a Unix socket to connect to, in place of the URL's host. Empty: none.
  std::string unix_socket{};
  /// The proxy for all hosts; "" is none. Unset: the variables apply, such as https_proxy and
  /// no_proxy.
  std::optional<std::string> proxy{};
  std::chrono::milliseconds limit{30'000};  ///< from the lookup of the name to the last byte
  std::int64_t least_speed = 0;             ///< bytes per second
  std::chrono::seconds stall{0};            ///< longest time below `least_speed`; 0: no limit
  std::size_t most_bytes = std::size_t{16} << 20U;  ///< limit of a collected body
  /// Accepts a compressed body (Content-Encoding) and decodes it. Content-Length is then the
  /// compressed size.
  bool decodes = false;
};

/// Takes the next piece of a body. Returns false to end the transfer. `head` is the response
/// without its body. May throw.
using TakePiece = std::function<bool(Response const& head, std::string_view piece)>;

/// An HTTP client over libcurl. Requires TLS 1.2 or newer, verifies the certificate (see Options),
/// and does not follow redirects. Keeps its connection for the next request. Only one thread at a
/// time may use it, except for stop().
class Client {
 public:
  /// Throws when libcurl cannot be set up.
  Client();
  Client(Client const&) = delete;
  Client& operator=(Client const&) = delete;
  ~Client();

  /// Sends a request, and blocks until its response has ended. The body is collected, or passed to
  /// `take` in pieces. A response with any HTTP status is a value.
  ///
  /// Errors name the step, and the proxy without its password:
  /// - invalid_argument: the URL or the file of certificates is unusable.
  /// - refused: the server's certificate is not trusted.
  /// - cancelled: stop() was called.
  /// - unavailable: anything else.
  /// Rethrows the exceptions of `take`.
  Result<Response> send(Request const& request, Options const& options, TakePiece const& take = {});

  /// Connects to the server of a URL and sends nothing. Fails as send() does.
  Result<> connect(std::string const& url, Options const& options);

  /// Ends the request in progress at once, and every later request. Thread-safe.
  void stop();

 private:
  struct Curl;
  std::unique_ptr<Curl> curl_;
};

}  // namespace torchwatch::http
