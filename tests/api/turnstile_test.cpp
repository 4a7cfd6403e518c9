#include "daemon/async/turnstile.h"

#include <memory>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

namespace torchwatch {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;

class TurnstileTest : public testing::Test {
 protected:
  /// Enters, says so, and stays until its pass is taken.
  asio::awaitable<void> guest(int number) {
    auto pass = co_await turnstile_.enter();
    inside_.push_back(number);
    passes_[static_cast<std::size_t>(number)] = std::make_unique<Turnstile::Pass>(std::move(pass));
  }

  void come(int number) {
    asio::co_spawn(loop_,
                   guest(number),
                   asio::bind_cancellation_slot(cancel_[static_cast<std::size_t>(number)].slot(),
                                                asio::detached));
    work();
  }

  void go(int number) {
    passes_[static_cast<std::size_t>(number)].reset();
    work();
  }

  void give_up(int number) {
    cancel_[static_cast<std::size_t>(number)].emit(asio::cancellation_type::terminal);
    work();
  }

  void work() {
    loop_.restart();
    loop_.poll();
  }

  asio::io_context loop_{1};
  Turnstile turnstile_{loop_.get_executor(), 2};
  std::vector<int> inside_;
  std::vector<std::unique_ptr<Turnstile::Pass>> passes_{8};
  std::vector<asio::cancellation_signal> cancel_{8};
};

TEST_F(TurnstileTest, LetsSoManyInAndTheOthersInTheirOrder) {
  for (int number = 0; number < 5; ++number)
    come(number);
  EXPECT_THAT(inside_, ElementsAre(0, 1));
  go(1);
  EXPECT_THAT(inside_, ElementsAre(0, 1, 2));
  go(0);
  go(2);
  EXPECT_THAT(inside_, ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(TurnstileTest, WhoComesBackIsLast) {
  for (int number = 0; number < 4; ++number)
    come(number);
  go(0);
  come(0);
  go(1);
  go(2);
  EXPECT_THAT(inside_, ElementsAre(0, 1, 2, 3, 0));
}

TEST_F(TurnstileTest, WhoGivesUpWaitingTakesNoPlace) {
  for (int number = 0; number < 4; ++number)
    come(number);
  give_up(2);
  go(0);
  EXPECT_THAT(inside_, ElementsAre(0, 1, 3));
  go(1);
  go(3);
  come(4);
  come(5);
  EXPECT_THAT(inside_, ElementsAre(0, 1, 3, 4, 5));
}

}  // namespace
}  // namespace torchwatch
