#include "runner/suite/blocks/diffusion_prior.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "runner/suite/layers.h"

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

namespace {

constexpr std::int64_t buckets = 32;
constexpr double farthest = 128;
/// A text's embedding, the time, the noisy image and the query
constexpr std::int64_t tokens_beside_words = 4;

/// Two linear layers with a gate between them.
class GatedFeedImpl : public nn::Module {
 public:
  explicit GatedFeedImpl(std::int64_t width)
      : norm_(register_module("norm", GainNorm(width))),
        up_(register_module("up", unbiased(width, 8 * width))),
        down_(register_module("down", unbiased(4 * width, width))) {}

  Tensor forward(Tensor const& x) {
    auto const halves = up_(norm_(x)).chunk(2, -1);
    return down_(halves[0] * torch::silu(halves[1]));
  }

 private:
  GainNorm norm_;
  nn::Linear up_, down_;
};

TORCH_MODULE(GatedFeed);

nn::Sequential make_time_embedding(std::int64_t width) {
  return nn::Sequential(nn::Linear(width, 2 * width),
                        nn::SiLU(),
                        nn::Linear(2 * width, 2 * width),
                        nn::SiLU(),
                        nn::Linear(2 * width, width));
}

/// Rotary embeddings' angles, each for two neighbours: [length, turned].
Tensor make_angles(std::int64_t length, std::int64_t turned) {
  auto const even = torch::arange(0, turned, 2).to(torch::kFloat) / static_cast<double>(turned);
  auto const frequencies = torch::exp(even * -std::log(10000.0));
  auto const angles = torch::arange(length).unsqueeze(1) * frequencies;
  return angles.repeat_interleave(2, -1);
}

/// The bucket of a key by its distance back: one bucket for each distance when near, else by its
/// logarithm.
Tensor bucket_of(Tensor const& distance) {
  constexpr auto exact = buckets / 2;
  auto const behind = torch::max(distance, torch::zeros_like(distance));
  auto const ratio = behind.clamp_min(1).to(torch::kFloat) / static_cast<double>(exact);
  auto const far = (ratio.log() * (exact / std::log(farthest / exact))).to(torch::kLong) + exact;
  auto const bounded = torch::min(far, torch::full_like(far, buckets - 1));
  return torch::where(torch::lt(behind, exact), behind, bounded);
}

}  // namespace

DiffusionPriorImpl::DiffusionPriorImpl(DiffusionPriorOptions const& options)
    : options_(options),
      schedule_(register_module("schedule", NoiseSchedule(BetaSchedule::cosine, options.steps))),
      time_embedding_(register_module("time_embedding", make_time_embedding(options.width))),
      query_(register_parameter("query", torch::randn(options.width))),
      null_words_(
          register_parameter("null_words", torch::randn({1, options.text_length, options.width}))),
      null_text_(register_parameter("null_text", torch::randn({1, 1, options.width}))),
      null_image_(register_parameter("null_image", torch::randn({1, options.width}))),
      position_bias_(register_module("position_bias", nn::Embedding(buckets, options.heads))),
      angles_(register_buffer("angles",
                              make_angles(options.text_length + tokens_beside_words,
                                          std::min<std::int64_t>(32, options.head_width)))),
      norm_(register_module("norm", GainNorm(options.width, true))),
      projection_(register_module("projection", unbiased(options.width, options.width))) {
  NullAttentionOptions attention;
  attention.width = options.width;
  attention.heads = options.heads;
  attention.head_width = options.head_width;
  attention.cosine = true;
  attention.causal = true;
  for (std::int64_t layer = 0; layer < options.depth; ++layer) {
    auto const number = std::to_string(layer);
    attentions_.emplace_back(register_module("attention" + number, SharedKeyAttention(attention)));
    feeds_.emplace_back(GatedFeed(options.width));
    register_module("feed" + number, feeds_.back().ptr());
  }
}

Tensor DiffusionPriorImpl::loss(Tensor const& images, ClipImpl::Text const& text) {
  auto const times = schedule_->draw_times(images.size(0));
  auto const start = images * std::sqrt(static_cast<double>(options_.width));
  auto const noisy = schedule_->add_noise(start, times, torch::randn_like(start));
  return torch::mse_loss(predict(noisy, times, text, options_.kept), start);
}

Tensor DiffusionPriorImpl::sample(ClipImpl::Text const& text) {
  auto x = torch::randn_like(text.embedding);
  for (auto step = schedule_->steps(); step-- > 0;) {
    auto const times = torch::full({x.size(0)}, step, x.options().dtype(torch::kLong));
    auto const start = predict(x, times, text, 1);
    x = NoiseScheduleImpl::draw(schedule_->posterior(start, x, times), times);
  }
  return x / std::sqrt(static_cast<double>(options_.width));
}

Tensor DiffusionPriorImpl::predict(Tensor const& noisy,
                                   Tensor const& times,
                                   ClipImpl::Text const& text,
                                   double kept) {
  auto const batch = noisy.size(0);
  auto const text_kept = draw_kept(batch, kept, noisy).view({batch, 1, 1});
  auto const image_kept = draw_kept(batch, kept, noisy).view({batch, 1, 1});
  auto const tokens = torch::cat(
      {words_of(text, text_kept),
       torch::where(
           text_kept, text.embedding.unsqueeze(1), null_text_.to(text.embedding.scalar_type())),
       time_embedding_->forward(embed_times(times, options_.width, noisy)).unsqueeze(1),
       torch::where(image_kept, noisy.unsqueeze(1), null_image_.to(noisy.scalar_type())),
       query_.expand({batch, 1, -1})},
      1);
  return transform(tokens).select(1, -1);
}

Tensor DiffusionPriorImpl::words_of(ClipImpl::Text const& text, Tensor const& kept) {
  auto const missing = options_.text_length - text.words.size(1);
  auto const present = torch::ne(text.words, 0).any(-1);
  auto const words = torch::pad(text.words, {0, 0, 0, missing});
  auto const shown = torch::pad(present, {0, missing}).unsqueeze(-1) & kept;
  return torch::where(shown, words, null_words_.to(words.scalar_type()));
}

Tensor DiffusionPriorImpl::transform(Tensor const& tokens) {
  auto const bias = position_bias(tokens.size(1));
  auto x = tokens;
  for (std::size_t layer = 0; layer < attentions_.size(); ++layer) {
    x = attentions_[layer](x, bias, angles_) + x;
    x = feeds_[layer].forward(x) + x;
  }
  return projection_(norm_(x));
}

/// [heads, length, 1 + length], because a learned key comes first.
Tensor DiffusionPriorImpl::position_bias(std::int64_t length) {
  auto const options = angles_.options().dtype(torch::kLong);
  auto const distance =
      torch::arange(length, options).unsqueeze(1) - torch::arange(length + 1, options).unsqueeze(0);
  return position_bias_(bucket_of(distance)).permute({2, 0, 1});
}

}  // namespace torchwatch::suite
