#include "daemon/http/connection_limits.h"

#include <algorithm>
#include <utility>

namespace torchwatch::http {

ConnectionLimits::Guest::Guest(ConnectionLimits const& limits, Peer peer) : peer_{std::move(peer)} {
  enter(limits.connections_);
}

ConnectionLimits::Guest::~Guest() {
  leave();
}

void ConnectionLimits::Guest::enter(std::shared_ptr<Counts> counts) {
  counts_ = std::move(counts);
  ++counts_->all;
  ++counts_->of[peer_.name];
}

void ConnectionLimits::Guest::leave() {
  if (!counts_) return;
  --counts_->all;
  auto const here = counts_->of.find(peer_.name);
  if (--here->second == 0) counts_->of.erase(here);
}

bool ConnectionLimits::has_place_for(Peer const& peer) const {
  return has_place(*connections_, peer, {limits_.connections, limits_.connections_of_peer});
}

bool ConnectionLimits::let_listen(Guest& guest) const {
  if (!has_place(*listeners_, guest.peer_, {limits_.listeners, limits_.listeners_of_peer}))
    return false;
  guest.leave();
  guest.enter(listeners_);
  return true;
}

bool ConnectionLimits::has_place(Counts const& counts,
                                 Peer const& peer,
                                 Places const& places) const {
  auto const kept = peer.is_loopback ? 0 : std::min(limits_.kept_for_loopback, places.all);
  auto const here = counts.of.find(peer.name);
  return counts.all < places.all - kept &&
         (here == counts.of.end() || here->second < places.of_peer);
}

}  // namespace torchwatch::http
