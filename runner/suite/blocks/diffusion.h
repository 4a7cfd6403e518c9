#pragma once

/// Parts that diffusion models share, as in lucidrains/DALLE2-pytorch 1.10.5: Gaussian diffusion
/// (Ho et al., 2020, arXiv 2006.11239; Nichol and Dhariwal, 2021, arXiv 2102.09672), and attentions
/// with a learned null key and value that can replace a condition.

#include <cstdint>

#include <torch/torch.h>

namespace torchwatch::suite {

enum class BetaSchedule { cosine, linear };

/// The amount of noise at each time step. `times` are [batch]; all other tensors have the batch
/// first.
class NoiseScheduleImpl : public torch::nn::Module {
 public:
  NoiseScheduleImpl(BetaSchedule kind, std::int64_t steps);

  std::int64_t steps() const { return betas_.size(0); }

  torch::Tensor draw_times(std::int64_t batch) const;

  torch::Tensor add_noise(torch::Tensor const& start,
                          torch::Tensor const& times,
                          torch::Tensor const& noise) const;

  /// Undoes `add_noise`.
  torch::Tensor start_of(torch::Tensor const& noisy,
                         torch::Tensor const& times,
                         torch::Tensor const& noise) const;

  struct Posterior {
    torch::Tensor mean, log_variance;
  };

  /// Returns the posterior of the step before, given the start.
  Posterior posterior(torch::Tensor const& start,
                      torch::Tensor const& noisy,
                      torch::Tensor const& times) const;

  /// The most that a learned variance may be.
  torch::Tensor largest_log_variance(torch::Tensor const& like, torch::Tensor const& times) const;

  /// A draw from the posterior; at time 0 its mean.
  static torch::Tensor draw(Posterior const& posterior, torch::Tensor const& times);

 private:
  torch::Tensor betas_;
  torch::Tensor signal_, noise_;                    ///< shares of the two in what is noisy
  torch::Tensor signal_inverse_, noise_to_signal_;  ///< factors that remove noise
  torch::Tensor log_variance_, start_share_, noisy_share_;
};

TORCH_MODULE(NoiseSchedule);

/// [batch] times -> [batch, width]: sines, then cosines. Of the type of `like`.
torch::Tensor embed_times(torch::Tensor const& times,
                          std::int64_t width,
                          torch::Tensor const& like);

/// [batch] of booleans on the device of `like`, each true with that probability.
torch::Tensor draw_kept(std::int64_t batch, double probability, torch::Tensor const& like);

/// Divided by the length of the last dimension.
torch::Tensor unit_length(torch::Tensor const& x);

/// Layer normalisation with a gain alone, operator by operator.
class GainNormImpl : public torch::nn::Module {
 public:
  /// `stable`: divides by the largest number first.
  explicit GainNormImpl(std::int64_t width, bool stable = false);

  torch::Tensor forward(torch::Tensor const& input);

 private:
  torch::Tensor gain_;
  bool stable_;
};

TORCH_MODULE(GainNorm);

struct NullAttentionOptions {
  std::int64_t width = 0;
  std::int64_t heads = 8;
  std::int64_t head_width = 64;
  std::int64_t context_width = 0;  ///< width of the attended context
  bool cosine = false;             ///< compares directions only
  bool causal = false;
};

/// Self-attention whose heads share keys and values, with one learned key and value more.
class SharedKeyAttentionImpl : public torch::nn::Module {
 public:
  explicit SharedKeyAttentionImpl(NullAttentionOptions const& options);

  /// `input`: [batch, length, width]. `bias`, [heads, length, 1 + length], is added to the scores;
  /// queries and keys are turned by `angles`, [length, rotated width]; none where undefined.
  torch::Tensor forward(torch::Tensor const& input,
                        torch::Tensor const& bias,
                        torch::Tensor const& angles);

 private:
  NullAttentionOptions options_;
  double scale_;
  GainNorm norm_;
  torch::Tensor null_;  ///< key and value
  torch::nn::Linear query_, key_value_, output_;
  GainNorm output_norm_;
};

TORCH_MODULE(SharedKeyAttention);

/// Attends to a context, to which a learned key and value are added.
class ContextAttentionImpl : public torch::nn::Module {
 public:
  explicit ContextAttentionImpl(NullAttentionOptions const& options);

  /// `input`: [batch, length, width], `context`: [batch, context length, context width].
  torch::Tensor forward(torch::Tensor const& input, torch::Tensor const& context);

 private:
  NullAttentionOptions options_;
  GainNorm norm_;
  torch::Tensor null_;  ///< key and value
  torch::nn::Linear query_, key_value_, output_;
  GainNorm output_norm_;
};

TORCH_MODULE(ContextAttention);

}  // namespace torchwatch::suite
