#include "daemon/http/connection_limits.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace torchwatch::http {
namespace {

/// Connections of strangers, as many as find a place, each from an address of its own.
std::vector<ConnectionLimits::Guest> strangers_in(ConnectionLimits const& limits) {
  std::vector<ConnectionLimits::Guest> inside;
  for (int i = 0;; ++i) {
    Peer const peer{"10.0.0." + std::to_string(i), false};
    if (!limits.has_place_for(peer)) return inside;
    inside.emplace_back(limits, peer.name);
  }
}

TEST(ConnectionLimits, KeepPlaces_ForThisMachine) {
  HttpServerOptions options;
  options.connections = 10;
  options.kept_for_loopback = 3;
  ConnectionLimits const limits{options};
  auto strangers = strangers_in(limits);
  EXPECT_EQ(strangers.size(), 7U);

  Peer const here{"127.0.0.1", true};
  std::vector<ConnectionLimits::Guest> own;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(limits.has_place_for(here)) << i;
    own.emplace_back(limits, here.name);
  }
  EXPECT_FALSE(limits.has_place_for(here)) << "all places are taken";
  strangers.pop_back();
  EXPECT_TRUE(limits.has_place_for(here));
  EXPECT_FALSE(limits.has_place_for({"10.0.1.1", false}));
}

TEST(ConnectionLimits, GiveEachClient_NoMoreThanItsShare) {
  HttpServerOptions options;
  options.connections_of_peer = 2;
  ConnectionLimits const limits{options};
  Peer const peer{"10.0.0.1", false};
  std::vector<ConnectionLimits::Guest> inside;
  for (int i = 0; i < 2; ++i)
    inside.emplace_back(limits, peer.name);
  EXPECT_FALSE(limits.has_place_for(peer));
  EXPECT_TRUE(limits.has_place_for({"10.0.0.2", false}));
  inside.pop_back();
  EXPECT_TRUE(limits.has_place_for(peer));
}

}  // namespace
}  // namespace torchwatch::http
