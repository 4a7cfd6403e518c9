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

/// A file as a host like download.pytorch.org has it.
struct HostedFile {
  std::string content{};
  std::filesystem::path path{};  ///< in the place of `content`, for large ones
  std::string etag{};            ///< with its quotes; empty: none is sent
  std::string last_modified{};   ///< empty: none is sent
  std::string redirect{};        ///< an address: the file is there
  bool has_ranges = true;        ///< answers 206
  /// Sent with Content-Encoding: gzip whatever the client accepts, as a page that was stored so.
  bool is_gzipped = false;
  std::int64_t piece = 1 << 18;        ///< bytes that are sent at once
  std::chrono::milliseconds pause{0};  ///< after each piece
};

/// What goes wrong with one request.
struct HostFault {
  int status = 0;  ///< answered in the place of the file
  std::string retry_after{};
  std::optional<std::int64_t> drop_after{};  ///< contents' bytes before the connection is cut
  std::optional<std::int64_t> length{};      ///< sent as Content-Length in place of the right one
  std::chrono::milliseconds delay{0};        ///< before the answer
};

/// A request as it came.
struct HostRequest {
  std::string method;  ///< "GET", "HEAD"
  std::string target;
  std::map<std::string, std::string> headers;  ///< names in lower case
};

/// A download host on 127.0.0.1, on a thread of its own: plain, or over TLS for whoever gives it an
/// identity. Files have versions (ETag, Last-Modified), are sent again from where a client has
/// them, and are not sent to whom knows them (RFC 9110, 13 and 14).
class DownloadHost {
 public:
  /// Throws when it cannot listen.
  explicit DownloadHost(std::optional<ServerIdentity> const& identity = std::nullopt);
  DownloadHost(DownloadHost const&) = delete;
  DownloadHost& operator=(DownloadHost const&) = delete;

  /// "https://127.0.0.1:PORT", or "http".
  std::string const& url() const { return url_; }

  /// `target`: "/whl/nightly/cpu/torch/". Takes the place of what was there.
  void host(std::string const& target, HostedFile file);
  void remove(std::string const& target);

  /// Answers 403 for files that are missing, as an S3 bucket does that may not be listed. Without
  /// it: 404.
  void deny_missing();

  /// For the next requests, one each.
  void fail(std::vector<HostFault> faults);

  std::vector<HostRequest> requests() const;

  /// What is answered to a request, and with which fault.
  struct Reply {
    HostFault fault;
    std::optional<HostedFile> file;  ///< nothing: there is none
    int missing_status = 404;
  };

  Reply reply_to(HostRequest request);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, HostedFile> files_;
  std::deque<HostFault> faults_;
  int missing_status_ = 404;
  std::vector<HostRequest> requests_;
  std::optional<boost::asio::ssl::context> context_;
  LoopbackServer server_;  // uses the others on its thread
  std::string url_;
};

}  // namespace torchwatch::fakes
