#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/ssl/context.hpp>

#include "tests/fakes/github/certificates.h"
#include "tests/fakes/loopback/loopback_server.h"

namespace torchwatch::fakes {

/// A file of a download host such as download.pytorch.org.
struct HostedFile {
  std::string content{};
  std::filesystem::path path{};  ///< instead of `content`, for large files
  std::string etag{};            ///< with quotes; empty: not sent
  std::string last_modified{};   ///< empty: not sent
  std::string redirect{};        ///< URL to which a request is redirected; empty: none
  bool has_ranges = true;        ///< answers requests for a range with 206
  /// Sent with Content-Encoding: gzip for every client, like a page that is stored compressed.
  bool is_gzipped = false;
  std::int64_t piece = 1 << 18;        ///< bytes sent at once
  std::chrono::milliseconds pause{0};  ///< after each piece
};

/// A fault that affects one request.
struct HostFault {
  int status = 0;  ///< answered instead of the file; 0: none
  std::string retry_after{};
  std::optional<std::int64_t> drop_after{};  ///< bytes sent before the connection is closed
  std::optional<std::int64_t> length{};      ///< wrong Content-Length to send
  std::chrono::milliseconds delay{0};        ///< before the answer
};

/// A received request.
struct HostRequest {
  std::string method;  ///< "GET", "HEAD"
  std::string target;
  std::map<std::string, std::string> headers;  ///< names in lower case
};

/// A download host on 127.0.0.1, on its own thread: over TLS when it gets an identity, else plain.
/// Files have versions (ETag, Last-Modified). A client gets the rest of a file that it has in part,
/// and status 304 for a version that it has (RFC 9110, sections 13 and 14). Thread-safe.
class DownloadHost {
 public:
  /// Starts the server on any free port. Throws when it cannot listen.
  explicit DownloadHost(std::optional<ServerIdentity> const& identity = std::nullopt);
  DownloadHost(DownloadHost const&) = delete;
  DownloadHost& operator=(DownloadHost const&) = delete;

  /// Returns "https://127.0.0.1:PORT", or "http://127.0.0.1:PORT" without an identity.
  std::string const& url() const { return url_; }

  /// Publishes a file at `target`, such as "/whl/nightly/cpu/torch/". Replaces an older file there.
  void host(std::string const& target, HostedFile file);
  void remove(std::string const& target);

  /// Answers 403 for missing files, as an S3 bucket without the right to list does. The default is
  /// 404.
  void deny_missing();

  /// Adds faults. Each affects one of the next requests, in order.
  void fail(std::vector<HostFault> faults);

  /// Returns all requests so far, in order.
  std::vector<HostRequest> requests() const;

  /// The reply to a request: a fault and a file.
  struct Reply {
    HostFault fault;
    std::optional<HostedFile> file;  ///< nothing: there is no such file
    int missing_status = 404;
  };

  /// Records a request and returns its reply. For the server's thread.
  Reply reply_to(HostRequest request);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, HostedFile> files_;
  std::deque<HostFault> faults_;
  int missing_status_ = 404;
  std::vector<HostRequest> requests_;
  std::optional<boost::asio::ssl::context> context_;
  LoopbackServer server_;  // uses the other members on its thread
  std::string url_;
};

}  // namespace torchwatch::fakes
