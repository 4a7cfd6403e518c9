#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/script.h>
#include <torch/torch.h>

#include "runner/suite/blocks/quantization.h"
#include "runner/suite/registry.h"

namespace torchwatch::suite {
namespace {

namespace fs = std::filesystem;
using torch::Tensor;
using States = std::map<std::string, Tensor>;

States load(fs::path const& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<char> const bytes((std::istreambuf_iterator<char>(stream)), {});
  States states;
  for (auto const& entry : torch::pickle_load(bytes).toGenericDict())
    states[entry.key().toStringRef()] = entry.value().toTensor();
  return states;
}

/// Returns names and shapes of weights, one line each. Leaves out the ranges of fake quantization,
/// which a Python model has only when prepared for it.
std::set<std::string> weights_of(States const& states) {
  std::set<std::string> weights;
  for (auto const& [name, tensor] : states)
    if (!std::regex_match(name, std::regex("seen|input|output\\..*|quantizers\\..*")))
      weights.insert(name + " " + c10::str(tensor.sizes()));
  return weights;
}

std::vector<std::string> missing(std::set<std::string> const& from,
                                 std::set<std::string> const& weights) {
  std::vector<std::string> names;
  std::ranges::set_difference(weights, from, std::back_inserter(names));
  return names;
}

States states_of(torch::nn::Module const& network) {
  States states;
  for (auto const& list : {network.named_parameters(), network.named_buffers()})
    for (auto const& entry : list)
      states[entry.key()] = entry.value();
  return states;
}

/// The models of this process's tests.
std::string models_to_compare() {
  std::string names;
  auto const& tests = *testing::UnitTest::GetInstance()->current_test_suite();
  for (int i = 0; i < tests.total_test_count(); ++i) {
    std::string const name = tests.GetTestInfo(i)->name();
    if (tests.GetTestInfo(i)->should_run()) names += ' ' + name.substr(name.find('/') + 1);
  }
  return names;
}

/// Models of torchvision, written by Python: all at once, since it starts slowly.
class Torchvision : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    std::string pattern = (fs::temp_directory_path() / "torchwatch-torchvision-XXXXXX").string();
    directory() = mkdtemp(pattern.data());
    auto const command = "/usr/bin/python3 " TORCHWATCH_TORCHVISION_STATES " " +
                         directory().string() + models_to_compare();
    python_status() = std::system(command.c_str());
  }

  static void TearDownTestSuite() { fs::remove_all(directory()); }

  void SetUp() override {
    constexpr int not_installed = 77;
    auto const status = python_status();
    if (WIFEXITED(status) && WEXITSTATUS(status) == not_installed)
      GTEST_SKIP() << "python3-torchvision is not installed";
    ASSERT_EQ(status, 0);
    auto const file = directory() / GetParam();
    theirs_ = load(file);
    fs::remove(file);
    at::set_num_threads(1);
  }

  States const& theirs() const { return theirs_; }

  static std::unique_ptr<Workload> make(suite::Test test) {
    auto const* const model = find_model(GetParam());
    if (model == nullptr) throw std::runtime_error(GetParam() + ": " + why_missing(GetParam()));
    return make_workload(model->make, {test, Scale::full, 1}, 1);
  }

  std::vector<Tensor> their_outputs() const {
    std::vector<Tensor> outputs;
    for (int i = 0; theirs_.contains("output." + std::to_string(i)); ++i)
      outputs.push_back(theirs_.at("output." + std::to_string(i)));
    return outputs;
  }

  bool is_quantized() const { return theirs_.contains("seen"); }

 private:
  static fs::path& directory() {
    static fs::path path;
    return path;
  }

  static int& python_status() {
    static int status = 0;
    return status;
  }

  States theirs_;
};

void load(States const& theirs, torch::nn::Module const& network) {
  torch::NoGradGuard const no_gradients;
  for (auto& [name, tensor] : states_of(network))
    if (auto const found = theirs.find(name); found != theirs.end()) tensor.copy_(found->second);
}

/// Returns the outputs of the workload for their input and weights.
std::vector<Tensor> outputs_of(Workload& workload, States const& theirs) {
  load(theirs, *workload.network());
  torch::NoGradGuard const no_gradients;
  workload.inputs().at(0).copy_(theirs.at("input"));
  workload.step();
  return workload.results();
}

/// Returns the outputs in integers, with the ranges of their images.
std::vector<Tensor> quantized_outputs_of(Workload& training, States const& theirs) {
  auto trained = std::dynamic_pointer_cast<FakeQuantizedImpl>(training.network());
  load(theirs, *trained);
  torch::NoGradGuard const no_gradients;
  trained->eval();
  trained->forward(theirs.at("seen"));
  return {Quantized(FakeQuantized(std::move(trained)))->forward(theirs.at("input"))};
}

TEST_P(Torchvision, LoadsItsWeightsAndGivesItsOutputs) {
  auto const workload = make(is_quantized() ? suite::Test::train : suite::Test::eval);

  auto const ours = weights_of(states_of(*workload->network()));
  ASSERT_EQ(missing(ours, weights_of(theirs())), std::vector<std::string>{});
  ASSERT_EQ(missing(weights_of(theirs()), ours), std::vector<std::string>{});
  auto const expected = their_outputs();
  auto const found =
      is_quantized() ? quantized_outputs_of(*workload, theirs()) : outputs_of(*workload, theirs());
  ASSERT_EQ(found.size(), expected.size());
  ASSERT_FALSE(expected.empty());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_GT(expected[i].numel(), 0) << "output " << i;
    ASSERT_EQ(found[i].sizes(), expected[i].sizes()) << "output " << i;
    EXPECT_TRUE(torch::allclose(found[i], expected[i], 1e-4, 1e-4))
        << "output " << i << ": " << (found[i] - expected[i]).abs().max().item<double>();
  }
}

INSTANTIATE_TEST_SUITE_P(Suite,
                         Torchvision,
                         testing::Values("alexnet",
                                         "densenet121",
                                         "mnasnet1_0",
                                         "mobilenet_v2",
                                         "mobilenet_v2_quantized_qat",
                                         "mobilenet_v3_large",
                                         "resnet152",
                                         "resnet18",
                                         "resnet50",
                                         "resnet50_quantized_qat",
                                         "resnext50_32x4d",
                                         "shufflenet_v2_x1_0",
                                         "squeezenet1_1",
                                         "vgg16",
                                         "vision_maskrcnn"),
                         [](auto const& name) { return name.param; });

}  // namespace
}  // namespace torchwatch::suite
