#include "runner/device_locks.h"

#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "run.h"
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace torchwatch::runner {
namespace {

using namespace std::chrono_literals;
using Held = DeviceLocks::Held;

Claim on_gpu(std::string name) {
  return {true, std::move(name)};
}

Claim const on_cpu;

class DeviceLocksTest : public testing::Test {
 protected:
  std::optional<Held> try_take(Claim const& claim) { return locks_.try_take(claim).value(); }

  void begin_to_wait(Claim claim, std::chrono::milliseconds patience) {
    auto waiting = locks_.take(
        std::move(claim), [this] { ++waits_; }, patience);
    auto keep = [this](std::exception_ptr const&, Result<Held> got) {
      got_ = std::move(got);
    };
    boost::asio::co_spawn(loop_, std::move(waiting), std::move(keep));
    go_on();
  }

  void go_on() {
    loop_.restart();
    loop_.run_for(200ms);
  }

  tests::TemporaryFolder const folder_;
  DeviceLocks const locks_{folder_.path().string()};
  int waits_ = 0;                    // number of calls of on_wait
  std::optional<Result<Held>> got_;  // the result of waiting
  boost::asio::io_context loop_{1};
};

TEST_F(DeviceLocksTest, GiveAGpuToOneRoundAtATime) {
  auto first = try_take(on_gpu("GPU-1"));
  ASSERT_TRUE(first);
  EXPECT_FALSE(try_take(on_gpu("GPU-1")));
  EXPECT_TRUE(try_take(on_gpu("GPU-2")));
  first.reset();
  EXPECT_TRUE(try_take(on_gpu("GPU-1")));
}

TEST_F(DeviceLocksTest, KeepProcessorsAndGpusApart) {
  auto gpu = try_take(on_gpu("GPU-1"));
  ASSERT_TRUE(gpu);
  EXPECT_FALSE(try_take(on_cpu));
  EXPECT_TRUE(try_take({false, "", true})) << "beside_others permits it";
  gpu.reset();
  auto const one = try_take(on_cpu);
  EXPECT_TRUE(one);
  EXPECT_TRUE(try_take(on_cpu)) << "on other CPUs";
  EXPECT_FALSE(try_take(on_gpu("GPU-1")));
}

TEST_F(DeviceLocksTest, CallBackWhileARoundWaits) {
  auto const gpu = try_take(on_gpu("GPU-1"));
  begin_to_wait(on_cpu, 10min);
  EXPECT_FALSE(got_);
  EXPECT_EQ(waits_, 1);
  EXPECT_TRUE(try_take(on_gpu("GPU-2"))) << "a new waiter lets others go first";
}

TEST_F(DeviceLocksTest, LetALongWaitingRoundGoNext) {
  auto gpu = try_take(on_gpu("GPU-1"));
  begin_to_wait(on_cpu, 50ms);
  EXPECT_FALSE(try_take(on_gpu("GPU-2"))) << "a long waiter keeps others out";
  gpu.reset();
  go_on();
  EXPECT_TRUE(got_ && *got_);
}

TEST_F(DeviceLocksTest, NameTheFileThatCannotBeLocked) {
  DeviceLocks const nowhere{"/nowhere"};
  auto const held = nowhere.try_take(on_cpu);
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().message, "lock /nowhere/torchwatch-next.lock: No such file or directory");
}

TEST_F(DeviceLocksTest, AreFilesInsideTheirDirectory) {
  EXPECT_TRUE(try_take(on_gpu("../../etc/passwd")));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "torchwatch-gpu-------etc-passwd.lock"));
}

}  // namespace
}  // namespace torchwatch::runner
