#pragma once

/// CLIP: Radford et al., "Learning Transferable Visual Models From Natural Language Supervision",
/// 2021 (arXiv 2103.00020), as openai/CLIP has it; images are seen by a vision transformer. Random
/// weights.

#include <cstdint>

#include <torch/torch.h>

#include "runner/suite/blocks/transformer.h"

namespace torchwatch::suite {

/// Sizes; the defaults are those of ViT-B/32.
struct ClipOptions {
  std::int64_t embedding_width = 512;
  std::int64_t side = 224, patch = 32;
  std::int64_t image_width = 768, image_heads = 12;
  std::int64_t text_width = 512, text_heads = 8;
  std::int64_t depth = 12;
  std::int64_t vocabulary = 49408;  ///< its last word ends a text
  std::int64_t text_length = 77;
};

class ClipImpl : public torch::nn::Module {
 public:
  explicit ClipImpl(ClipOptions const& options);

  /// [batch, 3, height, width], from 0 to 1 -> [batch, embedding width], of length 1.
  torch::Tensor embed_image(torch::Tensor const& images);

  struct Text {
    torch::Tensor embedding;  ///< [batch, embedding width], of length 1
    torch::Tensor words;      ///< [batch, text length, text width], 0 after the end
  };

  /// `text`: [batch, length], of which the first text length words are read.
  Text embed_text(torch::Tensor const& text);

 private:
  void make_image_side();
  void make_text_side();

  ClipOptions options_;
  torch::Tensor mean_, deviation_;
  torch::nn::Conv2d patches_{nullptr};
  torch::Tensor class_, image_positions_, image_projection_;
  torch::nn::LayerNorm image_norm_before_{nullptr}, image_norm_after_{nullptr};
  TransformerStack image_layers_{nullptr};

  torch::nn::Embedding words_{nullptr};
  torch::Tensor text_positions_, text_projection_, text_mask_;
  TransformerStack text_layers_{nullptr};
  torch::nn::LayerNorm text_norm_{nullptr};
};

TORCH_MODULE(Clip);

/// [..., height, width] to `side` x `side` by cubic interpolation that averages what it shrinks,
/// operator by operator as assafshocher/ResizeRight has it.
torch::Tensor resize_cubic(torch::Tensor const& images, std::int64_t side);

}  // namespace torchwatch::suite
