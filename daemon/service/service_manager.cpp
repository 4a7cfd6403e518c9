#include "daemon/service/service_manager.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace torchwatch::service {

ServiceManager ServiceManager::from_environment() {
  auto const* const socket =
      std::getenv("NOTIFY_SOCKET");  // no variable is set while there are threads
  return ServiceManager{socket == nullptr ? "" : socket};
}

bool ServiceManager::send(std::string_view message) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  bool const is_abstract = socket_.starts_with('@');
  bool const is_path = socket_.starts_with('/');
  if ((!is_abstract && !is_path) || socket_.size() >= sizeof address.sun_path) return false;
  std::ranges::copy(socket_, std::begin(address.sun_path));
  // The kernel marks an abstract name by a first byte of zero, and does not end it by one.
  if (is_abstract) address.sun_path[0] = '\0';
  auto const size = offsetof(sockaddr_un, sun_path) + socket_.size();
  int const sender = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (sender < 0) return false;
  auto const sent = ::sendto(sender,
                             message.data(),
                             message.size(),
                             MSG_NOSIGNAL,
                             reinterpret_cast<sockaddr const*>(&address),
                             static_cast<socklen_t>(size));
  ::close(sender);
  return sent == static_cast<ssize_t>(message.size());
}

}  // namespace torchwatch::service
