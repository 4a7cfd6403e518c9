// CycleGAN: Zhu et al., 2017 (arXiv 1703.10593), after junyanz/pytorch-CycleGAN-and-pix2pix as
// TorchBench runs it on horse2zebra. Train: two generators of nine residual blocks by adversarial
// (least squares), cycle and identity losses, then two patch discriminators with pools of 50
// earlier images; Adam for the pairs. Eval: one generator. Input: one image of each kind, [1, 3,
// 256, 256]. Smoke: 32 x 32 pixels, an eighth of the channels, one residual block. Upstream's
// image folders, schedules and pictures on a web page stay out.

#include <utility>
#include <vector>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/blocks/translation.h"
#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::pytorch_CycleGAN_and_pix2pix {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr double cycle_weight = 10;
constexpr double identity_weight = 0.5 * cycle_weight;

struct Sizes {
  std::int64_t side, width, blocks;
};

void initialise(nn::Module& network) {
  auto const draw = [](auto const& conv) {
    nn::init::normal_(conv.weight, 0, 0.02);
    nn::init::zeros_(conv.bias);
  };
  for (auto const& module : network.modules(false)) {
    if (auto const* conv = module->as<nn::Conv2d>()) draw(*conv);
    if (auto const* conv = module->as<nn::ConvTranspose2d>()) draw(*conv);
  }
}

/// [batch, 3, side, side] -> the same.
nn::Sequential make_generator(Setup const& setup, Sizes const& sizes) {
  nn::Sequential layers;
  append_encoder(layers, 3, sizes.width, 2, instance_norm);
  for (std::int64_t i = 0; i < sizes.blocks; ++i)
    layers->push_back(MirroredBlock(4 * sizes.width, instance_norm));
  for (auto const in : {4 * sizes.width, 2 * sizes.width}) {
    auto options = nn::ConvTranspose2dOptions(in, in / 2, 3).stride(2).padding(1);
    append_unit(layers, nn::ConvTranspose2d(options.output_padding(1)), instance_norm);
  }
  append_mirrored(layers, sizes.width, 3);
  layers->push_back(nn::Tanh());
  initialise(*layers);
  setup.place(*layers);
  return layers;
}

nn::Sequential make_discriminator(Setup const& setup, Sizes const& sizes) {
  auto layers = make_patch_discriminator(sizes.width, 1);
  initialise(*layers);
  setup.place(*layers);
  return layers;
}

Tensor make_image(Setup const& setup, Sizes const& sizes) {
  return setup.place(draw_pictures(setup.batch, 3, sizes.side, sizes.side) * 2 - 1);
}

/// Two networks, one for each direction.
struct Pair {
  nn::Sequential first, second;

  std::vector<Tensor> parameters() const {
    auto all = first->parameters();
    auto const more = second->parameters();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

/// Images made before: gives one of them for half of the new ones, which it keeps. It begins as it
/// is after fifty images, full, so that no iteration needs more memory than the one before.
class ImagePool {
 public:
  explicit ImagePool(Tensor const& image) {
    for (std::int64_t i = 0; i < capacity; ++i)
      kept_.push_back(torch::rand_like(image) * 2 - 1);
  }

  Tensor exchange(Tensor const& images) {
    std::vector<Tensor> given;
    for (auto const& each : images.unbind()) {
      auto const image = each.unsqueeze(0);
      if (torch::rand(1).item<double>() > 0.5) {
        auto const place = torch::randint(capacity, {1}, torch::kLong).item<std::int64_t>();
        auto& kept = kept_[static_cast<std::size_t>(place)];
        given.push_back(kept.clone());
        kept = image;
      } else {
        given.push_back(image);
      }
    }
    return torch::cat(given);
  }

 private:
  static constexpr std::int64_t capacity = 50;
  std::vector<Tensor> kept_;
};

/// Least squares: how far the verdicts are from `truth`, a scalar.
Tensor adversarial_loss(Tensor const& verdicts, Tensor const& truth) {
  return torch::mse_loss(verdicts, truth.expand_as(verdicts));
}

class CycleGanTraining final : public Workload {
 public:
  CycleGanTraining(Setup const& setup, Sizes const& sizes)
      : generators_{make_generator(setup, sizes), make_generator(setup, sizes)},
        discriminators_{make_discriminator(setup, sizes), make_discriminator(setup, sizes)},
        horse_(make_image(setup, sizes)),
        zebra_(make_image(setup, sizes)),
        real_(setup.place(torch::tensor(1.0F))),
        made_(setup.place(torch::tensor(0.0F))),
        horse_pool_(horse_),
        zebra_pool_(zebra_),
        generator_optimizer_(generators_.parameters(), options()),
        discriminator_optimizer_(discriminators_.parameters(), options()) {}

  void step() override {
    auto const zebra = generators_.first->forward(horse_);
    auto const horse = generators_.second->forward(zebra_);
    update_generators(zebra, horse);
    update_discriminators(zebra_pool_.exchange(zebra.detach()),
                          horse_pool_.exchange(horse.detach()));
  }

  /// The generators' loss.
  std::vector<Tensor> results() const override { return {loss_}; }

  std::shared_ptr<nn::Module> network() const override {
    return join({{"G_A", generators_.first.ptr()},
                 {"G_B", generators_.second.ptr()},
                 {"D_A", discriminators_.first.ptr()},
                 {"D_B", discriminators_.second.ptr()}});
  }

 private:
  static torch::optim::AdamOptions options() {
    return torch::optim::AdamOptions(2e-4).betas({0.5, 0.999});
  }

  void freeze_discriminators(bool frozen) {
    for (auto& parameter : discriminators_.parameters())
      parameter.requires_grad_(!frozen);
  }

  void update_generators(Tensor const& zebra, Tensor const& horse) {
    auto const horse_again = generators_.second->forward(zebra);
    auto const zebra_again = generators_.first->forward(horse);
    freeze_discriminators(true);
    generator_optimizer_.zero_grad();
    auto const same = torch::l1_loss(generators_.first->forward(zebra_), zebra_) +
                      torch::l1_loss(generators_.second->forward(horse_), horse_);
    auto const deceit = adversarial_loss(discriminators_.first->forward(zebra), real_) +
                        adversarial_loss(discriminators_.second->forward(horse), real_);
    auto const cycle = torch::l1_loss(horse_again, horse_) + torch::l1_loss(zebra_again, zebra_);
    auto const loss = deceit + cycle_weight * cycle + identity_weight * same;
    loss.backward();
    apply_gradients(generator_optimizer_);
    loss_ = loss.detach();
  }

  void update_discriminators(Tensor const& zebra, Tensor const& horse) {
    freeze_discriminators(false);
    discriminator_optimizer_.zero_grad();
    judge(discriminators_.first, zebra_, zebra);
    judge(discriminators_.second, horse_, horse);
    apply_gradients(discriminator_optimizer_);
  }

  void judge(nn::Sequential& discriminator, Tensor const& real, Tensor const& made) const {
    auto const loss = adversarial_loss(discriminator->forward(real), real_) +
                      adversarial_loss(discriminator->forward(made), made_);
    (0.5 * loss).backward();
  }

  Pair generators_;
  Pair discriminators_;
  Tensor horse_, zebra_;
  Tensor real_, made_;  ///< the verdicts to aim at
  ImagePool horse_pool_, zebra_pool_;
  torch::optim::Adam generator_optimizer_;
  torch::optim::Adam discriminator_optimizer_;
  Tensor loss_;
};

}  // namespace

std::unique_ptr<Workload> make_pytorch_CycleGAN_and_pix2pix(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{256, 64, 9}, Sizes{32, 8, 1});
  if (setup.test == Test::train) return std::make_unique<CycleGanTraining>(setup, sizes);

  auto generator = make_generator(setup, sizes);
  auto const images = make_image(setup, sizes);
  Supervised parts;
  parts.network = generator.ptr();
  parts.forward = [generator, images]() mutable {
    return std::vector<Tensor>{generator->forward(images)};
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::pytorch_CycleGAN_and_pix2pix
