#pragma once

#include <chrono>
#include <string>
#include <tuple>
#include <utility>

#include <boost/asio/ssl/context.hpp>
#include <sys/stat.h>

#include "storage/base/result.h"

namespace torchwatch::http {

/// The PEM files with which a server proves its identity.
struct TlsFiles {
  std::string certificate;  ///< the server's certificate, then its chain to a trusted one
  std::string key;          ///< private key of the first certificate, without a password
};

/// The server side of TLS 1.2 and newer. It can load renewed files.
class ServerTls {
 public:
  /// Loads the files. Fails with invalid_argument, naming the file, if one cannot be read, if it is
  /// not a regular file (a pipe would block the thread), or if key and certificate do not match.
  static Result<ServerTls> open(TlsFiles files);

  /// Loads the files again if they have changed. Fails as open() does, once for each change, and
  /// then keeps the previous certificate. Blocks for two calls of stat. Call it before each
  /// connection.
  Result<> renew();

  /// The context for the next connection. Connections from before renew() keep theirs.
  boost::asio::ssl::context& context() { return context_; }

  /// Returns the time at which the certificate in use expires.
  std::chrono::sys_seconds expires();

 private:
  /// A stamp that differs after each change of a file; all 0 without a file.
  using Stamp = std::tuple<dev_t, ino_t, off_t, time_t, long>;

  ServerTls(TlsFiles files, boost::asio::ssl::context context, std::pair<Stamp, Stamp> seen);

  static Stamp stamp_of(std::string const& file);
  static std::pair<Stamp, Stamp> stamps_of(TlsFiles const& files);

  TlsFiles files_;
  boost::asio::ssl::context context_;
  std::pair<Stamp, Stamp> seen_;  ///< stamps of certificate and key
};

}  // namespace torchwatch::http
