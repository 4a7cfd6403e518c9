// Deep convolutional GAN: Radford et al., 2015 (arXiv 1511.06434), after pytorch/examples/dcgan as
// TorchBench runs it. Train: discriminator on a real and a fake batch, then generator, Adam for
// both. Eval: the discriminator alone. Input: images [batch, 3, 64, 64], noise [batch, 100, 1, 1].
// Smoke: an eighth of the channels.

#include <utility>
#include <vector>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::dcgan {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t noise_width = 100;

nn::ConvTranspose2d grow(std::int64_t in,
                         std::int64_t out,
                         std::int64_t stride,
                         std::int64_t padding) {
  return nn::ConvTranspose2d(
      nn::ConvTranspose2dOptions(in, out, 4).stride(stride).padding(padding).bias(false));
}

nn::Conv2d shrink(std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t padding) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 4).stride(stride).padding(padding).bias(false));
}

void initialise(nn::Module& network) {
  for (auto const& module : network.modules(false)) {
    if (auto const* conv = module->as<nn::Conv2d>()) nn::init::normal_(conv->weight, 0, 0.02);
    if (auto const* conv = module->as<nn::ConvTranspose2d>())
      nn::init::normal_(conv->weight, 0, 0.02);
    if (auto const* norm = module->as<nn::BatchNorm2d>()) nn::init::normal_(norm->weight, 1, 0.02);
  }
}

/// [batch, 100, 1, 1] -> [batch, 3, 64, 64]
nn::Sequential make_generator(std::int64_t width) {
  nn::Sequential layers;
  std::int64_t in = noise_width;
  for (std::int64_t const out : {8 * width, 4 * width, 2 * width, width}) {
    bool const first = in == noise_width;
    layers->push_back(grow(in, out, first ? 1 : 2, first ? 0 : 1));
    layers->push_back(nn::BatchNorm2d(out));
    layers->push_back(nn::ReLU(nn::ReLUOptions(true)));
    in = out;
  }
  layers->push_back(grow(in, 3, 2, 1));
  layers->push_back(nn::Tanh());
  initialise(*layers);
  return layers;
}

/// [batch, 3, 64, 64] -> [batch, 1, 1, 1]: the probability that each image is real.
nn::Sequential make_discriminator(std::int64_t width) {
  auto const leaky = nn::LeakyReLUOptions().negative_slope(0.2).inplace(true);
  nn::Sequential layers(shrink(3, width, 2, 1), nn::LeakyReLU(leaky));
  for (std::int64_t in = width; in < 8 * width; in *= 2) {
    layers->push_back(shrink(in, 2 * in, 2, 1));
    layers->push_back(nn::BatchNorm2d(2 * in));
    layers->push_back(nn::LeakyReLU(leaky));
  }
  layers->push_back(shrink(8 * width, 1, 1, 0));
  layers->push_back(nn::Sigmoid());
  initialise(*layers);
  return layers;
}

class GanTraining final : public Workload {
 public:
  GanTraining(Setup const& setup, std::int64_t width, nn::Sequential discriminator, Tensor images)
      : discriminator_(std::move(discriminator)),
        generator_(make_generator(width)),
        images_(std::move(images)),
        noise_(setup.place(torch::randn({setup.batch, noise_width, 1, 1}))),
        discriminator_optimizer_(discriminator_->parameters(), options()),
        generator_optimizer_(generator_->parameters(), options()) {
    setup.place(*generator_);
  }

  void step() override {
    discriminator_optimizer_.zero_grad();
    auto truth = torch::full({images_.size(0)}, 1.0, images_.options());
    loss_of(images_, truth).backward();
    auto const made = generator_->forward(noise_);
    truth.fill_(0);
    loss_of(made.detach(), truth).backward();
    apply_gradients(discriminator_optimizer_);

    generator_optimizer_.zero_grad();
    truth.fill_(1);
    auto const loss = loss_of(made, truth);
    loss.backward();
    apply_gradients(generator_optimizer_);
    loss_ = loss.detach();
  }

  /// The generator's loss.
  std::vector<Tensor> results() const override { return {loss_}; }

  std::shared_ptr<nn::Module> network() const override {
    return join({{"discriminator", discriminator_.ptr()}, {"generator", generator_.ptr()}});
  }

 private:
  static torch::optim::AdamOptions options() {
    return torch::optim::AdamOptions(2e-4).betas({0.5, 0.999});
  }

  Tensor loss_of(Tensor const& images, Tensor const& truth) {
    return torch::binary_cross_entropy(discriminator_->forward(images).view(-1), truth);
  }

  nn::Sequential discriminator_;
  nn::Sequential generator_;
  Tensor images_, noise_;
  torch::optim::Adam discriminator_optimizer_;
  torch::optim::Adam generator_optimizer_;
  Tensor loss_;
};

}  // namespace

std::unique_ptr<Workload> make_dcgan(Setup const& setup) {
  auto const width = setup.pick(64, 8);
  auto discriminator = make_discriminator(width);
  setup.place(*discriminator);
  auto images = setup.place(torch::randn({setup.batch, 3, 64, 64}));
  if (setup.test == Test::train)
    return std::make_unique<GanTraining>(setup, width, std::move(discriminator), std::move(images));

  Supervised parts;
  parts.network = discriminator.ptr();
  parts.forward = [discriminator, images]() mutable {
    return std::vector<Tensor>{discriminator->forward(images).view(-1)};
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::dcgan
