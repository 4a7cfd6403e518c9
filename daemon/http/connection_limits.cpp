#include "daemon/http/connection_limits.h"

#include <algorithm>
#include <utility>

namespace torchwatch::http {

ConnectionLimits::Guest::Guest(ConnectionLimits const& limits, std::string peer)
    : counts_{limits.counts_},
      peer_{std::move(peer)} {
  ++counts_->all;
  ++counts_->of[peer_];
}

ConnectionLimits::Guest::~Guest() {
  if (!counts_) return;
  --counts_->all;
  auto const here = counts_->of.find(peer_);
  if (--here->second == 0) counts_->of.erase(here);
}

bool ConnectionLimits::has_place_for(Peer const& peer) const {
  auto const kept = peer.is_loopback ? 0 : std::min(limits_.kept_for_loopback, limits_.connections);
  auto const here = counts_->of.find(peer.name);
  return counts_->all < limits_.connections - kept &&
         (here == counts_->of.end() || here->second < limits_.connections_of_peer);
}

}  // namespace torchwatch::http
