#include "daemon/http/socket_file.h"

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace torchwatch::http {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using asio::local::stream_protocol;

namespace {

constexpr mode_t for_user_and_group = 0660;

Error unusable(std::string const& path, std::string const& why) {
  return {ErrorCode::refused, "unix:" + path + ": " + why};
}

std::string last_error() {
  return std::generic_category().message(errno);
}

/// Returns the status of the file at `path`, without following a symlink; nothing if none exists.
std::optional<struct stat> file_at(std::string const& path) {
  struct stat file {};

  if (::lstat(path.c_str(), &file) != 0) return std::nullopt;
  return file;
}

/// Fails with unavailable if a program listens at `path`. Connects and disconnects to find out.
Result<> check_is_unused(std::string const& path) {
  asio::io_context none;
  stream_protocol::socket caller{none};
  stream_protocol::endpoint const place{path};
  caller.open();
  caller.native_non_blocking(true);  // EAGAIN, a full queue, also means that a program listens
  auto const size = static_cast<socklen_t>(place.size());
  bool const answers = ::connect(caller.native_handle(), place.data(), size) == 0;
  if (answers || errno == EAGAIN)
    return Error{ErrorCode::unavailable, "unix:" + path + ": in use by another program"};
  if (errno == ECONNREFUSED || errno == ENOENT) return {};
  return unusable(path, last_error());
}

}  // namespace

Result<> check_socket_place(std::string const& path) {
  auto const folder = fs::path{path}.parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return unusable(path, folder.string() + ": " + last_error());
  auto const file = file_at(path);
  if (!file) return {};
  if (!S_ISSOCK(file->st_mode))
    return unusable(path, "found a file that is not a socket, allowed a socket or no file");
  return check_is_unused(path);
}

Result<SocketFile> SocketFile::bind(stream_protocol::acceptor& acceptor, std::string const& path) {
  if (auto const place = check_socket_place(path); !place) return place.error();
  ::unlink(path.c_str());
  boost::system::error_code failed;
  acceptor.bind(path, failed);
  if (failed) return unusable(path, failed.message());
  SocketFile made{path};
  if (::chmod(path.c_str(), for_user_and_group) != 0) return unusable(path, last_error());
  return made;
}

SocketFile::SocketFile(std::string path) : path_{std::move(path)} {
  if (auto const file = file_at(path_)) {
    device_ = file->st_dev;
    inode_ = file->st_ino;
  }
}

SocketFile::SocketFile(SocketFile&& other) noexcept
    : path_{std::exchange(other.path_, {})},
      device_{other.device_},
      inode_{other.inode_} {}

SocketFile::~SocketFile() {
  if (path_.empty()) return;
  auto const file = file_at(path_);
  if (file && file->st_dev == device_ && file->st_ino == inode_) ::unlink(path_.c_str());
}

}  // namespace torchwatch::http
