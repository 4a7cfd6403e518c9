#pragma once

#include <string>

#include <boost/asio/local/stream_protocol.hpp>
#include <sys/types.h>

#include "storage/base/result.h"

namespace torchwatch::http {

/// Whether a Unix socket can be made at `path`: nothing is there, or a socket at which nobody
/// listens any more. Fails with unavailable when somebody does, with refused when something else is
/// in the way, and says what. Changes nothing.
Result<> check_socket_place(std::string const& path);

/// The file of a Unix socket, which is removed with this object, unless it is another's by then.
class SocketFile {
 public:
  /// Binds `acceptor`, which is open and does not listen yet, to `path`. A socket that a killed
  /// service left is replaced; whoever listens there, and what is no socket, is left alone. Its
  /// user and group may call (0660), whatever the umask. Fails as check_socket_place does.
  static Result<SocketFile> bind(boost::asio::local::stream_protocol::acceptor& acceptor,
                                 std::string const& path);

  SocketFile(SocketFile&& other) noexcept;
  SocketFile(SocketFile const&) = delete;
  SocketFile& operator=(SocketFile const&) = delete;
  SocketFile& operator=(SocketFile&&) = delete;
  ~SocketFile();

 private:
  explicit SocketFile(std::string path);

  std::string path_;  ///< empty: moved away
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace torchwatch::http
