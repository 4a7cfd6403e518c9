#include "runner/suite/blocks/diffusion.h"

#include <cmath>
#include <limits>
#include <vector>

#include "runner/suite/blocks/transformer.h"
#include "runner/suite/layers.h"

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

namespace {

constexpr double cosine_scale = 16;

Tensor make_betas(BetaSchedule kind, std::int64_t steps) {
  auto const count = static_cast<double>(steps);
  if (kind == BetaSchedule::linear)
    return torch::linspace(0.1 / count, 20 / count, steps, torch::kDouble);
  constexpr double offset = 0.008;
  auto const places = torch::linspace(0, 1, steps + 1, torch::kDouble);
  auto const kept = torch::cos((places + offset) / (1 + offset) * (M_PI / 2)).pow(2);
  return (1 - kept.slice(0, 1) / kept.slice(0, 0, steps)).clamp(0, 0.999);
}

/// [batch] -> [batch, 1, 1 ...], as many dimensions as `like` has.
Tensor spread(Tensor const& numbers, Tensor const& like) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(like.dim()), 1);
  shape[0] = numbers.size(0);
  return numbers.reshape(shape);
}

/// The number for each time, to be broadcast to `like`.
Tensor look_up(Tensor const& numbers, Tensor const& times, Tensor const& like) {
  return spread(numbers.gather(0, times), like);
}

double scale_of(NullAttentionOptions const& options) {
  return options.cosine ? cosine_scale : 1 / std::sqrt(static_cast<double>(options.head_width));
}

/// Weights in single precision.
Tensor weigh(Tensor const& scores) {
  return torch::softmax(scores, -1, torch::kFloat).to(scores.scalar_type());
}

/// Turns pairs of neighbours in the first numbers of the last dimension.
Tensor rotate(Tensor const& x, Tensor const& angles) {
  auto const turned = angles.size(-1);
  auto const pairs = x.slice(-1, 0, turned);
  auto const halves = pairs.unflatten(-1, {turned / 2, 2}).unbind(-1);
  auto const across = torch::stack({-halves[1], halves[0]}, -1).flatten(-2);
  return torch::cat({pairs * angles.cos() + across * angles.sin(), x.slice(-1, turned)}, -1);
}

}  // namespace

NoiseScheduleImpl::NoiseScheduleImpl(BetaSchedule kind, std::int64_t steps) {
  auto const betas = make_betas(kind, steps);
  auto const left = torch::cumprod(1 - betas, 0);
  auto const left_before = torch::cat({torch::ones({1}, torch::kDouble), left.slice(0, 0, -1)});
  auto const variance = betas * (1 - left_before) / (1 - left);
  auto const keep = [&](char const* name, Tensor const& numbers) {
    return register_buffer(name, numbers.to(torch::kFloat));
  };
  betas_ = keep("betas", betas);
  signal_ = keep("signal", left.sqrt());
  noise_ = keep("noise", (1 - left).sqrt());
  signal_inverse_ = keep("signal_inverse", left.rsqrt());
  noise_to_signal_ = keep("noise_to_signal", (1 / left - 1).sqrt());
  log_variance_ = keep("log_variance", variance.clamp_min(1e-20).log());
  start_share_ = keep("start_share", betas * left_before.sqrt() / (1 - left));
  noisy_share_ = keep("noisy_share", (1 - left_before) * (1 - betas).sqrt() / (1 - left));
}

Tensor NoiseScheduleImpl::draw_times(std::int64_t batch) const {
  return torch::randint(0, steps(), {batch}, betas_.options().dtype(torch::kLong));
}

Tensor NoiseScheduleImpl::add_noise(Tensor const& start,
                                    Tensor const& times,
                                    Tensor const& noise) const {
  return look_up(signal_, times, start) * start + look_up(noise_, times, start) * noise;
}

Tensor NoiseScheduleImpl::start_of(Tensor const& noisy,
                                   Tensor const& times,
                                   Tensor const& noise) const {
  return look_up(signal_inverse_, times, noisy) * noisy -
         look_up(noise_to_signal_, times, noisy) * noise;
}

NoiseScheduleImpl::Posterior NoiseScheduleImpl::posterior(Tensor const& start,
                                                          Tensor const& noisy,
                                                          Tensor const& times) const {
  return {look_up(start_share_, times, noisy) * start + look_up(noisy_share_, times, noisy) * noisy,
          look_up(log_variance_, times, noisy)};
}

Tensor NoiseScheduleImpl::largest_log_variance(Tensor const& like, Tensor const& times) const {
  return look_up(betas_.log(), times, like);
}

Tensor NoiseScheduleImpl::draw(Posterior const& posterior, Tensor const& times) {
  auto const& mean = posterior.mean;
  auto const later = spread(torch::rsub(torch::eq(times, 0).to(mean.scalar_type()), 1), mean);
  return mean + later * (0.5 * posterior.log_variance).exp() * torch::randn_like(mean);
}

Tensor embed_times(Tensor const& times, std::int64_t width, Tensor const& like) {
  auto const half = width / 2;
  auto const step = -std::log(10000.0) / static_cast<double>(half - 1);
  auto const frequencies = torch::exp(torch::arange(half, like.options()) * step);
  auto const angles = times.to(like.scalar_type()).unsqueeze(1) * frequencies.unsqueeze(0);
  return torch::cat({angles.sin(), angles.cos()}, -1);
}

Tensor draw_kept(std::int64_t batch, double probability, Tensor const& like) {
  if (probability >= 1) return torch::ones({batch}, like.options().dtype(torch::kBool));
  auto const chances = torch::zeros({batch}, like.options().dtype(torch::kFloat)).uniform_(0, 1);
  return torch::lt(chances, probability);
}

Tensor unit_length(Tensor const& x) {
  return nn::functional::normalize(x, nn::functional::NormalizeFuncOptions().p(2).dim(-1));
}

GainNormImpl::GainNormImpl(std::int64_t width, bool stable)
    : gain_(register_parameter("gain", torch::ones(width))),
      stable_(stable) {}

Tensor GainNormImpl::forward(Tensor const& input) {
  auto const epsilon = input.scalar_type() == torch::kFloat ? 1e-5 : 1e-3;
  auto const x = stable_ ? input / input.amax(-1, true).detach() : input;
  auto const variance = torch::var(x, torch::IntArrayRef{-1}, false, true);
  return (x - x.mean(-1, true)) * (variance + epsilon).rsqrt() * gain_;
}

SharedKeyAttentionImpl::SharedKeyAttentionImpl(NullAttentionOptions const& options)
    : options_(options),
      scale_(scale_of(options)),
      norm_(register_module("norm", GainNorm(options.width))),
      null_(register_parameter("null", torch::randn({2, options.head_width}))),
      query_(register_module("query", unbiased(options.width, options.heads * options.head_width))),
      key_value_(register_module("key_value", unbiased(options.width, 2 * options.head_width))),
      output_(
          register_module("output", unbiased(options.heads * options.head_width, options.width))),
      output_norm_(register_module("output_norm", GainNorm(options.width))) {}

Tensor SharedKeyAttentionImpl::forward(Tensor const& input,
                                       Tensor const& bias,
                                       Tensor const& angles) {
  auto const x = norm_(input);
  auto query = split_heads(query_(x), options_.heads) * scale_;
  auto const parts = key_value_(x).chunk(2, -1);
  auto key = parts[0];
  if (angles.defined()) {
    query = rotate(query, angles);
    key = rotate(key, angles);
  }
  auto const nulls = null_.unbind();
  auto const with_null = [&](std::size_t which, Tensor const& rows) {
    return torch::cat({nulls[which].expand({rows.size(0), 1, -1}), rows}, 1);
  };
  key = with_null(0, key);
  auto const value = with_null(1, parts[1]);
  if (options_.cosine) {
    query = unit_length(query);
    key = unit_length(key);
  }
  auto const root = std::sqrt(scale_);
  auto scores = torch::einsum("bhid,bjd->bhij", {query * root, key * root});
  if (bias.defined()) scores = scores + bias;
  if (options_.causal) {
    auto const later =
        torch::ones({scores.size(-2), scores.size(-1)}, scores.options().dtype(torch::kBool))
            .triu(2);
    scores = scores.masked_fill(later, -std::numeric_limits<double>::infinity());
  }
  auto const mixed = torch::einsum("bhij,bjd->bhid", {weigh(scores), value});
  return output_norm_(output_(merge_heads(mixed)));
}

ContextAttentionImpl::ContextAttentionImpl(NullAttentionOptions const& options)
    : options_(options),
      norm_(register_module("norm", GainNorm(options.width))),
      null_(register_parameter("null", torch::randn({2, options.head_width}))),
      query_(register_module("query", unbiased(options.width, options.heads * options.head_width))),
      key_value_(register_module(
          "key_value", unbiased(options.context_width, 2 * options.heads * options.head_width))),
      output_(
          register_module("output", unbiased(options.heads * options.head_width, options.width))),
      output_norm_(register_module("output_norm", GainNorm(options.width))) {}

Tensor ContextAttentionImpl::forward(Tensor const& input, Tensor const& context) {
  auto const query = split_heads(query_(norm_(input)), options_.heads);
  auto const parts = key_value_(context).chunk(2, -1);
  auto const nulls = null_.unbind();
  auto const with_null = [&](std::size_t which) {
    auto const rows = split_heads(parts[which], options_.heads);
    return torch::cat({nulls[which].expand({rows.size(0), options_.heads, 1, -1}), rows}, 2);
  };
  auto const root = std::sqrt(scale_of(options_));
  auto const scores = torch::einsum("bhid,bhjd->bhij", {query * root, with_null(0) * root});
  auto const mixed = torch::einsum("bhij,bhjd->bhid", {weigh(scores), with_null(1)});
  return output_norm_(output_(merge_heads(mixed)));
}

}  // namespace torchwatch::suite
