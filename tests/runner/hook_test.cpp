#include "runner/hook.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "tests/no_descriptors_left.h"
#include "tests/temporary_folder.h"

namespace torchwatch::runner {
namespace {

TEST(Hook, IsRunWithTheVariablesOfTheGpu) {
  tests::TemporaryFolder const folder;
  auto const file = (folder / "seen").string();
  auto const done = run_hook({"sh", "-c", "echo $CUDA_VISIBLE_DEVICES $PATH > $0", file},
                             {{"CUDA_VISIBLE_DEVICES", "GPU-1"}});
  EXPECT_TRUE(done);
  EXPECT_TRUE(tests::text_of(file).starts_with("GPU-1 /")) << tests::text_of(file);
}

TEST(Hook, ReportsWhyItFailed) {
  EXPECT_TRUE(run_hook({}, {})) << "no hook";
  auto const failed = run_hook({"sh", "-c", "echo 'Insufficient Permissions' >&2; exit 4"}, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "hook sh: exit status 4: Insufficient Permissions");
  EXPECT_EQ(run_hook({"/nowhere/hook"}, {}).error().code, ErrorCode::not_found);
}

TEST(Hook, FailsAsAHostProblemWhenTheHostCannotStartIt) {
  Result<> refused;
  {
    tests::NoDescriptorsLeft const none;
    refused = run_hook({"true"}, {});
  }
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().is_of_host) << refused.error().message;
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(run_hook({"false"}, {}).error().is_of_host);
  EXPECT_TRUE(run_hook({"true"}, {}));
}

TEST(Hook, IsKilledWhenItDoesNotEnd) {
  auto const failed = run_hook({"sleep", "100"}, {}, std::chrono::milliseconds{100});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "hook sleep: did not end in time");
}

}  // namespace
}  // namespace torchwatch::runner
