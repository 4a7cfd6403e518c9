#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <torch/torch.h>

namespace torchwatch::suite {

using Activation = torch::Tensor(torch::Tensor const& input);

/// Makes linear layers from widths[0] to widths[1] and so on, with `between` after each but the
/// last and `after` (if any) at the end. Input [batch, widths.front()], output [batch,
/// widths.back()].
torch::nn::Sequential make_mlp(std::vector<std::int64_t> const& widths,
                               Activation* between,
                               Activation* after = nullptr);

/// Makes a linear layer without bias.
torch::nn::Linear unbiased(std::int64_t in, std::int64_t out);

/// Moves each target towards its source: (1 - rate) * target + rate * source.
void follow(std::vector<torch::Tensor> const& targets,
            std::vector<torch::Tensor> const& sources,
            double rate);

/// A sequence of modules that can be an element of other sequences.
class ChainImpl : public torch::nn::SequentialImpl {
 public:
  torch::Tensor forward(torch::Tensor const& x) { return torch::nn::SequentialImpl::forward(x); }
};

TORCH_MODULE(Chain);

/// Returns random pictures that are about as smooth as real ones, with colours in [0, 1): [batch,
/// channels, height, width].
torch::Tensor draw_pictures(std::int64_t batch,
                            std::int64_t channels,
                            std::int64_t height,
                            std::int64_t width);

/// Returns one module with several networks as children, to list all parameters by name.
std::shared_ptr<torch::nn::Module> join(
    std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>> const& networks);

}  // namespace torchwatch::suite
