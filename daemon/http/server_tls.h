#pragma once

#include <chrono>
#include <string>
#include <tuple>
#include <utility>

#include <boost/asio/ssl/context.hpp>
#include <sys/stat.h>

#include "storage/base/result.h"

namespace torchwatch::http {

/// By what a server proves who it is, PEM.
struct TlsFiles {
  std::string certificate;  ///< the server's, and then those that lead to one that clients trust
  std::string key;          ///< of the first; without a password
};

/// The server's side of TLS 1.2 and newer, which follows its files when they are renewed.
class ServerTls {
 public:
  /// Fails with invalid_argument, naming the file, when one cannot be read, is not a regular file
  /// (a pipe would block the thread) or they do not fit.
  static Result<ServerTls> open(TlsFiles files);

  /// Takes what the files hold by now, if they have changed. Fails as open() does, once for each
  /// state that they are in; what they held before then stays in use. Blocks for two looks at a
  /// file; to be called before each connection.
  Result<> renew();

  /// For the next connection. Those that were made before renew() keep what they have.
  boost::asio::ssl::context& context() { return context_; }

  /// When the certificate in use ends.
  std::chrono::sys_seconds expires();

 private:
  /// Changes with whatever is done to a file; all 0 when there is none.
  using Stamp = std::tuple<dev_t, ino_t, off_t, time_t, long>;

  ServerTls(TlsFiles files, boost::asio::ssl::context context, std::pair<Stamp, Stamp> seen);

  static Stamp stamp_of(std::string const& file);
  static std::pair<Stamp, Stamp> stamps_of(TlsFiles const& files);

  TlsFiles files_;
  boost::asio::ssl::context context_;
  std::pair<Stamp, Stamp> seen_;  ///< of certificate and key
};

}  // namespace torchwatch::http
