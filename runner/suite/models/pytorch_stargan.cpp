// StarGAN: Choi et al., 2017 (arXiv 1711.09020), after yunjey/stargan as TorchBench runs it on
// CelebA with five attributes. Train: the discriminator by Wasserstein loss with gradient penalty
// (through a second derivative) and classification of real images, then the generator by
// adversarial, classification and reconstruction losses, Adam for both. Eval: the generator. Input:
// images [16, 3, 128, 128], attributes [16, 5]. Smoke: 32 x 32 pixels, an eighth of the channels,
// one residual block, a discriminator of four convolutions. Upstream trains the generator in every
// fifth step, and TorchBench measures the first alone; here every step trains both.

#include <utility>
#include <vector>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/blocks/translation.h"
#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::pytorch_stargan {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t attributes = 5;
constexpr double reconstruction_weight = 10;
constexpr double penalty_weight = 10;

struct Sizes {
  std::int64_t side, width, blocks, halvings;
};

nn::AnyModule tracked_norm(std::int64_t channels) {
  return nn::AnyModule(nn::InstanceNorm2d(
      nn::InstanceNorm2dOptions(channels).affine(true).track_running_stats(true)));
}

struct Window {
  std::int64_t side, stride, padding;
};

nn::Conv2d make_convolution(std::int64_t in,
                            std::int64_t out,
                            Window const& window,
                            bool bias = false) {
  auto options = nn::Conv2dOptions(in, out, window.side).stride(window.stride);
  return nn::Conv2d(options.padding(window.padding).bias(bias));
}

class ResidualImpl : public nn::Module {
 public:
  explicit ResidualImpl(std::int64_t channels)
      : layers_(register_module("main", nn::Sequential())) {
    append_unit(layers_, make_convolution(channels, channels, {3, 1, 1}), tracked_norm);
    layers_->push_back(make_convolution(channels, channels, {3, 1, 1}));
    layers_->push_back(tracked_norm(channels));
  }

  Tensor forward(Tensor const& x) { return x + layers_->forward(x); }

 private:
  nn::Sequential layers_;
};

TORCH_MODULE(Residual);

/// Gives the faces wanted attributes.
class GeneratorImpl : public nn::Module {
 public:
  explicit GeneratorImpl(Sizes const& sizes) : layers_(register_module("main", nn::Sequential())) {
    auto width = sizes.width;
    append_unit(layers_, make_convolution(3 + attributes, width, {7, 1, 3}), tracked_norm);
    for (; width < 4 * sizes.width; width *= 2)
      append_unit(layers_, make_convolution(width, 2 * width, {4, 2, 1}), tracked_norm);
    for (std::int64_t i = 0; i < sizes.blocks; ++i)
      layers_->push_back(Residual(width));
    for (; width > sizes.width; width /= 2) {
      auto options = nn::ConvTranspose2dOptions(width, width / 2, 4).stride(2).padding(1);
      append_unit(layers_, nn::ConvTranspose2d(options.bias(false)), tracked_norm);
    }
    layers_->push_back(make_convolution(width, 3, {7, 1, 3}));
    layers_->push_back(nn::Tanh());
  }

  Tensor forward(Tensor const& images, Tensor const& wanted) {
    auto const everywhere =
        wanted.view({-1, attributes, 1, 1}).repeat({1, 1, images.size(2), images.size(3)});
    return layers_->forward(torch::cat({images, everywhere}, 1));
  }

 private:
  nn::Sequential layers_;
};

TORCH_MODULE(Generator);

struct Verdict {
  Tensor real;        ///< score of each patch, [batch, 1, 2, 2]
  Tensor attributes;  ///< logits, [batch, attributes]
};

class DiscriminatorImpl : public nn::Module {
 public:
  explicit DiscriminatorImpl(Sizes const& sizes)
      : layers_(register_module("main", nn::Sequential())) {
    auto const leaky = nn::LeakyReLUOptions().negative_slope(0.01);
    std::int64_t in = 3;
    auto out = sizes.width;
    for (std::int64_t i = 0; i < sizes.halvings; ++i) {
      layers_->push_back(make_convolution(in, out, {4, 2, 1}, true));
      layers_->push_back(nn::LeakyReLU(leaky));
      in = std::exchange(out, 2 * out);
    }
    real_ = register_module("conv1", make_convolution(in, 1, {3, 1, 1}));
    attributes_ = register_module(
        "conv2", make_convolution(in, attributes, {sizes.side >> sizes.halvings, 1, 0}));
  }

  Verdict forward(Tensor const& images) {
    auto const x = layers_->forward(images);
    return {real_(x), attributes_(x).view({images.size(0), attributes})};
  }

 private:
  nn::Sequential layers_;
  nn::Conv2d real_{nullptr}, attributes_{nullptr};
};

TORCH_MODULE(Discriminator);

struct Faces {
  Tensor images, attributes;
};

Faces make_faces(Setup const& setup, Sizes const& sizes) {
  auto const images = draw_pictures(setup.batch, 3, sizes.side, sizes.side) * 2 - 1;
  return {setup.place(images),
          setup.place(torch::randint(2, {setup.batch, attributes}).to(torch::kFloat))};
}

Tensor classification_loss(Tensor const& logits, Tensor const& truth) {
  auto const sum =
      torch::binary_cross_entropy_with_logits(logits, truth, {}, {}, at::Reduction::Sum);
  return sum / logits.size(0);
}

class StarGanTraining final : public Workload {
 public:
  StarGanTraining(Setup const& setup, Sizes const& sizes, Generator generator, Faces faces)
      : generator_(std::move(generator)),
        discriminator_(sizes),
        faces_(std::move(faces)),
        generator_optimizer_(generator_->parameters(), options()),
        discriminator_optimizer_(discriminator_->parameters(), options()) {
    setup.place(*discriminator_);
  }

  void step() override {
    auto const order = torch::randperm(faces_.images.size(0), torch::kLong);
    auto const wanted = faces_.attributes.index({order.to(faces_.images.device())});
    update_discriminator(wanted);
    update_generator(wanted);
  }

  /// The discriminator's loss.
  std::vector<Tensor> results() const override { return {loss_}; }

  std::shared_ptr<nn::Module> network() const override {
    return join({{"generator", generator_.ptr()}, {"discriminator", discriminator_.ptr()}});
  }

 private:
  static torch::optim::AdamOptions options() {
    return torch::optim::AdamOptions(1e-4).betas({0.5, 0.999});
  }

  void zero_gradients() {
    generator_optimizer_.zero_grad();
    discriminator_optimizer_.zero_grad();
  }

  void update_discriminator(Tensor const& wanted) {
    auto const real = discriminator_(faces_.images);
    auto const made = generator_(faces_.images, wanted).detach();
    auto const classes = classification_loss(real.attributes, faces_.attributes);
    auto const distance = -real.real.mean() + discriminator_(made).real.mean();
    auto const loss = distance + classes + penalty_weight * gradient_penalty(made);
    zero_gradients();
    loss.backward();
    apply_gradients(discriminator_optimizer_);
    loss_ = loss.detach();
  }

  /// The mean squared distance from 1 of the slope of the verdict, at random points between real
  /// and made images.
  Tensor gradient_penalty(Tensor const& made) {
    auto const share = torch::rand({made.size(0), 1, 1, 1}, made.options());
    auto const between = (share * faces_.images + torch::rsub(share, 1) * made).requires_grad_();
    auto const real = discriminator_(between).real;
    auto const weight = torch::ones(real.sizes(), real.options());
    auto const slope = torch::autograd::grad({real}, {between}, {weight}, true, true)[0];
    auto const length = slope.view({slope.size(0), -1}).pow(2).sum(1).sqrt();
    return (length - 1).pow(2).mean();
  }

  void update_generator(Tensor const& wanted) {
    auto const made = generator_(faces_.images, wanted);
    auto const verdict = discriminator_(made);
    auto const again = generator_(made, faces_.attributes);
    auto const loss = -verdict.real.mean() +
                      reconstruction_weight * (faces_.images - again).abs().mean() +
                      classification_loss(verdict.attributes, wanted);
    zero_gradients();
    loss.backward();
    apply_gradients(generator_optimizer_);
  }

  Generator generator_;
  Discriminator discriminator_;
  Faces faces_;
  torch::optim::Adam generator_optimizer_;
  torch::optim::Adam discriminator_optimizer_;
  Tensor loss_;
};

}  // namespace

std::unique_ptr<Workload> make_pytorch_stargan(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{128, 64, 6, 6}, Sizes{32, 8, 1, 4});
  Generator generator(sizes);
  setup.place(*generator);
  auto faces = make_faces(setup, sizes);
  if (setup.test == Test::train)
    return std::make_unique<StarGanTraining>(setup, sizes, std::move(generator), std::move(faces));

  Supervised parts;
  parts.network = generator.ptr();
  parts.forward = [generator, faces]() mutable {
    return std::vector<Tensor>{generator(faces.images, faces.attributes)};
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::pytorch_stargan
