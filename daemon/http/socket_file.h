#pragma once

#include <string>

#include <boost/asio/local/stream_protocol.hpp>
#include <sys/types.h>

#include "storage/base/result.h"

namespace torchwatch::http {

/// Checks that a Unix socket can be created at `path`: there is no file, or a socket of a program
/// that no longer runs. Fails with unavailable if a program listens there, and with refused, naming
/// the reason, if anything else prevents it. Changes nothing.
Result<> check_socket_place(std::string const& path);

/// The file of a Unix socket. The destructor removes it, unless another program has replaced it.
class SocketFile {
 public:
  /// Binds `acceptor`, which is open and does not listen yet, to `path`. Replaces a socket that a
  /// killed service left, but no other file, and no socket in use. Its user and group may connect
  /// (0660), independent of the umask. Fails as check_socket_place does.
  static Result<SocketFile> bind(boost::asio::local::stream_protocol::acceptor& acceptor,
                                 std::string const& path);

  SocketFile(SocketFile&& other) noexcept;
  SocketFile(SocketFile const&) = delete;
  SocketFile& operator=(SocketFile const&) = delete;
  SocketFile& operator=(SocketFile&&) = delete;
  ~SocketFile();

 private:
  explicit SocketFile(std::string path);

  std::string path_;  ///< empty after a move
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace torchwatch::http
