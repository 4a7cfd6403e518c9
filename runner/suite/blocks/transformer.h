#pragma once

/// Transformers: Vaswani et al., "Attention Is All You Need", 2017 (arXiv 1706.03762), with the
/// choices their successors made. Names of parameters are ours; their number and shapes are those
/// of the reference implementations.

#include <cstdint>
#include <functional>
#include <vector>

#include <torch/torch.h>

namespace torchwatch::suite {

/// A score that leaves no weight, in half precision too.
constexpr double hidden_score = -1e4;

using Masking = torch::Tensor(torch::Tensor const& scores, torch::Tensor const& mask);

/// Adds `mask`; if it is of booleans, hides where it is true.
Masking mask_scores;

struct AttentionOptions {
  std::int64_t width = 0;  ///< width of the input and the output
  std::int64_t heads = 1;
  std::int64_t head_width = 0;  ///< 0: width / heads
  bool bias = true;
  bool fused = false;          ///< one product for query, key and value
  bool scaled = true;          ///< scores divided by the root of the head's width
  bool scale_queries = false;  ///< the queries are divided instead, before the product
  double dropout = 0;          ///< for the attention weights
  Masking* masking = &mask_scores;
};

/// Multi-head scaled dot-product attention, every operator by itself as the reference
/// implementations of 2022 have it.
class AttentionImpl : public torch::nn::Module {
 public:
  explicit AttentionImpl(AttentionOptions const& options);

  /// Attends to itself. `x`: [batch, length, width]. `mask`: for `masking`, whose default wants it
  /// broadcast to the scores, [batch, heads, length, length]; none when undefined.
  torch::Tensor forward(torch::Tensor const& x, torch::Tensor const& mask);

  /// Attends to `memory`, [batch, memory length, width]. Not for fused attention.
  torch::Tensor attend(torch::Tensor const& x,
                       torch::Tensor const& memory,
                       torch::Tensor const& mask);

 private:
  torch::Tensor mix(torch::Tensor const& query,
                    torch::Tensor const& key,
                    torch::Tensor const& value,
                    torch::Tensor const& mask);

  AttentionOptions options_;
  torch::nn::Linear query_{nullptr}, key_{nullptr}, value_{nullptr};
  torch::nn::Linear fused_{nullptr};
  torch::nn::Linear output_{nullptr};
  torch::nn::Dropout dropout_;
};

TORCH_MODULE(Attention);

/// [batch, length, width] -> [batch, heads, length, width / heads], and back.
torch::Tensor split_heads(torch::Tensor const& x, std::int64_t heads);
torch::Tensor merge_heads(torch::Tensor const& x);

/// [1, 1, length, length] to be added to scores: 0 at and below the diagonal, else so low that no
/// later place is looked at.
torch::Tensor causal_mask(std::int64_t length);

/// [batch, 1, 1, length] to be added to scores, so that no place where `present`, [batch, length],
/// is 0 is looked at. Of the type of `like`.
torch::Tensor padding_mask(torch::Tensor const& present, torch::Tensor const& like);

/// [length, width]: sines in the first half of the columns and cosines in the second, of falling
/// frequency; or in turns.
enum class Sinusoid { halves, interleaved };
torch::Tensor sinusoidal_positions(std::int64_t length, std::int64_t width, Sinusoid layout);

torch::Tensor gelu(torch::Tensor const& x);
/// GELU by its tanh approximation, operator by operator as GPT-2 has it ("gelu_new").
torch::Tensor gelu_by_tanh(torch::Tensor const& x);

/// Divides by the root of the mean square and scales: Zhang and Sennrich, "Root Mean Square Layer
/// Normalization", 2019 (arXiv 1910.07467). Takes no mean away and has no bias.
class RmsNormImpl : public torch::nn::Module {
 public:
  RmsNormImpl(std::int64_t width, double epsilon);

  /// `x`: [..., width]. The mean is taken in single precision.
  torch::Tensor forward(torch::Tensor const& x);

 private:
  torch::Tensor weight_;
  double epsilon_;
};

TORCH_MODULE(RmsNorm);

enum class Norm { layer, rms };

struct TransformerOptions {
  AttentionOptions attention;
  std::int64_t feed_width = 0;
  bool feed_bias = true;
  torch::Tensor (*activation)(torch::Tensor const&) = &gelu;
  double dropout = 0;         ///< for each sublayer's output
  bool drop_attended = true;  ///< `dropout` is for attentions too, not for the linear layers alone
  double inner_dropout = 0;   ///< after the activation
  Norm norm = Norm::layer;
  double norm_epsilon = 1e-5;
  bool norm_first = false;  ///< before each sublayer instead of after its sum
  bool cross = false;       ///< has a sublayer that attends to a memory
};

/// One block: self-attention, perhaps attention to a memory, two linear layers; each added to its
/// input and normalised.
class TransformerLayerImpl : public torch::nn::Module {
 public:
  explicit TransformerLayerImpl(TransformerOptions const& options);

  /// With a self-attention of another kind: a module that maps (x, mask) to [batch, length, width].
  TransformerLayerImpl(TransformerOptions const& options, torch::nn::AnyModule self_attention);

  torch::Tensor forward(torch::Tensor const& x, torch::Tensor const& mask);

  /// `mask` as in Attention; `memory_mask` is broadcast to [batch, heads, length, memory length].
  torch::Tensor decode(torch::Tensor const& x,
                       torch::Tensor const& mask,
                       torch::Tensor const& memory,
                       torch::Tensor const& memory_mask);

 private:
  template <class Sublayer>
  torch::Tensor add(torch::Tensor const& x, torch::nn::AnyModule& norm, Sublayer sublayer);

  torch::Tensor drop_attended(torch::Tensor const& x);

  TransformerOptions options_;
  torch::nn::AnyModule attention_;
  torch::nn::AnyModule attention_norm_;
  Attention cross_{nullptr};
  torch::nn::AnyModule cross_norm_;
  torch::nn::Linear up_, down_;
  torch::nn::AnyModule feed_norm_;
  torch::nn::Dropout dropout_, inner_dropout_;
};

TORCH_MODULE(TransformerLayer);

/// Equal blocks, one after another, all with the same masks.
class TransformerStackImpl : public torch::nn::Module {
 public:
  TransformerStackImpl(TransformerOptions const& options, std::int64_t depth);

  torch::Tensor forward(torch::Tensor const& x, torch::Tensor const& mask);

  torch::Tensor decode(torch::Tensor const& x,
                       torch::Tensor const& mask,
                       torch::Tensor const& memory,
                       torch::Tensor const& memory_mask);

 private:
  std::vector<TransformerLayer> layers_;
};

TORCH_MODULE(TransformerStack);

/// Weights of the linear layers and embeddings in `network` normal with that deviation, biases 0, a
/// padding row 0: how BERT and GPT-2 begin. May be called by the network's constructor.
void initialise_transformer(torch::nn::Module& network, double deviation = 0.02);

}  // namespace torchwatch::suite
