#pragma once

/// The networks of "Learning to paint with model-based deep reinforcement learning": Huang, Heng
/// and Zhou, 2019 (arXiv 1903.04411), and the jury that they paint for.

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/workload.h"

namespace torchwatch::suite::painting {

constexpr std::int64_t strokes_per_action = 5;
constexpr std::int64_t stroke_width = 13;  ///< ten numbers for where it runs, three for its colour
constexpr std::int64_t action_width = strokes_per_action * stroke_width;

/// Stroke shapes [n, 10] -> [n, side, side]: 0 where the stroke covers the canvas, 1 elsewhere.
class RendererImpl : public torch::nn::Module {
 public:
  RendererImpl(std::int64_t side, std::int64_t width);

  torch::Tensor forward(torch::Tensor const& shapes);

 private:
  void add(std::int64_t in, std::int64_t out);

  std::int64_t side_;
  torch::nn::Sequential linear_;
  std::vector<torch::nn::Conv2d> convs_;
};

TORCH_MODULE(Renderer);

/// Canvases [batch, 3, side, side] after actions [batch, 65]: strokes one after the other.
torch::Tensor paint(Renderer& renderer,
                    torch::Tensor const& actions,
                    torch::Tensor const& canvases);

/// The actor has batch normalisation and ReLU, the critic weight normalisation and TReLU.
enum class Norm { batch, weight };

/// ResNet-18 without max pooling; every stage halves the picture.
class BackboneImpl : public torch::nn::Module {
 public:
  BackboneImpl(Norm norm, std::int64_t in, std::int64_t width, std::int64_t outputs);

  torch::Tensor forward(torch::Tensor const& pictures);

 private:
  torch::nn::AnyModule conv_, activation_;
  torch::nn::Sequential blocks_;
  torch::nn::Linear linear_;
};

TORCH_MODULE(Backbone);

/// Image and canvas [batch, 6, side, side] -> [batch, 1]: how alike they look.
class DiscriminatorImpl : public torch::nn::Module {
 public:
  explicit DiscriminatorImpl(std::int64_t width);

  torch::Tensor forward(torch::Tensor const& pairs);

 private:
  void add(std::int64_t in, std::int64_t out);

  std::vector<torch::nn::AnyModule> convs_, activations_;
};

TORCH_MODULE(Discriminator);

/// Freezes all parameters of a module.
void freeze(torch::nn::Module& network);

/// Judges how much more a canvas looks like its image after strokes. Pictures are [batch, 3, side,
/// side].
class Jury {
 public:
  Jury(Setup const& setup, std::int64_t width);

  Discriminator const& network() const { return discriminator_; }

  /// [batch, 1]
  torch::Tensor gain(torch::Tensor const& images,
                     torch::Tensor const& before,
                     torch::Tensor const& after);

  /// Trains the discriminator to separate canvases from images (Wasserstein distance with gradient
  /// penalty). Returns its loss.
  torch::Tensor update(torch::Tensor const& images, torch::Tensor const& canvases);

 private:
  Discriminator discriminator_, target_;
  torch::optim::Adam optimizer_;
};

}  // namespace torchwatch::suite::painting
