#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "daemon/http/http_server_options.h"
#include "daemon/http/peer.h"

namespace torchwatch::http {

/// Counts connections and listeners by client, so that a client with many keeps no other out. A
/// listener is a connection whose answer has no end, such as server-sent events: it has a place
/// among the listeners and none among the connections.
class ConnectionLimits {
  struct Counts {
    std::size_t all = 0;
    std::map<std::string, std::size_t> of;  ///< by peer
  };

  struct Places {
    std::size_t all;
    std::size_t of_peer;
  };

 public:
  /// One connection of a peer, for as long as this lives; which may be longer than
  /// ConnectionLimits, where a loop is stopped in the midst of it.
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

    std::shared_ptr<Counts> counts_;  ///< where it is counted; null: moved away
    Peer peer_;
  };

  /// `limits`: its connections, listeners and kept_for_loopback. Must outlive it.
  explicit ConnectionLimits(HttpServerOptions const& limits) : limits_{limits} {}

  bool has_place_for(Peer const& peer) const;

  /// Makes a connection a listener, which frees its place among the connections. False when there
  /// is no place among the listeners: it stays a connection.
  bool let_listen(Guest& guest) const;

 private:
  bool has_place(Counts const& counts, Peer const& peer, Places const& places) const;

  HttpServerOptions const& limits_;
  std::shared_ptr<Counts> connections_ = std::make_shared<Counts>();
  std::shared_ptr<Counts> listeners_ = std::make_shared<Counts>();
};

}  // namespace torchwatch::http
