#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "daemon/http/http_server_options.h"
#include "daemon/http/peer.h"

namespace torchwatch::http {

/// Limits connections and listeners, in all and per client, so that one client cannot use all of
/// them. A listener is a connection with a response that has no end, such as server-sent events. It
/// does not count as a connection.
class ConnectionLimits {
  struct Counts {
    std::size_t all = 0;
    std::map<std::string, std::size_t> of;  ///< key: name of the peer
  };

  struct Places {
    std::size_t all;
    std::size_t of_peer;
  };

 public:
  /// One counted connection of a peer. Its destructor ends the count. It may outlive
  /// ConnectionLimits, when an event loop is stopped.
  class Guest {
   public:
    Guest(ConnectionLimits const& limits, Peer peer);
    Guest(Guest&& other) noexcept = default;
    Guest(Guest const&) = delete;
    Guest& operator=(Guest const&) = delete;
    Guest& operator=(Guest&&) = delete;
    ~Guest();

   private:
    friend class ConnectionLimits;

    void enter(std::shared_ptr<Counts> counts);
    void leave();

    std::shared_ptr<Counts> counts_;  ///< includes this connection; null after a move
    Peer peer_;
  };

  /// Uses `connections`, `listeners`, their limits per peer, and `kept_for_loopback` of `limits`,
  /// which must outlive it.
  explicit ConnectionLimits(HttpServerOptions const& limits) : limits_{limits} {}

  /// True if `peer` may open another connection.
  bool has_place_for(Peer const& peer) const;

  /// Makes a connection a listener, so that it no longer counts as a connection. Returns false, and
  /// changes nothing, if there are too many listeners.
  bool let_listen(Guest& guest) const;

 private:
  bool has_place(Counts const& counts, Peer const& peer, Places const& places) const;

  HttpServerOptions const& limits_;
  std::shared_ptr<Counts> connections_ = std::make_shared<Counts>();
  std::shared_ptr<Counts> listeners_ = std::make_shared<Counts>();
};

}  // namespace torchwatch::http
