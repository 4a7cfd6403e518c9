#include "runner/suite/described.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <torch/script.h>

#include "runner/suite/registry.h"

namespace torchwatch::suite {
namespace {

namespace fs = std::filesystem;
using torch::Tensor;

class Described : public testing::Test {
 public:
  Described(Described const&) = delete;
  Described& operator=(Described const&) = delete;

 protected:
  Described() {
    std::string pattern = (fs::temp_directory_path() / "torchwatch-described-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }

  ~Described() override { fs::remove_all(directory_); }

  fs::path directory_;
};

constexpr auto good = R"({
  "inputs": [{"shape": ["batch", 4]}],
  "labels": [{"shape": ["batch"], "type": "int64", "high": 3}],
  "loss": "cross_entropy",
  "learning_rate": 0.1,
  "batch": {"train": 8, "eval": 2}
})";

/// A linear layer as TorchScript; train: returns its logits.
std::string save_script(fs::path const& directory) {
  torch::jit::Module module("Linear");
  module.register_parameter("weight", torch::randn({3, 4}).requires_grad_(), false);
  module.register_buffer("steps", torch::zeros({1}));
  module.define("def forward(self, x):\n  return torch.matmul(x, self.weight.t())\n");
  auto const file = (directory / "model.pt").string();
  module.save(file);
  return file;
}

TEST_F(Described, ScriptsTrainAndInferLikeModelsInCpp) {
  auto const file = save_script(directory_);
  auto const description = parse_description(good, "model.json");
  auto const make = [&](suite::Setup const& setup) {
    return make_script(file, description, setup);
  };

  auto const training = make_workload(make, {suite::Test::train, Scale::full, 8}, 1);
  training->step();
  auto const first = training->results().at(0).item<double>();
  for (int i = 0; i < 9; ++i)
    training->step();
  EXPECT_LT(training->results().at(0).item<double>(), first);
  auto const names = training->network()->named_parameters();
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names[0].key(), "weight");
  EXPECT_TRUE(names[0]->grad().defined());

  auto const inference = make_workload(make, {suite::Test::eval, Scale::full, 2}, 1);
  inference->step();
  EXPECT_EQ(inference->results().at(0).sizes(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(inference->inputs().at(0).sizes(), (std::vector<std::int64_t>{2, 4}));
}

}  // namespace
}  // namespace torchwatch::suite
