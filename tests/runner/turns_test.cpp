#include "runner/turns.h"

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <string>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

namespace torchwatch::runner {
namespace {

namespace asio = boost::asio;

/// Players who take some turns each, record their name at each turn, then leave.
class Table {
 public:
  explicit Table(std::size_t players, std::uint32_t seed = 1)
      : turns_{loop_.get_executor(), players, seed} {}

  void play(std::size_t who, int turns) {
    asio::co_spawn(
        loop_, run(who, turns), [](std::exception_ptr failure) { EXPECT_FALSE(failure); });
  }

  /// Adds a player that leaves when `leave` is emitted.
  void play(std::size_t who, int turns, asio::cancellation_signal& leave) {
    auto const ended = [](std::exception_ptr failure) {
      EXPECT_TRUE(failure);
    };
    asio::co_spawn(loop_, run(who, turns), asio::bind_cancellation_slot(leave.slot(), ended));
  }

  std::string end() {
    loop_.run();
    return order_;
  }

  /// Called at the end of each turn.
  std::function<void()> after_turn = [] {
  };

 private:
  asio::awaitable<void> run(std::size_t who, int turns) {
    TurnSlot slot{turns_, who};
    for (int i = 0; i < turns; ++i) {
      co_await slot.take();
      EXPECT_FALSE(busy_);
      busy_ = true;
      order_ += static_cast<char>('A' + who);
      co_await asio::post(asio::use_awaitable);
      after_turn();
      busy_ = false;
    }
  }

  asio::io_context loop_{1};
  Turns turns_;
  std::string order_;
  bool busy_ = false;
};

/// Returns the order of turns in `passes` passes, as Table records it, for the present players.
std::string drawn(std::size_t players,
                  std::uint32_t seed,
                  int passes,
                  std::string const& present = "ABC") {
  TurnOrder orders{seed, Drawn::passes, players};
  std::string order;
  for (int pass = 0; pass < passes; ++pass)
    for (auto const who : orders.next())
      if (char const name = static_cast<char>('A' + who); present.find(name) != std::string::npos)
        order += name;
  return order;
}

TEST(Turns, FollowTheDrawnOrders) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    Table table{2, seed};
    table.play(0, 20);
    table.play(1, 20);
    EXPECT_EQ(table.end(), drawn(2, seed, 20));
  }
}

TEST(Turns, AreOneOfEachInAPass) {
  Table table{3};
  for (std::size_t who = 0; who < 3; ++who)
    table.play(who, 100);
  auto const order = table.end();
  ASSERT_EQ(order.size(), 300U);
  for (std::size_t at = 0; at < order.size(); at += 3) {
    auto pass = order.substr(at, 3);
    std::ranges::sort(pass);
    EXPECT_EQ(pass, "ABC");
  }
}

TEST(Turns, MayBeTwoInARowFromPassToPass) {
  Table table{2};
  table.play(0, 50);
  table.play(1, 50);
  auto const order = table.end();
  for (auto const* const both : {"AA", "BB", "ABAB", "BABA"})
    EXPECT_NE(order.find(both), std::string::npos) << both << " in " << order;
  EXPECT_EQ(order.find("AAA"), std::string::npos);
  EXPECT_EQ(order.find("BBB"), std::string::npos);
}

TEST(Turns, WaitForTheNextPlayer) {
  for (auto const& arrival : {std::array{2, 1, 0}, std::array{0, 2, 1}}) {
    Table table{3};
    for (auto const who : arrival)
      table.play(static_cast<std::size_t>(who), 2);
    EXPECT_EQ(table.end(), drawn(3, 1, 2));
  }
}

TEST(Turns, SkipAPlayerThatNeverCame) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    Table table{3, seed};
    table.play(0, 10);
    table.play(1, 0);
    table.play(2, 10);
    EXPECT_EQ(table.end(), drawn(3, seed, 10, "AC"));
  }
}

/// The order of the others stays as drawn when a player leaves in its turn.
TEST(Turns, SkipAPlayerThatHasLeft) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    Table table{3, seed};
    table.play(0, 10);
    table.play(1, 4);
    table.play(2, 10);
    auto const both = drawn(3, seed, 10, "AC").substr(2 * 4);
    EXPECT_EQ(table.end(), drawn(3, seed, 4) + both);
  }
}

/// A player leaves while it waits.
TEST(Turns, SkipAPlayerThatLeavesInAnothersTurn) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    Table table{2, seed};
    auto const name = drawn(2, seed, 1).front();
    auto const first = static_cast<std::size_t>(name - 'A');
    asio::cancellation_signal leave;
    table.after_turn = [&leave] {
      leave.emit(asio::cancellation_type::terminal);
    };
    table.play(first, 10);
    table.play(1 - first, 10, leave);
    EXPECT_EQ(table.end(), std::string(10, name));
  }
}

TEST(Turns, ContinueForASinglePlayer) {
  Table table{1};
  table.play(0, 3);
  EXPECT_EQ(table.end(), "AAA");
}

}  // namespace
}  // namespace torchwatch::runner
