// Residual networks for image classification, after torchvision.models.resnet; papers in
// blocks/resnet.h. Input: images [batch, 3, 224, 224], targets [batch, 1000]. Smoke: 64 x 64
// pixels, a quarter of the width and no more than one block a stage in the deep ones.
// resnet50_quantized_qat: see blocks/quantization.h. TorchBench infers with ranges of nothing seen
// and one picture of its batch; here a few pictures are seen and the whole batch is inferred. Its
// smoke has 32 x 32 pixels.

#include "runner/suite/blocks/resnet.h"

#include "runner/suite/blocks/quantization.h"
#include "runner/suite/classification.h"

namespace torchwatch::suite::resnet {
namespace {

ResNet network(Setup const& setup, ResNetOptions options) {
  options.width = setup.pick(64, 16);
  if (setup.scale == Scale::smoke && options.bottleneck) options.depths = {1, 1, 1, 1};
  return ResNet(options);
}

std::unique_ptr<Workload> make_resnet(Setup const& setup, ResNetOptions const& options) {
  return make_classifier(
      setup, {setup.pick(224, 64), 1000, Targets::soft}, network(setup, options));
}

}  // namespace

std::unique_ptr<Workload> make_resnet18(Setup const& setup) {
  ResNetOptions options;
  options.depths = {2, 2, 2, 2};
  options.bottleneck = false;
  return make_resnet(setup, options);
}

std::unique_ptr<Workload> make_resnet50(Setup const& setup) {
  return make_resnet(setup, {});
}

std::unique_ptr<Workload> make_resnet50_quantized_qat(Setup const& setup) {
  return make_quantized_classifier(setup, {setup.pick(224, 32)}, network(setup, {}));
}

std::unique_ptr<Workload> make_resnet152(Setup const& setup) {
  ResNetOptions options;
  options.depths = {3, 8, 36, 3};
  return make_resnet(setup, options);
}

std::unique_ptr<Workload> make_resnext50_32x4d(Setup const& setup) {
  ResNetOptions options;
  options.groups = 32;
  options.width_per_group = 4;
  if (setup.scale == Scale::smoke) options.groups = 8;
  return make_resnet(setup, options);
}

}  // namespace torchwatch::suite::resnet
