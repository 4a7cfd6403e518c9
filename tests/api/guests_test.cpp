#include "daemon/net/guests.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace torchwatch::net {
namespace {

/// Connections of strangers, as many as find a place, each from an address of its own.
std::vector<Guests::Guest> strangers_in(Guests const& guests) {
  std::vector<Guests::Guest> inside;
  for (int i = 0;; ++i) {
    Peer const peer{"10.0.0." + std::to_string(i), false};
    if (!guests.has_place_for(peer)) return inside;
    inside.emplace_back(guests, peer.name);
  }
}

TEST(Guests, KeepPlacesForWhoeverLooksAfterTheMachine) {
  HttpServerOptions limits;
  limits.connections = 10;
  limits.kept_for_loopback = 3;
  Guests const guests{limits};
  auto strangers = strangers_in(guests);
  EXPECT_EQ(strangers.size(), 7U);

  Peer const here{"127.0.0.1", true};
  std::vector<Guests::Guest> own;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(guests.has_place_for(here)) << i;
    own.emplace_back(guests, here.name);
  }
  EXPECT_FALSE(guests.has_place_for(here)) << "all places are taken";
  strangers.pop_back();
  EXPECT_TRUE(guests.has_place_for(here));
  EXPECT_FALSE(guests.has_place_for({"10.0.1.1", false}));
}

TEST(Guests, LetNobodyHaveMoreThanTheirShare) {
  HttpServerOptions limits;
  limits.connections_of_peer = 2;
  Guests const guests{limits};
  Peer const peer{"10.0.0.1", false};
  std::vector<Guests::Guest> inside;
  for (int i = 0; i < 2; ++i)
    inside.emplace_back(guests, peer.name);
  EXPECT_FALSE(guests.has_place_for(peer));
  EXPECT_TRUE(guests.has_place_for({"10.0.0.2", false}));
  inside.pop_back();
  EXPECT_TRUE(guests.has_place_for(peer));
}

}  // namespace
}  // namespace torchwatch::net
