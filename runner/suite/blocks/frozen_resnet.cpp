#include "runner/suite/blocks/frozen_resnet.h"

#include <string>

#include "runner/suite/blocks/objects.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

Tensor draw_sample_scenes(FrozenOptions const& options) {
  Setup setup;
  setup.batch = 2;
  return (draw_scenes(setup, {128, 128}) - 0.5) * options.pixel_range;
}

void damp_residuals(nn::Module const& network) {
  std::string const suffix = "bn3.weight";
  for (auto& buffer : network.named_buffers()) {
    auto const& name = buffer.key();
    if (name.size() >= suffix.size() && name.substr(name.size() - suffix.size()) == suffix)
      buffer.value().fill_(0.2);
  }
}

void observe(nn::Module const& network, bool observes) {
  for (auto const& module : network.modules()) {
    if (auto* norm = module->as<FrozenBatchNorm>()) norm->observe(observes);
  }
}

}  // namespace

ResNet make_frozen_resnet(FrozenOptions options) {
  options.resnet.classes = 0;
  options.resnet.norm = frozen_batch_norm;
  ResNet network(options.resnet);
  damp_residuals(*network);
  {
    torch::NoGradGuard const no_gradients;
    observe(*network, true);
    network->features(draw_sample_scenes(options));
    observe(*network, false);
  }
  if (options.stages >= 0) network->freeze(static_cast<std::size_t>(options.stages));
  return network;
}

nn::Sequential make_frozen_stage(FrozenOptions options, ResNet body, std::int64_t depth) {
  options.resnet.norm = frozen_batch_norm;
  auto stage = make_next_stage(options.resnet, depth);
  damp_residuals(*stage);
  torch::NoGradGuard const no_gradients;
  auto const features = body->features(draw_sample_scenes(options)).back();
  observe(*stage, true);
  stage->forward(features);
  observe(*stage, false);
  return stage;
}

}  // namespace torchwatch::suite
