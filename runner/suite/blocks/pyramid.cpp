#include "runner/suite/blocks/pyramid.h"

#include "runner/suite/layers.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

nn::Conv2d make_lateral(std::int64_t in,
                        std::int64_t out,
                        std::int64_t kernel,
                        std::int64_t stride = 1) {
  nn::Conv2d layer(nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2));
  nn::init::kaiming_uniform_(layer->weight, 1);
  nn::init::zeros_(layer->bias);
  return layer;
}

Tensor enlarge(Tensor const& x, Tensor const& like) {
  return torch::upsample_nearest2d(x, {like.size(2), like.size(3)});
}

}  // namespace

PyramidImpl::PyramidImpl(std::vector<std::int64_t> const& channels,
                         std::int64_t width,
                         PyramidTop top)
    : top_(top) {
  nn::ModuleList inner, outer;
  for (auto const in : channels) {
    inner_.emplace_back(make_lateral(in, width, 1));
    outer_.emplace_back(make_lateral(width, width, 3));
    inner->push_back(inner_.back());
    outer->push_back(outer_.back());
  }
  register_module("inner_blocks", inner);
  register_module("layer_blocks", outer);
  if (top == PyramidTop::subsampled) return;
  p6_ = make_lateral(width, width, 3, 2);
  p7_ = make_lateral(width, width, 3, 2);
  register_module("extra_blocks", join({{"p6", p6_.ptr()}, {"p7", p7_.ptr()}}));
}

std::vector<Tensor> PyramidImpl::forward(std::vector<Tensor> const& features) {
  std::vector<Tensor> outputs(features.size());
  Tensor coarser;
  for (auto i = features.size(); i-- > 0;) {
    auto x = inner_[i]->forward(features[i]);
    if (coarser.defined()) x = x + enlarge(coarser, x);
    outputs[i] = outer_[i]->forward(x);
    coarser = x;
  }
  if (top_ == PyramidTop::subsampled) {
    outputs.push_back(torch::max_pool2d(outputs.back(), 1, 2));
  } else {
    outputs.push_back(p6_(outputs.back()));
    outputs.push_back(p7_(torch::relu(outputs.back())));
  }
  return outputs;
}

}  // namespace torchwatch::suite
