#include "runner/suite/blocks/diffusion_unet.h"

#include <string>

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

namespace {

constexpr std::int64_t norm_groups = 8;
constexpr std::int64_t colours = 3;
constexpr std::int64_t time_token_count = 2;
constexpr std::int64_t image_token_count = 4;
constexpr std::size_t blocks_a_stage = 3;

/// [batch, channels, height, width] -> [batch, height * width, channels].
Tensor as_sequence(Tensor const& x) {
  return x.flatten(2).transpose(1, 2);
}

Tensor as_image(Tensor const& sequence, Tensor const& like) {
  return sequence.transpose(1, 2).reshape(like.sizes());
}

nn::Conv2d make_conv(std::int64_t in, std::int64_t out, std::int64_t kernel) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).padding(kernel / 2));
}

/// The four numbers that become neighbours begin alike.
nn::Conv2d make_up(std::int64_t in, std::int64_t out) {
  auto conv = make_conv(in, 4 * out, 1);
  torch::NoGradGuard const no_gradients;
  auto const weight = torch::empty({out, in, 1, 1});
  nn::init::kaiming_uniform_(weight);
  conv->weight.copy_(weight.repeat_interleave(4, 0));
  conv->bias.zero_();
  return conv;
}

struct BlockOptions {
  std::int64_t in = 0, out = 0, whole_width = 0;
  NullAttentionOptions attention;  ///< no such where the width is 0
};

/// Two convolutions; the first one's output is scaled and shifted by the condition and may attend
/// to tokens.
class DiffusionBlockImpl : public nn::Module {
 public:
  explicit DiffusionBlockImpl(BlockOptions const& options)
      : modulation_(
            register_module("modulation", nn::Linear(options.whole_width, 2 * options.out))),
        conv1_(register_module("conv1", make_conv(options.in, options.out, 3))),
        norm1_(register_module("norm1", nn::GroupNorm(norm_groups, options.out))),
        conv2_(register_module("conv2", make_conv(options.out, options.out, 3))),
        norm2_(register_module("norm2", nn::GroupNorm(norm_groups, options.out))) {
    if (options.attention.width > 0)
      attention_ = register_module("attention", ContextAttention(options.attention));
    if (options.in != options.out)
      shortcut_ = register_module("shortcut", make_conv(options.in, options.out, 1));
  }

  Tensor forward(Tensor const& x, Tensor const& whole, Tensor const& tokens) {
    auto const change = modulation_(torch::silu(whole)).unsqueeze(-1).unsqueeze(-1).chunk(2, 1);
    auto y = torch::silu(norm1_(conv1_(x)) * (change[0] + 1) + change[1]);
    if (attention_) y = as_image(attention_(as_sequence(y), tokens), y) + y;
    y = torch::silu(norm2_(conv2_(y)));
    return y + (shortcut_ ? shortcut_(x) : x);
  }

 private:
  nn::Linear modulation_;
  nn::Conv2d conv1_;
  nn::GroupNorm norm1_;
  nn::Conv2d conv2_;
  nn::GroupNorm norm2_;
  ContextAttention attention_{nullptr};
  nn::Conv2d shortcut_{nullptr};
};

TORCH_MODULE(DiffusionBlock);

}  // namespace

DiffusionUnetImpl::DiffusionUnetImpl(DiffusionUnetOptions const& options) : options_(options) {
  auto const in = options.conditional ? colours : 2 * colours;
  auto const width = options.width;
  first_ = {make_conv(in, width / 2, 3),
            make_conv(in, width / 4, 7),
            make_conv(in, width - width / 2 - width / 4, 15)};
  for (std::size_t i = 0; i < first_.size(); ++i)
    register_module("first" + std::to_string(i), first_[i]);
  make_conditions();
  make_path();

  last_block_ = make_block(2 * width, width, false);
  register_module("last_block", last_block_.ptr());
  auto const last_in = options.conditional ? width : width + colours;
  last_ = register_module("last", make_conv(last_in, options.output_channels, 1));
  nn::init::normal_(last_->weight, 0, 0.02);
  nn::init::zeros_(last_->bias);
}

void DiffusionUnetImpl::make_conditions() {
  auto const whole = 4 * options_.width;
  auto const width = options_.condition_width;
  auto const linear = [&](char const* name, std::int64_t in, std::int64_t out) {
    return register_module(name, nn::Linear(in, out));
  };
  time_hidden_ = linear("time_hidden", options_.width, whole);
  time_tokens_ = linear("time_tokens", whole, time_token_count * width);
  time_condition_ = linear("time_condition", whole, whole);
  norm_ = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})));
  bottom_norm_ = register_module("bottom_norm", nn::LayerNorm(nn::LayerNormOptions({width})));
  if (options_.conditional) {
    image_tokens_ = linear("image_tokens", options_.embedding_width, image_token_count * width);
    image_hidden_ = linear("image_hidden", options_.embedding_width, whole);
    text_condition_ = linear("text_condition", options_.embedding_width, width);
  }
  // The reference has them in networks without such conditions too
  null_image_ = register_parameter("null_image", torch::randn({1, image_token_count, width}));
  null_image_hidden_ = register_parameter("null_image_hidden", torch::randn({1, whole}));
  null_text_ = register_parameter("null_text", torch::randn({1, options_.text_length, width}));
}

void DiffusionUnetImpl::make_path() {
  auto const stages = options_.multiples.size();
  for (std::size_t stage = 0; stage < stages; ++stage) {
    auto const in = width_at(stage);
    auto const out = width_at(stage + 1);
    bool const coarsest = stage + 1 == stages;
    auto const number = std::to_string(stage);
    std::vector<nn::AnyModule> down, up;
    for (std::size_t i = 0; i < blocks_a_stage; ++i) {
      down.push_back(make_block(in, in, stage > 0 && i > 0));
      register_module("down" + number + "_block" + std::to_string(i), down.back().ptr());
      up.push_back(make_block(out + in, out, stage > 0));
      register_module("up" + number + "_block" + std::to_string(i), up.back().ptr());
    }
    down_blocks_.push_back(std::move(down));
    up_blocks_.push_back(std::move(up));
    down_.emplace_back(register_module("down" + number, make_conv(coarsest ? in : 4 * in, out, 1)));
    if (stage > 0) up_.emplace_back(register_module("up" + number, make_up(out, in)));
  }
  auto const bottom = width_at(stages);
  for (auto const* name : {"bottom_block0", "bottom_block1"}) {
    bottom_.push_back(make_block(bottom, bottom, true));
    register_module(name, bottom_.back().ptr());
  }
  NullAttentionOptions attention;
  attention.width = bottom;
  attention.heads = 2 * options_.heads;
  attention.head_width = options_.head_width / 2;
  bottom_attention_ = register_module("bottom_attention", SharedKeyAttention(attention));
}

nn::AnyModule DiffusionUnetImpl::make_block(std::int64_t in, std::int64_t out, bool attends) const {
  BlockOptions block{in, out, 4 * options_.width, {}};
  if (attends) {
    block.attention.width = out;
    block.attention.heads = options_.heads;
    block.attention.head_width = options_.head_width;
    block.attention.context_width = options_.condition_width;
  }
  return nn::AnyModule(DiffusionBlock(block));
}

std::int64_t DiffusionUnetImpl::width_at(std::size_t stage) const {
  return stage == 0 ? options_.width : options_.width * options_.multiples[stage - 1];
}

Tensor DiffusionUnetImpl::forward(DiffusionUnetInput const& input) {
  auto const x = options_.conditional ? input.noisy : torch::cat({input.noisy, input.coarse}, 1);
  std::vector<Tensor> maps;
  for (auto& conv : first_)
    maps.push_back(conv(x));
  auto const start = torch::cat(maps, 1);
  auto const conditions = condition(input);

  auto const y = torch::cat({go_through(start, conditions), start.clone()}, 1);
  auto const last = last_block_.forward<Tensor>(y, conditions.whole, Tensor());
  return last_(options_.conditional ? last : torch::cat({last, input.coarse}, 1));
}

DiffusionUnetImpl::Conditions DiffusionUnetImpl::condition(DiffusionUnetInput const& input) {
  auto const batch = input.times.size(0);
  auto const width = options_.condition_width;
  auto const times = input.times.type_as(input.noisy);
  auto const hidden = torch::gelu(time_hidden_(embed_times(times, options_.width, input.noisy)));
  auto const time_tokens = time_tokens_(hidden).view({batch, time_token_count, width});
  auto const whole = time_condition_(hidden);
  if (!options_.conditional) return {whole, norm_(time_tokens), bottom_norm_(time_tokens)};

  auto const kept = draw_kept(batch, input.image_probability, input.noisy).unsqueeze(1);
  auto const image_hidden = torch::gelu(image_hidden_(input.image));
  auto const image_whole =
      torch::where(kept, image_hidden, null_image_hidden_.to(image_hidden.scalar_type()));
  auto const image_tokens = image_tokens_(input.image).view({batch, image_token_count, width});
  auto const tokens = torch::cat(
      {time_tokens,
       torch::where(kept.unsqueeze(2), image_tokens, null_image_.to(image_tokens.scalar_type()))},
      1);
  auto const all_tokens = torch::cat({tokens, text_tokens(input)}, 1);
  return {whole + image_whole, norm_(tokens), bottom_norm_(all_tokens)};
}

Tensor DiffusionUnetImpl::text_tokens(DiffusionUnetInput const& input) {
  auto const batch = input.times.size(0);
  auto const missing = options_.text_length - input.text.size(1);
  auto const present = torch::ne(input.text, 0).any(-1);
  auto const tokens = torch::pad(text_condition_(input.text), {0, 0, 0, missing});
  auto const kept = draw_kept(batch, input.text_probability, input.noisy).view({batch, 1, 1});
  auto const shown = torch::pad(present, {0, missing}).unsqueeze(-1) & kept;
  return torch::where(shown, tokens, null_text_.to(tokens.scalar_type()));
}

Tensor DiffusionUnetImpl::go_through(Tensor const& start, Conditions const& conditions) {
  auto const apply = [&](nn::AnyModule& block, Tensor const& x, Tensor const& tokens) {
    return block.forward<Tensor>(x, conditions.whole, tokens);
  };
  auto x = start;
  std::vector<Tensor> skipped;
  for (std::size_t stage = 0; stage < down_.size(); ++stage) {
    auto& blocks = down_blocks_[stage];
    x = apply(blocks[0], x, conditions.tokens);
    for (std::size_t i = 1; i < blocks.size(); ++i) {
      x = apply(blocks[i], x, conditions.tokens);
      skipped.push_back(x);
    }
    skipped.push_back(x.contiguous());
    x = down_[stage](stage + 1 < down_.size() ? torch::pixel_unshuffle(x, 2) : x);
  }
  x = apply(bottom_[0], x, conditions.bottom_tokens);
  x = as_image(bottom_attention_(as_sequence(x), Tensor(), Tensor()), x) + x;
  x = apply(bottom_[1], x, conditions.bottom_tokens);

  for (auto stage = down_.size(); stage-- > 0;) {
    for (auto& block : up_blocks_[stage]) {
      x = apply(block, torch::cat({x, skipped.back()}, 1), conditions.tokens);
      skipped.pop_back();
    }
    if (stage > 0) x = torch::pixel_shuffle(torch::silu(up_[stage - 1](x)), 2);
  }
  return x;
}

}  // namespace torchwatch::suite
