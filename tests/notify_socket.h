#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace torchwatch::tests {

/// The socket on which a service manager receives messages of sd_notify(3).
class NotifySocket {
 public:
  /// `name`: a path that does not exist, or "@NAME" for an abstract socket.
  explicit NotifySocket(std::string name)
      : name_{std::move(name)},
        descriptor_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)} {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(name_, std::begin(address.sun_path));
    if (name_.starts_with('@')) address.sun_path[0] = '\0';
    auto const size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    if (::bind(descriptor_, reinterpret_cast<sockaddr const*>(&address), size) != 0)
      throw std::runtime_error("cannot bind " + name_);
  }

  NotifySocket(NotifySocket const&) = delete;
  NotifySocket& operator=(NotifySocket const&) = delete;

  ~NotifySocket() { ::close(descriptor_); }

  /// Returns the value of NOTIFY_SOCKET.
  std::string const& name() const { return name_; }

  /// Returns the next message, or nothing when there is none within `limit`.
  std::optional<std::string> next(std::chrono::milliseconds limit) const {
    pollfd waiting{descriptor_, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(limit.count())) != 1) return std::nullopt;
    std::array<char, 4096> bytes{};
    auto const size = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (size < 0) return std::nullopt;
    return std::string{bytes.data(), static_cast<std::size_t>(size)};
  }

  /// Discards messages until one contains `words`. False when there is none within `limit`.
  bool receives(std::string const& words, std::chrono::milliseconds limit) const {
    using Clock = std::chrono::steady_clock;
    for (auto const end = Clock::now() + limit; Clock::now() < end;) {
      auto const left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      auto const message = next(left);
      if (message && message->find(words) != std::string::npos) return true;
    }
    return false;
  }

  /// Discards the messages that have arrived.
  void clear() const {
    while (next(std::chrono::milliseconds{0})) {
    }
  }

 private:
  std::string name_;
  int descriptor_;
};

}  // namespace torchwatch::tests
