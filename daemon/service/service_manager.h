#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace torchwatch::service {

/// The service manager that started this process, if it waits for messages: systemd with
/// `Type=notify`. Implements the protocol of sd_notify(3) without its library.
class ServiceManager {
 public:
  /// `socket`: "/PATH" of a datagram socket, or "@NAME" of an abstract one. Empty: there is no
  /// service manager.
  explicit ServiceManager(std::string socket = {}) : socket_{std::move(socket)} {}

  /// Returns the manager that the variable NOTIFY_SOCKET names.
  static ServiceManager from_environment();

  /// Sends assignments, one per line: "READY=1\nSTATUS=idle". Never waits. Returns false when the
  /// message could not be sent, and when there is no service manager.
  bool send(std::string_view message) const;

 private:
  std::string socket_;
};

}  // namespace torchwatch::service
