#pragma once

/// The U-Net of lucidrains/DALLE2-pytorch 1.10.5's decoder.

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/blocks/diffusion.h"

namespace torchwatch::suite {

struct DiffusionUnetOptions {
  std::int64_t width = 0;
  std::vector<std::int64_t> multiples;  ///< multiples of the width, for each resolution
  std::int64_t condition_width = 0;
  std::int64_t embedding_width = 0;  ///< for texts and images
  std::int64_t text_length = 256;
  std::int64_t heads = 8;        ///< for attention to conditions; twice as many at the bottom
  std::int64_t head_width = 64;  ///< half as wide at the bottom
  std::int64_t output_channels = 3;
  bool conditional = true;  ///< looks at texts and images; otherwise at a coarser image
};

/// A noisy image, and the conditions to find its noise.
struct DiffusionUnetInput {
  torch::Tensor noisy;           ///< [batch, 3, side, side]
  torch::Tensor times;           ///< [batch]
  torch::Tensor image;           ///< [batch, embedding width]
  torch::Tensor text;            ///< [batch, length, embedding width]
  torch::Tensor coarse;          ///< like `noisy`
  double image_probability = 1;  ///< that an image's embedding is looked at
  double text_probability = 1;
};

class DiffusionUnetImpl : public torch::nn::Module {
 public:
  explicit DiffusionUnetImpl(DiffusionUnetOptions const& options);

  /// [batch, output channels, side, side].
  torch::Tensor forward(DiffusionUnetInput const& input);

 private:
  /// The conditions of blocks: for the whole image, and as tokens.
  struct Conditions {
    torch::Tensor whole;          ///< [batch, 4 width]
    torch::Tensor tokens;         ///< [batch, tokens, condition width]
    torch::Tensor bottom_tokens;  ///< with those of the text
  };

  void make_conditions();
  void make_path();
  torch::nn::AnyModule make_block(std::int64_t in, std::int64_t out, bool attends) const;
  std::int64_t width_at(std::size_t stage) const;

  Conditions condition(DiffusionUnetInput const& input);
  torch::Tensor text_tokens(DiffusionUnetInput const& input);
  torch::Tensor go_through(torch::Tensor const& start, Conditions const& conditions);

  DiffusionUnetOptions options_;
  std::vector<torch::nn::Conv2d> first_;
  torch::nn::Linear time_hidden_{nullptr}, time_tokens_{nullptr}, time_condition_{nullptr};
  torch::nn::Linear image_tokens_{nullptr}, image_hidden_{nullptr}, text_condition_{nullptr};
  torch::nn::LayerNorm norm_{nullptr}, bottom_norm_{nullptr};
  torch::Tensor null_image_, null_image_hidden_, null_text_;

  std::vector<std::vector<torch::nn::AnyModule>> down_blocks_, up_blocks_;
  std::vector<torch::nn::Conv2d> down_, up_;
  std::vector<torch::nn::AnyModule> bottom_;
  SharedKeyAttention bottom_attention_{nullptr};
  torch::nn::AnyModule last_block_;
  torch::nn::Conv2d last_{nullptr};
};

TORCH_MODULE(DiffusionUnet);

}  // namespace torchwatch::suite
