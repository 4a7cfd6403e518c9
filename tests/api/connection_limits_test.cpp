#include "daemon/http/connection_limits.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace torchwatch::http {
namespace {

/// Connections of other machines, up to the limit, each from another address.
std::vector<ConnectionLimits::Guest> strangers_in(ConnectionLimits const& limits) {
  std::vector<ConnectionLimits::Guest> inside;
  for (int i = 0;; ++i) {
    Peer const peer{"10.0.0." + std::to_string(i), false};
    if (!limits.has_place_for(peer)) return inside;
    inside.emplace_back(limits, peer);
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
    own.emplace_back(limits, here);
  }
  EXPECT_FALSE(limits.has_place_for(here)) << "all connections are in use";
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
    inside.emplace_back(limits, peer);
  EXPECT_FALSE(limits.has_place_for(peer));
  EXPECT_TRUE(limits.has_place_for({"10.0.0.2", false}));
  inside.pop_back();
  EXPECT_TRUE(limits.has_place_for(peer));
}

TEST(ConnectionLimits, GiveListeners_PlacesOfTheirOwn) {
  HttpServerOptions options;
  options.connections_of_peer = 2;
  options.listeners_of_peer = 3;
  ConnectionLimits const limits{options};
  Peer const proxy{"10.0.0.1", false};
  std::vector<ConnectionLimits::Guest> listeners;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(limits.has_place_for(proxy)) << i;
    EXPECT_TRUE(limits.let_listen(listeners.emplace_back(limits, proxy))) << i;
  }

  ConnectionLimits::Guest fourth{limits, proxy};
  EXPECT_FALSE(limits.let_listen(fourth)) << "three may listen";
  EXPECT_TRUE(limits.has_place_for(proxy)) << "one of two connections is free";
  ConnectionLimits::Guest const fifth{limits, proxy};
  EXPECT_FALSE(limits.has_place_for(proxy)) << "the fourth still counts as a connection";
  listeners.pop_back();
  EXPECT_TRUE(limits.let_listen(fourth));
}

TEST(ConnectionLimits, KeepListenersPlaces_ForThisMachine) {
  HttpServerOptions options;
  options.listeners = 3;
  options.kept_for_loopback = 1;
  ConnectionLimits const limits{options};
  std::vector<ConnectionLimits::Guest> listeners;
  for (int i = 0; i < 3; ++i) {
    Peer const peer{"10.0.0." + std::to_string(i), false};
    EXPECT_EQ(limits.let_listen(listeners.emplace_back(limits, peer)), i < 2) << i;
  }
  ConnectionLimits::Guest here{limits, {"127.0.0.1", true}};
  EXPECT_TRUE(limits.let_listen(here));
}

}  // namespace
}  // namespace torchwatch::http
