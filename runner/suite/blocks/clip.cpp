#include "runner/suite/blocks/clip.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runner/suite/blocks/diffusion.h"

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

namespace {

Tensor quick_gelu(Tensor const& x) {
  return x * torch::sigmoid(1.702 * x);
}

TransformerStack make_layers(std::int64_t width, std::int64_t heads, std::int64_t depth) {
  TransformerOptions options;
  options.attention.width = width;
  options.attention.heads = heads;
  options.attention.fused = true;
  options.feed_width = 4 * width;
  options.activation = &quick_gelu;
  options.norm_first = true;
  return TransformerStack(options, depth);
}

nn::LayerNorm make_norm(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}));
}

Tensor draw_projection(std::int64_t in, std::int64_t out) {
  return torch::randn({in, out}) / std::sqrt(static_cast<double>(in));
}

/// Keys' cubic convolution kernel.
Tensor cubic(Tensor const& x) {
  auto const distance = x.abs();
  auto const square = distance.pow(2);
  auto const cube = distance.pow(3);
  auto const near = (1.5 * cube - 2.5 * square + 1) * torch::le(distance, 1);
  auto const far = (-0.5 * cube + 2.5 * square - 4 * distance + 2) *
                   (torch::gt(distance, 1) & torch::le(distance, 2));
  return near + far;
}

Tensor resize_first(Tensor const& x, std::int64_t size) {
  constexpr double support = 4;
  auto const options = x.options().dtype(torch::kFloat);
  auto const old_size = static_cast<double>(x.size(0));
  auto const new_size = static_cast<double>(size);
  auto const scale = new_size / old_size;
  auto const sharpness = std::min(scale, 1.0);
  auto const reach = support / sharpness;

  auto const centres =
      torch::arange(size, options) / scale + ((old_size - 1) / 2 - (new_size - 1) / (2 * scale));
  auto const first = torch::ceil(centres - (reach / 2 + 1e-6)).to(torch::kLong);
  auto const taps = static_cast<std::int64_t>(std::ceil(reach - 1e-6));
  auto const places = first.unsqueeze(1) + torch::arange(taps, first.options());
  auto const weights = cubic((centres.unsqueeze(1) - places) * sharpness);
  auto const shares = (weights / weights.sum(1, true)).to(x.scalar_type());

  // Enough on both sides for any window
  auto const margin = taps;
  std::vector<std::int64_t> padding(static_cast<std::size_t>(2 * x.dim()), 0);
  padding[padding.size() - 2] = padding[padding.size() - 1] = margin;
  auto const neighbours = torch::constant_pad_nd(x, padding).index({places + margin});
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim() + 1), 1);
  shape[0] = size;
  shape[1] = taps;
  return (neighbours * shares.view(shape)).sum(1);
}

}  // namespace

Tensor resize_cubic(Tensor const& images, std::int64_t side) {
  auto x = images;
  for (auto const axis : {-2, -1})
    if (x.size(axis) != side) x = resize_first(x.transpose(axis, 0), side).transpose(axis, 0);
  return x;
}

ClipImpl::ClipImpl(ClipOptions const& options) : options_(options) {
  auto const colours = [&](char const* name, double red, double green, double blue) {
    return register_buffer(name, torch::tensor({red, green, blue}, torch::kFloat).view({3, 1, 1}));
  };
  mean_ = colours("mean", 0.48145466, 0.4578275, 0.40821073);
  deviation_ = colours("deviation", 0.26862954, 0.26130258, 0.27577711);
  make_image_side();
  make_text_side();
  register_parameter("logit_scale", torch::full({}, std::log(1 / 0.07)));
  initialise_transformer(*this);
}

void ClipImpl::make_image_side() {
  auto const width = options_.image_width;
  auto const along = options_.side / options_.patch;
  patches_ = register_module(
      "patches",
      nn::Conv2d(nn::Conv2dOptions(3, width, options_.patch).stride(options_.patch).bias(false)));
  auto const deviation = 1 / std::sqrt(static_cast<double>(width));
  class_ = register_parameter("class", torch::randn(width) * deviation);
  image_positions_ =
      register_parameter("image_positions", torch::randn({along * along + 1, width}) * deviation);
  image_norm_before_ = register_module("image_norm_before", make_norm(width));
  image_layers_ =
      register_module("image_layers", make_layers(width, options_.image_heads, options_.depth));
  image_norm_after_ = register_module("image_norm_after", make_norm(width));
  image_projection_ =
      register_parameter("image_projection", draw_projection(width, options_.embedding_width));
}

void ClipImpl::make_text_side() {
  auto const width = options_.text_width;
  words_ = register_module("words", nn::Embedding(options_.vocabulary, width));
  text_positions_ =
      register_parameter("text_positions", torch::randn({options_.text_length, width}) * 0.01);
  text_layers_ =
      register_module("text_layers", make_layers(width, options_.text_heads, options_.depth));
  text_norm_ = register_module("text_norm", make_norm(width));
  text_projection_ =
      register_parameter("text_projection", draw_projection(width, options_.embedding_width));
  text_mask_ = register_buffer("text_mask", causal_mask(options_.text_length));
}

Tensor ClipImpl::embed_image(Tensor const& images) {
  auto const seen = (resize_cubic(images, options_.side) - mean_) / deviation_;
  auto const patches = patches_(seen).flatten(2).transpose(1, 2);
  auto const first = class_.to(patches.scalar_type()).expand({patches.size(0), 1, -1});
  auto const x = image_norm_before_(torch::cat({first, patches}, 1) + image_positions_);
  auto const whole = image_norm_after_(image_layers_(x, Tensor()).select(1, 0));
  return unit_length(torch::matmul(whole, image_projection_));
}

ClipImpl::Text ClipImpl::embed_text(Tensor const& text) {
  auto const read = text.slice(1, 0, options_.text_length);
  auto const before_end = torch::eq(torch::eq(read, options_.vocabulary - 1).cumsum(1), 0);
  auto const present = torch::constant_pad_nd(before_end, {1, -1}, true).unsqueeze(-1);
  auto const x = text_norm_(text_layers_(words_(read) + text_positions_, text_mask_));
  // The word with the highest number is the end
  auto const end = x.index({torch::arange(read.size(0), read.options()), read.argmax(1)});
  return {unit_length(torch::matmul(end, text_projection_)), x.masked_fill(~present, 0)};
}

}  // namespace torchwatch::suite
