#include <exception>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pretend_device.h"
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "runner/suite/registry.h"

namespace torchwatch {
namespace {

using Kind = suite::Test;

/// Tests that the pretended device detects mixed devices.
class PretendDevice : public testing::Test {
 protected:
  /// Runs `work`. Returns the observations, and its error if it threw.
  static pretend::Seen seen_of(std::function<void()> const& work) {
    pretend::watch();
    try {
      work();
    } catch (std::exception const& problem) {
      std::string const text = problem.what();
      auto seen = pretend::seen();
      seen.mixed.insert("threw: " + text.substr(0, text.find('\n')));
      return seen;
    }
    return pretend::seen();
  }

  torch::Tensor const host = torch::ones({10, 4});
  torch::Tensor const own = torch::randn({10, 4}).to(pretend::device());
};

TEST_F(PretendDevice, ReportsEachMixOfDevices) {
  auto const indices = torch::randint(10, {3}, torch::kLong);
  std::map<std::string, std::function<void()>> const mixes{
      {"add",
       [&] {
         own + host;
       }},
      {"mm",
       [&] {
         own.mm(torch::ones({4, 2}));
       }},
      {"cat",
       [&] {
         torch::cat({own, host});
       }},
      {"where",
       [&] {
         torch::where(own > 0, own, host);
       }},
      {"gather",
       [&] {
         own.gather(0, torch::zeros({1, 4}, torch::kLong));
       }},
      {"embedding",
       [&] {
         torch::embedding(own, indices);
       }},
      {"index of the host by the device",
       [&] {
         torch::ones({10}).index({own.select(1, 0) > 0});
       }},
      {"sparse",
       [&] {
         own.add(host.to_sparse());
       }},
      {"convolution",
       [&] {
         torch::conv1d(torch::ones({1, 2, 8}).to(pretend::device()), torch::ones({3, 2, 3}));
       }},
  };
  for (auto const& [name, mix] : mixes)
    EXPECT_FALSE(seen_of(mix).mixed.empty()) << name;
}

TEST_F(PretendDevice, AcceptsTensorsOfOneDevice) {
  auto const seen = seen_of([&] {
    (own + own).mm(own.t()).sum().item<double>();
    own.add(1.5).masked_fill(own > 0, 0).index({torch::tensor({1, 2})});
    auto grown = torch::empty({0}, own.options());
    torch::mul_out(grown, own, own);
    EXPECT_EQ(grown.sizes(), own.sizes());
  });
  EXPECT_TRUE(seen.mixed.empty()) << *seen.mixed.begin();
  EXPECT_EQ(seen.synchronisations, 1) << "item()";
}

TEST_F(PretendDevice, ComputesTheHostsResults) {
  torch::manual_seed(1);
  auto const weight = torch::randn({4, 4}, torch::requires_grad());
  auto const of_device = weight.detach().to(pretend::device()).requires_grad_();
  auto const loss = [](torch::Tensor const& w, torch::Tensor const& x) {
    return torch::relu(x.mm(w)).pow(2).mean();
  };
  auto const x = torch::randn({8, 4});
  loss(weight, x).backward();
  loss(of_device, x.to(pretend::device())).backward();
  EXPECT_TRUE(torch::allclose(weight.grad(), of_device.grad().cpu()));
}

TEST_F(PretendDevice, HasSparseGradients) {
  auto const indices = torch::tensor({1, 3, 1});
  auto const weight = torch::ones({4, 2}).to(pretend::device()).requires_grad_();
  auto const seen = seen_of([&] {
    auto const picked = torch::embedding(weight, indices.to(pretend::device()), -1, false, true);
    picked.sum().backward();
    torch::optim::SGD({weight}, 0.5).step();
  });
  EXPECT_TRUE(seen.mixed.empty()) << *seen.mixed.begin();
  EXPECT_TRUE(weight.grad().is_sparse());
  EXPECT_EQ(weight.grad().device(), pretend::device());
  auto const expected = torch::tensor({{1.0, 1.0}, {0.0, 0.0}, {1.0, 1.0}, {0.5, 0.5}});
  EXPECT_TRUE(torch::allclose(weight.detach().cpu(), expected.to(torch::kFloat)));
}

TEST_F(PretendDevice, HasNestedTensors) {
  auto const present = torch::tensor({{1, 1, 0}, {1, 0, 0}}, torch::kBool);
  auto const x = torch::randn({2, 3, 4});
  auto const padded = [&](torch::Tensor const& some) {
    auto const nested = torch::_nested_tensor_from_mask(some, present.to(some.device()));
    EXPECT_TRUE(nested.is_nested());
    EXPECT_EQ(nested.device(), some.device());
    return nested.to_padded_tensor(0).cpu();
  };
  auto const seen =
      seen_of([&] { EXPECT_TRUE(torch::equal(padded(x), padded(x.to(pretend::device())))); });
  EXPECT_TRUE(seen.mixed.empty()) << *seen.mixed.begin();
}

/// Errors of the benchmarks that the device does not support.
std::map<std::string_view, std::string_view> const limits{
    // Only the CPU has integer operators in LibTorch; unsupported on CUDA, too
    {"mobilenet_v2_quantized_qat eval", "LibTorch has integer inference for CPUs alone"},
    {"resnet50_quantized_qat eval", "LibTorch has integer inference for CPUs alone"},
};

/// Models whose host waits for the device in a step, for values or for a number of boxes or words.
/// The other models launch a whole step without waiting.
std::set<std::string_view> const waiting{"Background_Matting",
                                         "LearningToPaint",
                                         "attention_is_all_you_need_pytorch",
                                         "detectron2_fasterrcnn_r_101_c4",
                                         "detectron2_fasterrcnn_r_101_dc5",
                                         "detectron2_fasterrcnn_r_101_fpn",
                                         "detectron2_fasterrcnn_r_50_c4",
                                         "detectron2_fasterrcnn_r_50_dc5",
                                         "detectron2_fasterrcnn_r_50_fpn",
                                         "detectron2_fcos_r_50_fpn",
                                         "detectron2_maskrcnn",
                                         "detectron2_maskrcnn_r_101_c4",
                                         "detectron2_maskrcnn_r_101_fpn",
                                         "detectron2_maskrcnn_r_50_c4",
                                         "detectron2_maskrcnn_r_50_fpn",
                                         "dlrm",
                                         "doctr_det_predictor",
                                         "doctr_reco_predictor",
                                         "drq",
                                         "fambench_xlmr",
                                         "hf_Longformer",
                                         "hf_Reformer",
                                         "pytorch_struct",
                                         "pytorch_unet",
                                         "soft_actor_critic",
                                         "speech_transformer",
                                         "tacotron2",
                                         "timm_efficientdet",
                                         "vision_maskrcnn",
                                         "yolov3"};

class OnAPretendDevice : public testing::TestWithParam<std::string> {
 public:
  static suite::Setup setup_of(suite::Model const& model, Kind test) {
    return {test,
            suite::Scale::smoke,
            suite::batch_of(model, test, suite::Scale::smoke),
            pretend::device()};
  }

  static void expect_on_device(suite::Workload const& workload) {
    auto const network = workload.network();
    for (auto const& parameter : network->named_parameters())
      EXPECT_EQ(parameter->device(), pretend::device()) << parameter.key();
    for (auto const& buffer : network->named_buffers())
      EXPECT_EQ(buffer->device(), pretend::device()) << buffer.key();
  }

  static void run(suite::Model const& model, Kind test) {
    pretend::watch();
    auto const workload = suite::make_workload(model.make, setup_of(model, test), 1337);
    expect_on_device(*workload);
    workload->step();
    auto const before = pretend::seen().synchronisations;
    workload->step();
    for (auto const& mixed : pretend::seen().mixed)
      ADD_FAILURE() << mixed;
    auto const waits = pretend::seen().synchronisations - before;
    RecordProperty(test == Kind::train ? "train_synchronisations" : "eval_synchronisations", waits);
    EXPECT_TRUE(waits == 0 || waiting.contains(model.name))
        << waits << ": a new item() or nonzero()?";
  }
};

/// Runs a benchmark. Returns its error, or empty.
std::string end_of(suite::Model const& model, Kind test) {
  try {
    OnAPretendDevice::run(model, test);
    return "";
  } catch (std::exception const& problem) {
    std::string const text = problem.what();
    return text.substr(0, text.find('\n'));
  }
}

TEST_P(OnAPretendDevice, MixesNoDevices) {
  auto const* const model = suite::find_model(GetParam());
  for (auto const test : {Kind::train, Kind::eval}) {
    if (suite::batch_of(*model, test, suite::Scale::smoke) == 0) continue;
    auto const name = GetParam() + (test == Kind::train ? " train" : " eval");
    SCOPED_TRACE(name);
    auto const limit = limits.find(name);
    std::string const ended = end_of(*model, test);
    if (limit == limits.end())
      EXPECT_EQ(ended, "");
    else
      EXPECT_NE(ended.find(limit->second), std::string::npos) << "found \"" << ended << '"';
  }
}

std::vector<std::string> names_of_models() {
  std::vector<std::string> names;
  for (auto const& model : suite::models())
    names.emplace_back(model.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Suite,
                         OnAPretendDevice,
                         testing::ValuesIn(names_of_models()),
                         [](auto const& test) { return test.param; });

}  // namespace
}  // namespace torchwatch
