#include "daemon/builds/fetch_progress.h"

#include <gtest/gtest.h>

namespace torchwatch::builds {
namespace {

using fetch::FetchProgress;

constexpr std::int64_t mib = 1 << 20;

FetchProgress progress(FetchProgress::Phase phase,
                       std::int64_t bytes,
                       std::optional<std::int64_t> of = std::nullopt) {
  FetchProgress so_far;
  so_far.phase = phase;
  so_far.bytes = bytes;
  so_far.of = of;
  return so_far;
}

TEST(FetchProgress, ShowsShareSpeedAndTimeLeft) {
  using enum FetchProgress::Phase;
  EXPECT_EQ(progress_line(progress(downloading, 250 * mib, 1000 * mib), 25.0 * mib),
            "[#####---------------]  25% of 1000 MiB, 25.0 MiB/s, 30 s left");
  EXPECT_EQ(progress_line(progress(downloading, 0, 10 * mib), 0),
            "[--------------------]   0% of 10 MiB");
  EXPECT_EQ(progress_line(progress(downloading, 11 * mib, 10 * mib), mib),
            "[####################] 100% of 10 MiB, 1.0 MiB/s, 0 s left");
}

TEST(FetchProgress, SaysWhatIsKnownWithoutASize) {
  using enum FetchProgress::Phase;
  EXPECT_EQ(progress_line(progress(downloading, 3 * mib), 2.0 * mib),
            "downloaded 3 MiB, 2.0 MiB/s");
  EXPECT_EQ(progress_line(progress(downloading, 3 * mib, 0), 0), "downloaded 3 MiB");
  EXPECT_EQ(progress_line(progress(unpacking, 3 * mib), 2.0 * mib), "unpacked 3 MiB");
}

}  // namespace
}  // namespace torchwatch::builds
