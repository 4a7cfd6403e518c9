#include "bisect/screen.h"

#include "host.h"
#include "usual.h"
#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

using testing::ElementsAre;

Swept swept_latency(std::vector<Pair> pairs) {
  return {Metric::latency, std::move(pairs)};
}

TEST(Screen, PassesWhatMayBeOverTheThreshold) {
  std::vector<Swept> const sweep{
      swept_latency({{100, 108}, {100, 108.1}}),  // is over it
      swept_latency({{100, 106}, {100, 109}}),    // may be
      swept_latency({{100, 104}, {100, 104.1}}),  // is not
      swept_latency({{100, 90}, {100, 91}}),      // is an improvement
  };
  EXPECT_THAT(may_have_grown(sweep, usual_options), ElementsAre(true, true, false, false));
}

TEST(Screen, PassesMoreWhereTheFleetIsNoisy) {
  // Nothing in the middle series itself tells that +4% is less sure here than there.
  Swept const steady = swept_latency({{100, 104}, {100, 104}});
  std::vector<Swept> const quiet{
      swept_latency({{100, 101}, {100, 100}}), steady, swept_latency({{100, 100}, {100, 99}})};
  std::vector<Swept> const noisy{
      swept_latency({{100, 110}, {100, 90}}), steady, swept_latency({{100, 90}, {100, 111}})};
  EXPECT_THAT(may_have_grown(quiet, usual_options), ElementsAre(false, false, false));
  EXPECT_TRUE(may_have_grown(noisy, usual_options)[1]);
}

TEST(Screen, PassesEverythingWhileNothingIsKnownOfTheNoise) {
  EXPECT_THAT(may_have_grown(std::vector{swept_latency({{100, 80}})}, usual_options),
              ElementsAre(true));
}

TEST(Screen, PassesNothingThatWasNotMeasured) {
  EXPECT_THAT(may_have_grown(std::vector{swept_latency({})}, usual_options), ElementsAre(false));
}

TEST(Screen, KnowsTheFloors) {
  std::vector<Swept> const sweep{
      swept_latency({{0.01, 0.015}, {0.01, 0.015}}),
      {Metric::cmem, {{mib, 1.5 * mib}, {mib, 1.5 * mib}}},
      {Metric::cmem, {{mib, 2.5 * mib}, {mib, 2.5 * mib}}},
      {Metric::leak, {{0, 1024}, {0, 1024}}},
      {Metric::leak, {{0, 500}, {0, 500}}},
  };
  EXPECT_THAT(may_have_grown(sweep, usual_options), ElementsAre(false, false, true, true, false));
}

/// Of `count` series that grew by `growth`, the share that passes two pairs at `sigma` a process.
double share_passed(double growth, double sigma, int count) {
  Host host{{.sigma = sigma}, 7};
  std::vector<Swept> sweep;
  for (int i = 0; i < count; ++i)
    sweep.push_back(swept_latency({host.pair(100, 100 * growth), host.pair(100, 100 * growth)}));
  auto const passed = may_have_grown(sweep, usual_options);
  return static_cast<double>(std::ranges::count(passed, true)) / count;
}

TEST(Screen, MissesLittleWhateverTheNoise) {
  for (double const sigma : {0.01, 0.03, 0.05, 0.08}) {
    EXPECT_GT(share_passed(1.10, sigma, 4000), 0.98) << sigma;
    EXPECT_GT(share_passed(1.20, sigma, 4000), 0.995) << sigma;
  }
  EXPECT_LT(share_passed(1.00, 0.01, 4000), 0.01) << "a quiet fleet confirms little";
}

}  // namespace
}  // namespace torchwatch::bisect
