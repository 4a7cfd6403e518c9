// Background Matting: Sengupta et al., 2020 (arXiv 2004.00626), after
// senguptaumd/Background-Matting as TorchBench trains it on real video: a generator that finds
// matte and foreground from a picture, its background, a rough segmentation and four grey frames.
// Train: the generator by what a frozen supervisor says, by composition and by a least squares
// adversarial loss, then the patch discriminator, Adam for both. Eval: the generator. Input: [4, 3
// or 1 or 4, 512, 512]. Smoke: 64 x 64 pixels, an eighth of the channels, three residual blocks of
// thirteen. As upstream, the frames' features go nowhere and the adversarial loss stops at the
// composite. Upstream trains the discriminator in every fifth step; here in every one, so that all
// are alike.

#include <numbers>
#include <utility>
#include <vector>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/blocks/translation.h"
#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::Background_Matting {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr std::int64_t frames = 4;

struct Sizes {
  std::int64_t side, width, shared_blocks, own_blocks;
};

nn::Sequential make_encoder(std::int64_t in, std::int64_t width, std::int64_t halvings) {
  nn::Sequential layers;
  append_encoder(layers, in, width, halvings, batch_norm);
  return layers;
}

/// A 1 x 1 convolution.
nn::Sequential make_combiner(std::int64_t in, std::int64_t out) {
  nn::Sequential layers;
  append_unit(layers, nn::Conv2d(nn::Conv2dOptions(in, out, 1).bias(false)), batch_norm);
  return layers;
}

void append_blocks(nn::Sequential& layers, std::int64_t channels, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    layers->push_back(MirroredBlock(channels, batch_norm));
}

nn::Sequential make_blocks(std::int64_t channels, std::int64_t count) {
  nn::Sequential layers;
  append_blocks(layers, channels, count);
  return layers;
}

Tensor enlarge(Tensor const& x) {
  return torch::upsample_bilinear2d(x, c10::nullopt, true, std::vector<double>{2, 2});
}

/// Doubles the picture.
void append_enlarging(nn::Sequential& layers, std::int64_t in, std::int64_t out) {
  layers->push_back(nn::Functional(enlarge));
  append_unit(layers, nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)), batch_norm);
}

struct Scene {
  Tensor image, background, segmentation;
  Tensor motion;  ///< four grey frames
};

struct Matte {
  Tensor alpha;       ///< [batch, 1, side, side], in (-1, 1)
  Tensor foreground;  ///< [batch, 3, side, side]
};

class GeneratorImpl : public nn::Module {
 public:
  explicit GeneratorImpl(Sizes const& sizes)
      : image_fine_(add("model_enc1", make_encoder(3, sizes.width, 1))),
        image_(add("model_enc2", nn::Sequential())),
        background_(add("model_enc_back", make_encoder(3, sizes.width, 2))),
        segmentation_(add("model_enc_seg", make_encoder(1, sizes.width, 2))),
        motion_(add("model_enc_multi", make_encoder(frames, sizes.width, 2))),
        with_background_(add("comb_back", make_combiner(8 * sizes.width, sizes.width))),
        with_segmentation_(add("comb_seg", make_combiner(8 * sizes.width, sizes.width))),
        with_motion_(add("comb_multi", make_combiner(8 * sizes.width, sizes.width))),
        shared_(add("model_res_dec", make_combiner(7 * sizes.width, 4 * sizes.width))),
        alpha_blocks_(add("model_res_dec_al", make_blocks(4 * sizes.width, sizes.own_blocks))),
        foreground_blocks_(add("model_res_dec_fg", make_blocks(4 * sizes.width, sizes.own_blocks))),
        alpha_(add("model_al_out", nn::Sequential())),
        foreground_coarse_(add("model_dec_fg1", nn::Sequential())),
        foreground_(add("model_fg_out", nn::Sequential())) {
    auto const width = sizes.width;
    append_unit(image_, make_halving(2 * width), batch_norm);
    append_blocks(shared_, 4 * width, sizes.shared_blocks);
    append_enlarging(alpha_, 4 * width, 2 * width);
    append_enlarging(alpha_, 2 * width, width);
    append_mirrored(alpha_, width, 1);
    alpha_->push_back(nn::Tanh());
    append_enlarging(foreground_coarse_, 4 * width, 2 * width);
    append_enlarging(foreground_, 4 * width, width);
    append_mirrored(foreground_, width, 3);
  }

  Matte forward(Scene const& scene) {
    auto const fine = image_fine_->forward(scene.image);
    auto const image = image_->forward(fine);
    auto const background = background_->forward(scene.background);
    auto const segmentation = segmentation_->forward(scene.segmentation);
    motion_->forward(scene.motion);

    auto const beside_background = torch::cat({image, background}, 1);
    auto const beside_segmentation = torch::cat({image, segmentation}, 1);
    auto const shared =
        shared_->forward(torch::cat({image,
                                     with_background_->forward(beside_background),
                                     with_segmentation_->forward(beside_segmentation),
                                     with_motion_->forward(beside_background)},
                                    1));
    auto const coarse = foreground_coarse_->forward(foreground_blocks_->forward(shared));
    return {alpha_->forward(alpha_blocks_->forward(shared)),
            foreground_->forward(torch::cat({coarse, fine}, 1))};
  }

 private:
  nn::Sequential add(char const* name, nn::Sequential layers) {
    return register_module(name, std::move(layers));
  }

  nn::Sequential image_fine_, image_, background_, segmentation_, motion_;
  nn::Sequential with_background_, with_segmentation_, with_motion_;
  nn::Sequential shared_, alpha_blocks_, foreground_blocks_;
  nn::Sequential alpha_, foreground_coarse_, foreground_;
};

TORCH_MODULE(Generator);

void initialise(nn::Module& network) {
  for (auto const& module : network.modules(false)) {
    if (auto const* conv = module->as<nn::Conv2d>()) {
      nn::init::xavier_uniform_(conv->weight, std::numbers::sqrt2);
      if (conv->bias.defined()) nn::init::zeros_(conv->bias);
    }
    if (auto const* norm = module->as<nn::BatchNorm2d>()) nn::init::normal_(norm->weight, 1, 0.2);
  }
}

/// Makes a scene whose segmentation has one person in the middle.
Scene make_scene(Setup const& setup, Sizes const& sizes) {
  auto const draw = [&](std::int64_t channels) {
    return setup.place(draw_pictures(setup.batch, channels, sizes.side, sizes.side) * 2 - 1);
  };
  Scene scene{draw(3), draw(3), {}, draw(frames)};
  auto segmentation = torch::full({setup.batch, 1, sizes.side, sizes.side}, -1.0);
  auto const middle = Slice(sizes.side * 3 / 8, sizes.side * 5 / 8);
  segmentation.index_put_({Slice(), Slice(), middle, middle}, 1.0);
  scene.segmentation = setup.place(segmentation);
  return scene;
}

/// Mean over the images of the distance where `mask` is 1, per pixel of the mask.
Tensor masked_distance(Tensor const& a, Tensor const& b, Tensor const& mask) {
  auto sum = torch::zeros({}, mask.options().dtype(torch::kFloat));
  for (std::int64_t i = 0; i < a.size(0); ++i) {
    auto const size = mask[i].sum(torch::kFloat);
    if (!torch::gt(size, 0).is_nonzero()) continue;
    auto const distance = (a[i] * mask[i] - b[i] * mask[i]).abs().sum(torch::kFloat);
    sum = sum + distance / (size + 1e-6);
  }
  return sum / a.size(0);
}

/// Over the background: the foreground as far as the matte says.
Tensor compose(Tensor const& alpha, Tensor const& foreground, Tensor const& background) {
  auto const share = (alpha + 1) / 2;
  return foreground * share + torch::rsub(share, 1) * background;
}

/// To the right; what leaves on one side comes back on the other.
Tensor shift_columns(Tensor const& picture, std::int64_t count) {
  return torch::cat({picture.slice(2, -count), picture.slice(2, 0, -count)}, 2);
}

/// The same after a random step to the side that leaves what is segmented in the picture.
Tensor compose_shifted(Matte const& matte, Tensor const& background, Tensor const& segmentation) {
  constexpr std::int64_t margin = 10;
  auto const columns = ((segmentation + 1) / 2 > 0.1).any(2).squeeze(1).cpu();
  auto composites = torch::zeros(matte.foreground.sizes(), matte.foreground.options());
  for (std::int64_t i = 0; i < columns.size(0); ++i) {
    auto const inside = columns[i].nonzero();
    auto const first = inside.min().item<std::int64_t>();
    auto const last = inside.max().item<std::int64_t>();
    auto const shift =
        torch::randint(margin - first, columns.size(1) - last - margin, {1}, torch::kLong)
            .item<std::int64_t>();
    composites[i].copy_(compose(shift_columns(matte.alpha[i], shift),
                                shift_columns(matte.foreground[i], shift),
                                background[i]));
  }
  return composites;
}

/// Least squares: how far the verdicts are from 1 for real and 0 for composed pictures.
Tensor adversarial_loss(Tensor const& verdicts, bool real) {
  auto const truth = real ? torch::ones(verdicts.sizes(), verdicts.options())
                          : torch::zeros(verdicts.sizes(), verdicts.options());
  return torch::mse_loss(verdicts, truth);
}

class MattingTraining final : public Workload {
 public:
  MattingTraining(Setup const& setup, Sizes const& sizes, Generator generator, Scene scene)
      : generator_(std::move(generator)),
        supervisor_(sizes),
        discriminator_(make_patch_discriminator(sizes.width, 2)),
        scene_(std::move(scene)),
        other_background_(
            setup.place(draw_pictures(setup.batch, 3, sizes.side, sizes.side) * 2 - 1)),
        everywhere_(torch::ones_like(scene_.segmentation)),
        slopes_(setup.place(
            torch::tensor({{1.0, 0.0, -1.0}, {2.0, 0.0, -2.0}, {1.0, 0.0, -1.0}}, torch::kFloat)
                .view({1, 1, 3, 3}))),
        generator_optimizer_(generator_->parameters(), torch::optim::AdamOptions(1e-4)),
        discriminator_optimizer_(discriminator_->parameters(), torch::optim::AdamOptions(1e-5)) {
    initialise(*discriminator_);
    setup.place(*discriminator_);
    setup.place(*supervisor_);
    supervisor_->eval();
    for (auto& parameter : supervisor_->parameters())
      parameter.requires_grad_(false);
  }

  void step() override {
    auto const wanted = supervisor_(scene_);
    auto const matte = generator_(scene_);
    auto const composite = compose_elsewhere(matte);
    generator_optimizer_.zero_grad();
    auto const loss = 0.05 * supervised_loss(wanted, matte);
    (adversarial_loss(discriminator_->forward(composite), true) + loss).backward();
    apply_gradients(generator_optimizer_);
    loss_ = loss.detach();
    update_discriminator(composite);
  }

  /// The generator's loss as far as it trains the generator.
  std::vector<Tensor> results() const override { return {loss_}; }

  std::shared_ptr<nn::Module> network() const override {
    return join({{"generator", generator_.ptr()},
                 {"discriminator", discriminator_.ptr()},
                 {"supervisor", supervisor_.ptr()}});
  }

 private:
  /// Matte and foreground like the supervisor's, and together the picture.
  Tensor supervised_loss(Matte const& wanted, Matte const& matte) {
    auto const type = matte.alpha.scalar_type();
    auto const something = (wanted.alpha > -0.98).to(type);
    auto const certain = (scene_.segmentation > 0.95).to(type);
    auto const alpha = masked_distance(wanted.alpha, matte.alpha, everywhere_) +
                       0.5 * slope_distance(wanted.alpha, matte.alpha);
    auto const foreground = masked_distance(wanted.foreground, matte.foreground, something);
    auto const same = compose(matte.alpha, matte.foreground, scene_.background);
    return masked_distance(scene_.image, same, certain) + alpha + foreground;
  }

  /// The distance between two mattes' Sobel gradients.
  Tensor slope_distance(Tensor const& wanted, Tensor const& alpha) {
    Tensor sum;
    for (auto const& filter : {slopes_, slopes_.transpose(2, 3)}) {
      auto const distance = masked_distance(torch::conv2d(wanted, filter, {}, 1, 1),
                                            torch::conv2d(alpha, filter, {}, 1, 1),
                                            everywhere_);
      sum = sum.defined() ? sum + distance : distance;
    }
    return sum;
  }

  /// Over backgrounds from elsewhere or of the batch's other pictures; no part of the graph.
  Tensor compose_elsewhere(Matte const& matte) {
    auto const order = torch::randperm(scene_.background.size(0), torch::kLong);
    auto background = scene_.background.index({order.to(scene_.background.device())});
    if (torch::rand(1).item<double>() > 0.5) background = other_background_;
    auto const opaque = (matte.alpha > 0.95).to(matte.alpha.scalar_type());
    auto const foreground = scene_.image * opaque + matte.foreground * torch::rsub(opaque, 1);
    return compose_shifted({matte.alpha, foreground}, background, scene_.segmentation).detach();
  }

  void update_discriminator(Tensor const& composite) {
    auto const loss = adversarial_loss(discriminator_->forward(composite), false) +
                      adversarial_loss(discriminator_->forward(scene_.image), true);
    discriminator_optimizer_.zero_grad();
    (0.5 * loss).backward();
    apply_gradients(discriminator_optimizer_);
  }

  Generator generator_, supervisor_;
  nn::Sequential discriminator_;
  Scene scene_;
  Tensor other_background_, everywhere_, slopes_;
  torch::optim::Adam generator_optimizer_;
  torch::optim::Adam discriminator_optimizer_;
  Tensor loss_;
};

}  // namespace

std::unique_ptr<Workload> make_Background_Matting(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{512, 64, 7, 3}, Sizes{64, 8, 1, 1});
  Generator generator(sizes);
  initialise(*generator);
  setup.place(*generator);
  auto scene = make_scene(setup, sizes);
  if (setup.test == Test::train)
    return std::make_unique<MattingTraining>(setup, sizes, std::move(generator), std::move(scene));

  Supervised parts;
  parts.network = generator.ptr();
  parts.forward = [generator, scene]() mutable {
    auto const matte = generator(scene);
    return std::vector<Tensor>{matte.alpha, matte.foreground};
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::Background_Matting
