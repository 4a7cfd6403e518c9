// Images from texts: Ramesh et al., "Hierarchical Text-Conditional Image Generation with CLIP
// Latents", 2022 (arXiv 2204.06125), after lucidrains/DALLE2-pytorch 1.10.5 as TorchBench sets it
// up: frozen CLIP ViT-B/32, a prior of 6 layers, a decoder of two U-Nets for 128 x 128 and 256 x
// 256 pixels, one time step each. Input: texts of 256 words, images [batch, 3, 256, 256]. Train:
// losses of the prior and of both U-Nets, each differentiated by itself; CLIP runs again for
// each. Eval: two image embeddings a text, of which CLIP takes the better, then an image.
// TorchBench takes no optimizer step; here one of Adam at the rate of the reference's prior
// trainer. The U-Nets' last convolutions begin near 0 and not at it, or a first step would train
// nothing else. CLIP has random weights and the suite's precision, where the reference runs it in
// half precision on GPUs; the likelihood of the learned variance is always in single. Smoke: 16 x
// 16 and 32 x 32 pixels, texts of 32 words, narrow, fewer layers and resolutions.

#include <cmath>
#include <functional>
#include <numbers>
#include <utility>
#include <vector>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/blocks/clip.h"
#include "runner/suite/blocks/diffusion.h"
#include "runner/suite/blocks/diffusion_prior.h"
#include "runner/suite/blocks/diffusion_unet.h"
#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::DALLE2_pytorch {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t steps = 1;
constexpr double image_kept = 0.9;
constexpr double text_kept = 0.5;
constexpr double likelihood_weight = 0.001;
constexpr double blur_probability = 0.5;
constexpr double blur_width = 0.6;
constexpr std::int64_t samples = 2;
constexpr double rate = 3e-4;

struct Sizes {
  std::int64_t coarse_side, side, text_length;
  ClipOptions clip;
  DiffusionPriorOptions prior;
  DiffusionUnetOptions coarse, fine;
};

DiffusionUnetOptions coarse_options(Setup const& setup) {
  DiffusionUnetOptions options;
  options.width = setup.pick(128, 16);
  options.multiples = {1, 2, 4, 8};
  options.condition_width = setup.pick(128, 16);
  options.embedding_width = setup.pick(512, 64);
  options.text_length = setup.pick(256, 32);
  options.output_channels = 6;
  if (setup.scale == Scale::smoke) {
    options.multiples = {1, 2};
    options.heads = 2;
    options.head_width = 16;
  }
  return options;
}

Sizes sizes_of(Setup const& setup) {
  Sizes sizes{setup.pick(128, 16), setup.pick(256, 32), setup.pick(256, 32), {}, {}, {}, {}};
  sizes.coarse = coarse_options(setup);
  sizes.fine = sizes.coarse;
  sizes.fine.width = 16;
  sizes.fine.multiples = {1, 2, 4, 8, 16};
  sizes.fine.output_channels = 3;
  sizes.fine.conditional = false;
  sizes.prior.steps = steps;
  if (setup.scale == Scale::full) return sizes;

  sizes.fine.multiples = {1, 2, 4};
  sizes.prior.width = 64;
  sizes.prior.depth = 2;
  sizes.prior.heads = 4;
  sizes.prior.head_width = 16;
  sizes.prior.text_length = 32;
  sizes.clip = {64, 24, 8, 64, 4, 64, 4, 2, 1000, 16};
  return sizes;
}

Tensor to_signed(Tensor const& images) {
  return images * 2 - 1;
}

Tensor to_unsigned(Tensor const& images) {
  return (images + 1) * 0.5;
}

Tensor resize(Tensor const& images, std::int64_t side) {
  if (images.size(-1) == side) return images;
  std::vector<std::int64_t> const size{side, side};
  return torch::upsample_nearest2d(images, at::OptionalIntArrayRef(size), c10::nullopt);
}

/// Blurs images with a Gaussian of three pixels, once down and once across.
Tensor blur(Tensor const& images) {
  namespace F = nn::functional;
  auto const channels = images.size(1);
  auto const distances = torch::arange(-1, 2, images.options());
  auto const bell = torch::exp(distances.pow(2) / (-2 * blur_width * blur_width));
  auto const weights = bell / bell.sum();
  auto const smooth = [&](Tensor const& x,
                          std::vector<std::int64_t> const& padding,
                          std::vector<std::int64_t> const& kernel) {
    auto const padded = torch::pad(x, padding, "reflect");
    auto const weight = weights.view(kernel).expand({channels, 1, kernel[0], kernel[1]});
    return F::conv2d(padded, weight, F::Conv2dFuncOptions().groups(channels));
  };
  return smooth(smooth(images, {1, 1, 0, 0}, {1, 3}), {0, 0, 1, 1}, {3, 1});
}

/// The standard normal distribution's cumulative probability, approximately.
Tensor cumulative(Tensor const& x) {
  return 0.5 * (1 + torch::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x.pow(3))));
}

Tensor safe_log(Tensor const& x) {
  return x.clamp(1e-12).log();
}

Tensor square_error(Tensor const& found, Tensor const& noise) {
  auto const errors = torch::mse_loss(found, noise, torch::Reduction::None);
  return errors.reshape({errors.size(0), -1}).mean();
}

using Posterior = NoiseScheduleImpl::Posterior;

/// Negative log-likelihood of each pixel, in nats; a pixel is one of 256 values.
Tensor surprise(Tensor const& pixels, Posterior const& guess) {
  auto const centred = pixels - guess.mean;
  auto const sharpness = torch::exp(-0.5 * guess.log_variance);
  auto const upper = cumulative(sharpness * (centred + 1.0 / 255));
  auto const lower = cumulative(sharpness * (centred - 1.0 / 255));
  auto const inside = safe_log(upper - lower);
  auto const bright =
      torch::where(torch::gt(pixels, 0.999), safe_log(torch::rsub(lower, 1)), inside);
  return -torch::where(torch::lt(pixels, -0.999), safe_log(upper), bright);
}

Tensor divergence(Posterior const& truth, Posterior const& guess) {
  return 0.5 * (guess.log_variance - truth.log_variance - 1 +
                torch::exp(truth.log_variance - guess.log_variance) +
                (truth.mean - guess.mean).pow(2) * torch::exp(-guess.log_variance));
}

Posterior in_single_precision(Posterior const& posterior) {
  return {posterior.mean.to(torch::kFloat), posterior.log_variance.to(torch::kFloat)};
}

/// The inputs that condition a decoder.
struct Conditions {
  Tensor image;  ///< embedding
  Tensor words;
};

/// A cascade: a coarse image from embeddings, then a fine one from the coarse one.
class DecoderImpl : public nn::Module {
 public:
  explicit DecoderImpl(Sizes const& sizes)
      : coarse_side_(sizes.coarse_side),
        side_(sizes.side),
        coarse_(register_module("coarse", DiffusionUnet(sizes.coarse))),
        fine_(register_module("fine", DiffusionUnet(sizes.fine))),
        coarse_schedule_(
            register_module("coarse_schedule", NoiseSchedule(BetaSchedule::cosine, steps))),
        fine_schedule_(
            register_module("fine_schedule", NoiseSchedule(BetaSchedule::linear, steps))) {}

  Tensor coarse_loss(Tensor const& images, Conditions const& conditions) {
    auto const start = to_signed(resize(images, coarse_side_));
    auto const times = coarse_schedule_->draw_times(start.size(0));
    auto const noise = torch::randn_like(start);
    auto const noisy = coarse_schedule_->add_noise(start, times, noise);
    auto const output = coarse_->forward(
        {noisy, times, conditions.image, conditions.words, {}, image_kept, text_kept});
    return square_error(output.chunk(2, 1)[0], noise) +
           likelihood_weight * variance_loss(start, noisy, times, output);
  }

  Tensor fine_loss(Tensor const& images) {
    auto const start = to_signed(resize(images, side_));
    auto const times = fine_schedule_->draw_times(start.size(0));
    auto const noise = torch::randn_like(start);
    auto const noisy = fine_schedule_->add_noise(start, times, noise);
    return square_error(fine_->forward({noisy, times, {}, {}, coarsen(images)}), noise);
  }

  /// Images from 0 to 1.
  Tensor sample(Conditions const& conditions) {
    auto const coarse = denoise(coarse_schedule_,
                                coarse_side_,
                                conditions.image,
                                [&](Tensor const& noisy, Tensor const& times) {
                                  auto const output = coarse_->forward(
                                      {noisy, times, conditions.image, conditions.words, {}});
                                  return coarse_posterior(noisy, times, output, true);
                                });
    auto const enlarged = to_signed(resize(coarse, side_).clamp(0, 1));
    return denoise(
        fine_schedule_, side_, conditions.image, [&](Tensor const& noisy, Tensor const& times) {
          auto const noise = fine_->forward({noisy, times, {}, {}, enlarged});
          auto const start = fine_schedule_->start_of(noisy, times, noise);
          return fine_schedule_->posterior(start.clamp(-1, 1), noisy, times);
        });
  }

 private:
  /// With the variance that the network chose.
  Posterior coarse_posterior(Tensor const& noisy,
                             Tensor const& times,
                             Tensor const& output,
                             bool clipped) {
    auto const parts = output.chunk(2, 1);
    auto const start = coarse_schedule_->start_of(noisy, times, parts[0]);
    auto posterior =
        coarse_schedule_->posterior(clipped ? start.clamp(-1, 1) : start, noisy, times);
    auto const share = to_unsigned(parts[1]);
    posterior.log_variance = share * coarse_schedule_->largest_log_variance(noisy, times) +
                             torch::rsub(share, 1) * posterior.log_variance;
    return posterior;
  }

  /// In bits a number.
  Tensor variance_loss(Tensor const& start,
                       Tensor const& noisy,
                       Tensor const& times,
                       Tensor const& output) {
    auto const truth = in_single_precision(coarse_schedule_->posterior(start, noisy, times));
    auto guess = in_single_precision(coarse_posterior(noisy, times, output, false));
    guess.mean = guess.mean.detach();
    auto const first = surprise(start.to(torch::kFloat), guess).mean({1, 2, 3});
    auto const later = divergence(truth, guess).mean({1, 2, 3});
    return torch::where(torch::eq(times, 0), first, later).mean() / std::numbers::ln2;
  }

  /// The coarse image that training shows the fine network, at times blurred.
  Tensor coarsen(Tensor const& images) const {
    auto coarse = resize(images, coarse_side_).clamp(0, 1);
    if (torch::rand({}).item<double>() < blur_probability) coarse = blur(coarse);
    return to_signed(resize(coarse, side_).clamp(0, 1));
  }

  static Tensor denoise(NoiseSchedule const& schedule,
                        std::int64_t side,
                        Tensor const& like,
                        std::function<Posterior(Tensor const&, Tensor const&)> const& look) {
    auto const batch = like.size(0);
    auto x = torch::randn({batch, 3, side, side}, like.options());
    for (auto step = schedule->steps(); step-- > 0;) {
      auto const times = torch::full({batch}, step, like.options().dtype(torch::kLong));
      x = NoiseScheduleImpl::draw(look(x, times), times);
    }
    return to_unsigned(x);
  }

  std::int64_t coarse_side_, side_;
  DiffusionUnet coarse_, fine_;
  NoiseSchedule coarse_schedule_, fine_schedule_;
};

TORCH_MODULE(Decoder);

struct Dalle {
  Clip clip;
  DiffusionPrior prior;
  Decoder decoder;
  Tensor text;    ///< [batch, length]
  Tensor images;  ///< [batch, 3, side, side]

  std::shared_ptr<nn::Module> network() const {
    return join({{"clip", clip.ptr()}, {"prior", prior.ptr()}, {"decoder", decoder.ptr()}});
  }

  /// CLIP's embeddings of images and text. CLIP does not learn.
  std::pair<Tensor, ClipImpl::Text> embed() {
    torch::NoGradGuard const no_gradients;
    auto const image = clip->embed_image(images);
    return {image, clip->embed_text(text)};
  }

  Tensor prior_loss() {
    auto const [image, words] = embed();
    return prior->loss(image, words);
  }

  Tensor coarse_loss() {
    auto const [image, words] = embed();
    return decoder->coarse_loss(images, {image, words.words});
  }

  Tensor fine_loss() {
    embed();
    return decoder->fine_loss(images);
  }

  /// [batch, embedding width]: of several drawn, what is most like the text.
  Tensor choose_embedding() {
    auto const asked = clip->embed_text(text.repeat_interleave(samples, 0));
    auto const drawn = prior->sample(asked).unflatten(0, {-1, samples});
    auto const wanted = asked.embedding.unflatten(0, {-1, samples});
    auto const likeness = torch::einsum("brd,brd->br", {unit_length(wanted), unit_length(drawn)});
    auto const best = std::get<1>(likeness.topk(1)).unsqueeze(-1).expand({-1, -1, drawn.size(2)});
    return drawn.gather(1, best).squeeze(1);
  }

  Tensor draw_images() {
    auto const image = choose_embedding();
    return decoder->sample({image, clip->embed_text(text).words});
  }
};

Dalle make_dalle(Setup const& setup) {
  auto const sizes = sizes_of(setup);
  Dalle dalle{Clip(sizes.clip), DiffusionPrior(sizes.prior), Decoder(sizes), {}, {}};
  for (auto& parameter : dalle.clip->parameters())
    parameter.set_requires_grad(false);
  setup.place(*dalle.network());
  dalle.text = setup.place(
      torch::randint(sizes.clip.vocabulary, {setup.batch, sizes.text_length}, torch::kLong));
  dalle.images = setup.place(torch::randn({setup.batch, 3, sizes.side, sizes.side}));
  return dalle;
}

class DalleTraining final : public Workload {
 public:
  explicit DalleTraining(Dalle dalle)
      : dalle_(std::move(dalle)),
        network_(dalle_.network()),
        optimizer_(make_adam(
            *join({{"prior", dalle_.prior.ptr()}, {"decoder", dalle_.decoder.ptr()}}), rate)) {
    network_->train();
  }

  void step() override {
    optimizer_->zero_grad();
    auto const prior = learn(dalle_.prior_loss());
    auto const coarse = learn(dalle_.coarse_loss());
    auto const fine = learn(dalle_.fine_loss());
    apply_gradients(*optimizer_);
    loss_ = prior + coarse + fine;
  }

  /// The sum of the three.
  std::vector<Tensor> results() const override { return {loss_}; }

  std::shared_ptr<nn::Module> network() const override { return network_; }

 private:
  static Tensor learn(Tensor const& loss) {
    loss.backward();
    return loss.detach();
  }

  Dalle dalle_;
  std::shared_ptr<nn::Module> network_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  Tensor loss_;
};

}  // namespace

std::unique_ptr<Workload> make_DALLE2_pytorch(Setup const& setup) {
  auto dalle = make_dalle(setup);
  if (setup.test == Test::train) return std::make_unique<DalleTraining>(std::move(dalle));

  Supervised parts;
  parts.network = dalle.network();
  parts.forward = [dalle]() mutable {
    return std::vector<Tensor>{dalle.draw_images()};
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::DALLE2_pytorch
