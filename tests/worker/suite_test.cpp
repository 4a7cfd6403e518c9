#include <algorithm>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exceptions.h"
#include "published_parameters.h"
#include <gtest/gtest.h>
#include <torch/library.h>
#include <torch/torch.h>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/autocast.h"
#include "runner/suite/registry.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

/// Skips the drawing of large weights that are only counted, eight thousand million in all.
constexpr auto undrawn = c10::DispatchKey::TESTING_ONLY_GenericMode;

bool is_large_weight(Tensor const& x) {
  return x.requires_grad() && x.numel() > 1'000'000;
}

Tensor& draw_normal(Tensor& x,
                    double mean,
                    double deviation,
                    c10::optional<torch::Generator> generator) {
  if (is_large_weight(x)) return x;
  c10::impl::ExcludeDispatchKeyGuard const draws(undrawn);
  return x.normal_(mean, deviation, std::move(generator));
}

Tensor& draw_uniform(Tensor& x,
                     double low,
                     double high,
                     c10::optional<torch::Generator> generator) {
  if (is_large_weight(x)) return x;
  c10::impl::ExcludeDispatchKeyGuard const draws(undrawn);
  return x.uniform_(low, high, std::move(generator));
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, library) {
  library.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericMode, library) {
  library.impl("normal_", &draw_normal);
  library.impl("uniform_", &draw_uniform);
}

/// A model of the suite, by name, which gtest can print. One test for everything, because it takes
/// longer to start a process with LibTorch than to run most models.
class EveryModel : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::set_num_threads(1); }

  static Model const& model() { return *find_model(GetParam()); }

  static bool has(suite::Test test) { return batch_of(model(), test, Scale::full) > 0; }

  static std::unique_ptr<Workload> make(suite::Test test, Scale scale, std::int64_t seed = 1337) {
    return make_workload(model().make, {test, scale, batch_of(model(), test, scale)}, seed);
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
  return workload.results().at(0).item<double>();
}

/// True when `parameter` may stay without a gradient.
bool is_excused(std::string_view model, std::string const& parameter) {
  return std::ranges::any_of(untrained_parameters, [&](Untrained const& each) {
    return each.model == model &&
           std::regex_match(parameter, std::regex(std::string(each.parameter)));
  });
}

bool draws(std::string_view model) {
  return std::ranges::find(drawing_models, model, &Drawing::model) != drawing_models.end();
}

void expect_gradients(std::string_view model, nn::Module const& network) {
  for (auto const& parameter : network.named_parameters()) {
    if (!parameter->requires_grad() || is_excused(model, parameter.key())) continue;
    ASSERT_TRUE(parameter->grad().defined()) << parameter.key();
    auto const gradient = values_of(parameter->grad());
    EXPECT_TRUE(torch::isfinite(gradient).all().item<bool>()) << parameter.key();
    EXPECT_GT(gradient.abs().max().item<double>(), 0) << parameter.key();
  }
}

TEST_P(EveryModel, HasThePublishedNumberOfParameters) {
  c10::impl::IncludeDispatchKeyGuard const leaves_large_weights(undrawn);
  std::int64_t count = 0;
  auto const test = has(suite::Test::train) ? suite::Test::train : suite::Test::eval;
  for (auto const& parameter : make(test, Scale::full)->network()->parameters())
    count += parameter.numel();

  EXPECT_EQ(count, model().parameters) << "the catalogue's number";
  auto const published = published_parameters.find(GetParam());
  if (published != published_parameters.end()) {
    EXPECT_EQ(count, published->second);
  }
}

TEST_P(EveryModel, TrainsEveryParameterAndLearnsItsBatch) {
  if (!has(suite::Test::train)) {
    EXPECT_EQ(model().smoke.train, 0);
    return;
  }
  auto const workload = make(suite::Test::train, Scale::smoke, 1);
  double const first_loss = loss_after(*workload, 1);
  expect_gradients(GetParam(), *workload->network());
  double const last_loss = loss_after(*workload, 9);
  EXPECT_LT(last_loss, first_loss);

  EXPECT_EQ(loss_after(*make(suite::Test::train, Scale::smoke, 1), 10), last_loss);
  EXPECT_NE(loss_after(*make(suite::Test::train, Scale::smoke, 2), 1), first_loss);
}

TEST_P(EveryModel, InfersTheSameAgainWithoutGradients) {
  if (!has(suite::Test::eval)) {
    EXPECT_EQ(model().smoke.eval, 0);
    return;
  }
  auto const workload = make(suite::Test::eval, Scale::smoke);

  workload->step();
  auto const first = workload->results();
  workload->step();
  auto const second = workload->results();

  bool const are_equal = std::ranges::equal(
      first, second, [](auto const& a, auto const& b) { return torch::equal(a, b); });
  EXPECT_NE(are_equal, draws(GetParam()));
  for (auto const& output : second) {
    EXPECT_TRUE(torch::isfinite(output).all().item<bool>());
    EXPECT_FALSE(output.requires_grad());
  }
  for (auto const& parameter : workload->network()->named_parameters())
    EXPECT_FALSE(parameter->grad().defined()) << parameter.key();
}

INSTANTIATE_TEST_SUITE_P(Suite, EveryModel, testing::ValuesIn(all_names()), [](auto const& name) {
  return name.param;
});

TEST(PublishedParameters, AreKnownOfAllOfThePaper) {
  EXPECT_EQ(published_parameters.size(), 84U);
  for (auto const& [name, count] : published_parameters)
    EXPECT_NE(find_entry(name), nullptr) << name;
}

TEST(Registry, FindsModelsByName) {
  auto const* const found = find_model("resnet18");
  ASSERT_NE(found, nullptr) << why_missing("resnet18");
  EXPECT_EQ(found->full.train, 16);
  EXPECT_EQ(found->task, "CLASSIFICATION");
  EXPECT_EQ(find_model("resnet"), nullptr);
}

TEST(ApplyGradients, MakesAutocastCastTheWeightsAgain) {
  nn::Linear layer(4, 4);
  torch::optim::SGD optimizer(layer->parameters(), 1.0);
  auto const x = torch::ones({2, 4});
  Autocast const autocast(torch::kCPU);
  auto const before = layer->forward(x);
  before.sum().backward();

  apply_gradients(optimizer);

  EXPECT_FALSE(layer->forward(x).equal(before))
      << "would be equal with the weights from before the step";
}

}  // namespace
}  // namespace torchwatch::suite
