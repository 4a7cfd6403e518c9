#include "runner/suite/described.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
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

  std::string write(std::string const& text) const {
    auto const file = (directory_ / "model.json").string();
    std::ofstream(file) << text;
    return file;
  }

  /// What is wrong with a description, after the file's name.
  std::string complaint_about(std::string const& text) const {
    auto const file = write(text);
    try {
      read_description(file);
    } catch (BadDescription const& problem) {
      return std::string(problem.what()).substr(file.size());
    }
    return "nothing";
  }

  fs::path directory_;
};

constexpr auto good = R"({
  "inputs": [{"shape": ["batch", 4]}],
  "labels": [{"shape": ["batch"], "type": "int64", "high": 3}],
  "loss": "cross_entropy",
  "learning_rate": 0.1,
  "batch": {"train": 8, "eval": 2}
})";

TEST_F(Described, IsWhatTheFileSays) {
  auto const model = read_description(write(good));

  EXPECT_EQ(model.inputs.at(0).shape,
            (std::vector<std::int64_t>{TensorDescription::batch_size, 4}));
  EXPECT_EQ(model.labels.at(0).type, torch::kLong);
  EXPECT_EQ(model.labels.at(0).high, 3);
  EXPECT_EQ(model.loss, Loss::cross_entropy);
  EXPECT_EQ(model.rate, 0.1);
  EXPECT_EQ(model.batch.train, 8);
  EXPECT_EQ(model.batch.eval, 2);
}

TEST_F(Described, IsRefusedWithOneReason) {
  EXPECT_EQ(complaint_about("[]"), ": found [], allowed is an object");
  EXPECT_EQ(complaint_about(R"({"inputs": [], "batch": {"eval": 1}})"),
            ": inputs: found nothing, allowed is at least one tensor");
  EXPECT_EQ(complaint_about(R"({"inputs": [{"shape": [0]}], "batch": {"eval": 1}})"),
            ": inputs[0]: shape: found 0, allowed is a list of whole numbers from 1 on and "
            "\"batch\"");
  EXPECT_EQ(complaint_about(R"({"inputs": [{"shape": [1], "type": "int4"}]})"),
            ": inputs[0]: type: found \"int4\", allowed is bool, float32, int64");
  EXPECT_EQ(complaint_about(R"({"inputs": [{"shape": [1]}]})"),
            R"(: batch: found nothing, allowed is {"train": 32, "eval": 8})");
  EXPECT_EQ(complaint_about(R"({"inputs": [{"shape": [1]}], "loss": "mse", "batch": {}})"),
            ": labels: found nothing, allowed is at least one tensor for this loss");
  EXPECT_EQ(
      complaint_about(R"({"inptus": 1})"),
      ": inptus: found an unknown key, allowed is batch, inputs, labels, learning_rate, loss");
  EXPECT_EQ(complaint_about("{").substr(0, 10), ": no JSON:");
}

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
  auto const description = read_description(write(good));
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
