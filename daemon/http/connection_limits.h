#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "daemon/http/http_server_options.h"
#include "daemon/http/peer.h"

namespace torchwatch::http {

/// Counts who holds connections, so that whoever holds many keeps nobody else out.
class ConnectionLimits {
  struct Counts {
    std::size_t all = 0;
    std::map<std::string, std::size_t> of;  ///< by peer
  };

 public:
  /// One connection of a peer, for as long as this lives; which may be longer than
  /// ConnectionLimits, where a loop is stopped in the midst of it.
  class Guest {
   public:
    Guest(ConnectionLimits const& limits, std::string peer);
    Guest(Guest&& other) noexcept = default;
    Guest(Guest const&) = delete;
    Guest& operator=(Guest const&) = delete;
    Guest& operator=(Guest&&) = delete;
    ~Guest();

   private:
    std::shared_ptr<Counts> counts_;  ///< null: moved away
    std::string peer_;
  };

  /// `limits`: its connections, connections_of_peer and kept_for_loopback. Must outlive it.
  explicit ConnectionLimits(HttpServerOptions const& limits) : limits_{limits} {}

  bool has_place_for(Peer const& peer) const;

 private:
  HttpServerOptions const& limits_;
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace torchwatch::http
