#include "runner/worker/dispatched.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

namespace torchwatch::worker {
namespace {

using testing::Contains;
using testing::Not;

TEST(Dispatched, SeparatesCalledFromCalledInTurn) {
  auto const x = torch::ones({2, 3}).requires_grad_();
  auto const weight = torch::ones({4, 3});
  Dispatched const dispatched;
  torch::linear(x, weight).sum().backward();

  auto const called = dispatched.called();
  EXPECT_THAT(called, Contains("aten::linear"));
  EXPECT_THAT(called, Contains("aten::sum"));
  EXPECT_THAT(called, Contains("SumBackward0"));
  EXPECT_THAT(called, Not(Contains("aten::t"))) << "by linear alone";
  EXPECT_THAT(dispatched.called_in_turn(), Contains("aten::t"));
}

TEST(Dispatched, CountsWaitsOfTheHost) {
  auto const x = torch::ones({2, 3});
  Dispatched const dispatched;
  x.sum().relu();
  EXPECT_EQ(dispatched.waits(), 0);
  x.sum().item<float>();
  EXPECT_EQ(dispatched.waits(), 1);
  x.index({x > 0});
  EXPECT_EQ(dispatched.waits(), 2) << "for how many there are";
}

TEST(Dispatched, StartsEmptyAndStopsAtItsEnd) {
  {
    Dispatched const first;
    torch::ones({2}).add_(1);
  }
  Dispatched const second;
  EXPECT_TRUE(second.called().empty());
}

}  // namespace
}  // namespace torchwatch::worker
