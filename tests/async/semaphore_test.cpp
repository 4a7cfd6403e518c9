#include "daemon/async/semaphore.h"

#include <exception>
#include <memory>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gmock/gmock.h>

#include "daemon/async/cancellation.h"

namespace torchwatch::async {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;

class SemaphoreTest : public testing::Test {
 protected:
  /// Enters, records it, and stays until its pass is taken.
  asio::awaitable<void> guest(int number) {
    auto pass = co_await semaphore_.enter();
    co_await throw_if_cancelled();
    inside_.push_back(number);
    passes_[static_cast<std::size_t>(number)] = std::make_unique<Semaphore::Pass>(std::move(pass));
  }

  /// Suspends as any co_await does.
  static asio::awaitable<void> throw_if_cancelled() { co_return; }

  void come(int number) {
    auto finished = [this, number](std::exception_ptr failure) {
      if (!failure) return;
      if (!is_cancellation(failure)) std::rethrow_exception(failure);
      gone_.push_back(number);
    };
    auto& signal = cancel_[static_cast<std::size_t>(number)];
    asio::co_spawn(
        loop_, guest(number), asio::bind_cancellation_slot(signal.slot(), std::move(finished)));
    work();
  }

  void go(int number) {
    passes_[static_cast<std::size_t>(number)].reset();
    work();
  }

  void cancel(int number) {
    cancel_[static_cast<std::size_t>(number)].emit(asio::cancellation_type::terminal);
  }

  void give_up(int number) {
    cancel(number);
    work();
  }

  void work() {
    loop_.restart();
    loop_.poll();
  }

  asio::io_context loop_{1};
  Semaphore semaphore_{loop_.get_executor(), 2};
  std::vector<int> inside_;
  std::vector<int> gone_;  // without having been inside
  std::vector<std::unique_ptr<Semaphore::Pass>> passes_{8};
  std::vector<asio::cancellation_signal> cancel_{8};
};

TEST_F(SemaphoreTest, LetsSoManyInAndTheOthersInTheirOrder) {
  for (int number = 0; number < 5; ++number)
    come(number);
  EXPECT_THAT(inside_, ElementsAre(0, 1));
  go(1);
  EXPECT_THAT(inside_, ElementsAre(0, 1, 2));
  go(0);
  go(2);
  EXPECT_THAT(inside_, ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(SemaphoreTest, ATaskThatReturnsIsLast) {
  for (int number = 0; number < 4; ++number)
    come(number);
  go(0);
  come(0);
  go(1);
  go(2);
  EXPECT_THAT(inside_, ElementsAre(0, 1, 2, 3, 0));
}

TEST_F(SemaphoreTest, ACancelledWaitTakesNoPlace) {
  for (int number = 0; number < 4; ++number)
    come(number);
  give_up(2);
  EXPECT_THAT(gone_, ElementsAre(2)) << "immediately, although no task leaves";
  go(0);
  EXPECT_THAT(inside_, ElementsAre(0, 1, 3));
  go(1);
  go(3);
  come(4);
  come(5);
  EXPECT_THAT(inside_, ElementsAre(0, 1, 3, 4, 5));
}

TEST_F(SemaphoreTest, ThePlaceOfATaskCancelledWhenCalledGoesToTheNext) {
  for (int number = 0; number < 4; ++number)
    come(number);
  asio::post(loop_, [this] {
    passes_[0].reset();  // calls 2, who has not moved yet
    cancel(2);
  });
  work();
  go(1);
  come(4);
  EXPECT_THAT(gone_, ElementsAre(2));
  EXPECT_THAT(inside_, ElementsAre(0, 1, 3, 4));
}

TEST_F(SemaphoreTest, AllTasksMayBeCancelled) {
  for (int number = 0; number < 5; ++number)
    come(number);
  for (int number = 4; number >= 2; --number)
    give_up(number);
  EXPECT_THAT(gone_, ElementsAre(4, 3, 2));
  go(0);
  go(1);
  come(5);
  come(6);
  EXPECT_THAT(inside_, ElementsAre(0, 1, 5, 6));
}

}  // namespace
}  // namespace torchwatch::async
