#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "runner/suite/registry.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;

/// By name, which gtest can print.
class EveryModel : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::set_num_threads(1); }

  static std::unique_ptr<Workload> make(suite::Test test, Scale scale, std::int64_t seed = 1337) {
    return make_workload(*find_model(GetParam()), test, scale, torch::kCPU, seed);
  }
};

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (auto const& model : models())
    names.emplace_back(model.name);
  return names;
}

Tensor values_of(Tensor const& gradient) {
  return gradient.is_sparse() ? gradient._values() : gradient;
}

double loss_after(Workload& workload, int steps) {
  for (int i = 0; i < steps; ++i)
    workload.step();
  return workload.result().item<double>();
}

TEST_P(EveryModel, HasThePublishedNumberOfParameters) {
  std::map<std::string_view, std::int64_t> const published{
      // Devlin et al., table 1's base model over 20005 words: 2 tables, 12 layers, 2 heads
      {"BERT_pytorch",
       (20005 + 3) * 768 +
           12 * (4 * (768 * 768 + 768) + (768 * 3072 + 3072) + (3072 * 768 + 768) + 4 * 768) +
           (768 * 2 + 2) + (768 * 20005 + 20005)},
      // The DCGAN tutorial of PyTorch: generator and discriminator
      {"dcgan", 3576704 + 2765568},
      // TorchBench's dlrm: 8 tables, 512-512-64 below, 100-1024-1024-1024-1 above
      {"dlrm",
       8 * 1000000LL * 64 + (512 * 512 + 512) + (512 * 64 + 64) + (100 * 1024 + 1024) +
           2 * (1024 * 1024 + 1024) + (1024 + 1)},
      // TorchBench's lennard_jones: 1-16-16-16-16-1
      {"lennard_jones", (16 + 16) + 3 * (16 * 16 + 16) + (16 + 1)},
      // torchvision's documentation
      {"resnet18", 11689512},
      // TorchBench's soft_actor_critic: 3-1024-1024-2, twice 4-1024-1024-1, and the temperature
      {"soft_actor_critic",
       (3 * 1024 + 1024) + (1024 * 1024 + 1024) + (1024 * 2 + 2) +
           2 * ((4 * 1024 + 1024) + (1024 * 1024 + 1024) + (1024 + 1)) + 1},
      // TorchBench's tts_angular: LSTM 40 -> 768, two 256 -> 768, each projected to 256
      {"tts_angular",
       (3072 * (40 + 768) + 2 * 3072) + 2 * (3072 * (256 + 768) + 2 * 3072) + 3 * 768 * 256},
  };

  std::int64_t count = 0;
  for (auto const& parameter : make(suite::Test::train, Scale::full)->parameters())
    count += parameter.numel();

  EXPECT_EQ(count, published.at(GetParam()));
}

TEST_P(EveryModel, TrainsEveryParameter) {
  auto const workload = make(suite::Test::train, Scale::smoke);

  workload->step();

  for (auto const& parameter : workload->parameters()) {
    ASSERT_TRUE(parameter.grad().defined()) << "shape " << parameter.sizes();
    auto const gradient = values_of(parameter.grad());
    EXPECT_TRUE(torch::isfinite(gradient).all().item<bool>()) << "shape " << parameter.sizes();
    EXPECT_GT(gradient.abs().max().item<double>(), 0) << "shape " << parameter.sizes();
  }
}

TEST_P(EveryModel, LearnsItsBatch) {
  auto const workload = make(suite::Test::train, Scale::smoke);

  double const before = loss_after(*workload, 1);
  double const after = loss_after(*workload, 10);

  EXPECT_LT(after, before);
}

TEST_P(EveryModel, RepeatsItsLossesFromTheSameSeed) {
  auto const first = make(suite::Test::train, Scale::smoke, 1);
  double const first_loss = loss_after(*first, 3);
  auto const again = make(suite::Test::train, Scale::smoke, 1);
  double const same_loss = loss_after(*again, 3);
  auto const other = make(suite::Test::train, Scale::smoke, 2);
  double const other_loss = loss_after(*other, 3);

  EXPECT_EQ(first_loss, same_loss);
  EXPECT_NE(first_loss, other_loss);
}

TEST_P(EveryModel, InfersTheSameAgainWithoutGradients) {
  auto const workload = make(suite::Test::eval, Scale::smoke);

  workload->step();
  auto const first = workload->result();
  workload->step();
  auto const second = workload->result();

  EXPECT_TRUE(torch::equal(first, second));
  EXPECT_TRUE(torch::isfinite(first).all().item<bool>());
  EXPECT_FALSE(second.requires_grad());
  for (auto const& parameter : workload->parameters())
    EXPECT_FALSE(parameter.grad().defined()) << "shape " << parameter.sizes();
}

INSTANTIATE_TEST_SUITE_P(Suite, EveryModel, testing::ValuesIn(all_names()), [](auto const& name) {
  return name.param;
});

TEST(Registry, FindsModelsByName) {
  EXPECT_EQ(find_model("resnet18")->full.train, 16);
  EXPECT_EQ(find_model("resnet18")->task, "CLASSIFICATION");
  EXPECT_EQ(find_model("resnet"), nullptr);
}

}  // namespace
}  // namespace torchwatch::suite
