#pragma once

/// The layers of Speech-Transformer: Dong et al., 2018 (ICASSP), after kaituoxu/Speech-Transformer.

#include <cstdint>

#include <torch/torch.h>

namespace torchwatch::suite {

struct SpeechLayerOptions {
  std::int64_t width = 0;
  std::int64_t heads = 1;
  std::int64_t feed_width = 0;
  double dropout = 0;
  bool cross = false;  ///< has a sublayer that attends to a memory
};

/// Heads come before the batch, so that plain batched products do.
class SpeechAttentionImpl : public torch::nn::Module {
 public:
  explicit SpeechAttentionImpl(SpeechLayerOptions const& options);

  /// `x`: [batch, length, width]; `memory`: [batch, memory length, width]. `mask`: [batch, length,
  /// memory length], not 0 where must not be looked at; none when undefined.
  torch::Tensor forward(torch::Tensor const& x,
                        torch::Tensor const& memory,
                        torch::Tensor const& mask);

 private:
  torch::nn::Linear linear(char const* name, std::int64_t width);
  torch::Tensor split(torch::Tensor const& x) const;

  std::int64_t heads_;
  torch::nn::Linear query_, key_, value_, output_;
  torch::nn::Dropout dropout_;
};

TORCH_MODULE(SpeechAttention);

/// Adds a sublayer's output to its input and normalises; padding becomes 0 again.
class SpeechSumImpl : public torch::nn::Module {
 public:
  explicit SpeechSumImpl(SpeechLayerOptions const& options);

  /// `present`: [batch, length, 1], 0 for padding.
  torch::Tensor forward(torch::Tensor const& x,
                        torch::Tensor const& sublayer,
                        torch::Tensor const& present);

 private:
  torch::nn::LayerNorm norm_;
  torch::nn::Dropout dropout_;
};

TORCH_MODULE(SpeechSum);

/// The masks of a layer, as SpeechAttention takes them.
struct SpeechMasks {
  torch::Tensor own;
  torch::Tensor memory;
};

/// Self-attention, perhaps attention to a memory, two linear layers.
class SpeechLayerImpl : public torch::nn::Module {
 public:
  explicit SpeechLayerImpl(SpeechLayerOptions const& options);

  /// `present` as SpeechSum takes it. `memory` is for those with `cross` alone.
  torch::Tensor forward(torch::Tensor const& input,
                        torch::Tensor const& present,
                        torch::Tensor const& memory,
                        SpeechMasks const& masks);

 private:
  SpeechAttention attention_;
  SpeechSum attention_sum_;
  SpeechAttention cross_{nullptr};
  SpeechSum cross_sum_{nullptr};
  torch::nn::Linear up_, down_;
  SpeechSum feed_sum_;
};

TORCH_MODULE(SpeechLayer);

}  // namespace torchwatch::suite
