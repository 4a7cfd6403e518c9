#pragma once

/// The prior of lucidrains/DALLE2-pytorch 1.10.5: diffusion that finds a CLIP image embedding for a
/// text.

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/blocks/clip.h"
#include "runner/suite/blocks/diffusion.h"

namespace torchwatch::suite {

struct DiffusionPriorOptions {
  std::int64_t width = 512;  ///< width of CLIP's embeddings and words
  std::int64_t depth = 6;
  std::int64_t heads = 8, head_width = 64;
  std::int64_t text_length = 256;
  std::int64_t steps = 1;
  double kept = 0.8;  ///< probability that training looks at a text, and at a noisy image
};

class DiffusionPriorImpl : public torch::nn::Module {
 public:
  explicit DiffusionPriorImpl(DiffusionPriorOptions const& options);

  /// Mean square error of the found embeddings. `images`: [batch, width], embeddings.
  torch::Tensor loss(torch::Tensor const& images, ClipImpl::Text const& text);

  /// An image embedding for each text, [batch, width].
  torch::Tensor sample(ClipImpl::Text const& text);

 private:
  /// The embedding without noise; looks at texts and images with probability `kept`.
  torch::Tensor predict(torch::Tensor const& noisy,
                        torch::Tensor const& times,
                        ClipImpl::Text const& text,
                        double kept);
  torch::Tensor words_of(ClipImpl::Text const& text, torch::Tensor const& kept);
  torch::Tensor transform(torch::Tensor const& tokens);
  torch::Tensor position_bias(std::int64_t length);

  DiffusionPriorOptions options_;
  NoiseSchedule schedule_;
  torch::nn::Sequential time_embedding_;
  torch::Tensor query_, null_words_, null_text_, null_image_;
  torch::nn::Embedding position_bias_;
  torch::Tensor angles_;
  std::vector<SharedKeyAttention> attentions_;
  std::vector<torch::nn::AnyModule> feeds_;
  GainNorm norm_;
  torch::nn::Linear projection_;
};

TORCH_MODULE(DiffusionPrior);

}  // namespace torchwatch::suite
