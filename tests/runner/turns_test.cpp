#include "runner/turns.h"

#include <exception>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

namespace torchwatch::runner {
namespace {

namespace asio = boost::asio;

/// Players who each take some turns, write their name when they have one, then leave.
class Table {
 public:
  explicit Table(std::size_t players) : turns_{loop_.get_executor(), players} {}

  void play(std::size_t who, int turns) {
    asio::co_spawn(
        loop_, run(who, turns), [](std::exception_ptr failure) { EXPECT_FALSE(failure); });
  }

  std::string end() {
    loop_.run();
    return order_;
  }

 private:
  asio::awaitable<void> run(std::size_t who, int turns) {
    Seat seat{turns_, who};
    for (int i = 0; i < turns; ++i) {
      co_await seat.take();
      EXPECT_FALSE(busy_);
      busy_ = true;
      order_ += static_cast<char>('A' + who);
      co_await asio::post(asio::use_awaitable);
      busy_ = false;
    }
  }

  asio::io_context loop_{1};
  Turns turns_;
  std::string order_;
  bool busy_ = false;
};

TEST(Turns, GoThereAndBack) {
  Table table{2};
  table.play(0, 4);
  table.play(1, 4);
  EXPECT_EQ(table.end(), "ABBAABBA");
}

TEST(Turns, WaitForWhoeverIsNext) {
  Table table{3};
  table.play(2, 2);
  table.play(1, 2);
  table.play(0, 2);
  EXPECT_EQ(table.end(), "ABCCBA");
}

TEST(Turns, PassOverWhoHasLeft) {
  Table table{3};
  table.play(0, 3);
  table.play(1, 0);
  table.play(2, 5);
  EXPECT_EQ(table.end(), "ACCAACCC");
}

TEST(Turns, GoOnForOneAlone) {
  Table table{1};
  table.play(0, 3);
  EXPECT_EQ(table.end(), "AAA");
}

}  // namespace
}  // namespace torchwatch::runner
