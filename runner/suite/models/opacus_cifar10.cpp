// Differentially private training: Abadi et al., "Deep learning with differential privacy", 2016
// (arXiv 1607.00133), of ResNet-18 with group normalisation, as TorchBench's opacus_cifar10
// (Yousefpour et al., 2021, arXiv 2109.12298) and functorch_dp_cifar10 run it: a gradient for each
// sample, all clipped to a length of 1, summed, noise added, Adam. Upstream takes these gradients
// with module hooks and with vmap; here each sample has a view of its own of each parameter, and
// convolutions take the gradient as upstream does: by unfolding (Opacus) or with a group a sample
// (functorch). Input: images [batch, 3, 32, 32] of 10 classes; functorch_dp_cifar10 keeps 1000
// outputs. Smoke: an eighth of the width, and so little noise that a small batch learns.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/blocks/resnet.h"
#include "runner/suite/classification.h"

namespace torchwatch::suite::opacus_cifar10 {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t side = 32;
constexpr std::int64_t classes = 10;
constexpr double longest_gradient = 1;

std::int64_t norm_groups(std::int64_t channels) {
  return std::min<std::int64_t>(32, channels);
}

nn::AnyModule group_norm(std::int64_t channels) {
  return nn::AnyModule(nn::GroupNorm(nn::GroupNormOptions(norm_groups(channels), channels)));
}

/// The way to compute a convolution's gradients for each sample.
enum class Method { unfolded, grouped };

/// A convolution with as many equal kernels as samples, [batch, out, in, side, side], of which only
/// the gradients differ.
class PrivateConvolution : public torch::autograd::Function<PrivateConvolution> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context,
                        Tensor const& x,
                        Tensor const& kernels,
                        std::int64_t stride,
                        Method method) {
    context->save_for_backward({x, kernels});
    context->saved_data["stride"] = stride;
    context->saved_data["grouped"] = method == Method::grouped;
    return torch::conv2d(x, kernels[0], {}, stride, kernels.size(-1) / 2);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list const& gradients) {
    auto const saved = context->get_saved_variables();
    auto const stride = context->saved_data["stride"].toInt();
    auto const& x = saved[0];
    auto const& kernels = saved[1];
    Tensor input_gradient;
    if (context->needs_input_grad(0))
      input_gradient = differentiate(gradients[0], x, kernels[0], {stride, 1}, true);
    auto const kernel_gradients = context->saved_data["grouped"].toBool()
                                      ? by_groups(gradients[0], x, kernels, stride)
                                      : by_unfolding(gradients[0], x, kernels, stride);
    return {input_gradient, kernel_gradients, Tensor(), Tensor()};
  }

 private:
  struct Layout {
    std::int64_t stride, groups;
  };

  /// The gradient by the input or by the kernel.
  static Tensor differentiate(Tensor const& gradient,
                              Tensor const& x,
                              Tensor const& kernel,
                              Layout const& layout,
                              bool by_input) {
    auto const [stride, groups] = layout;
    auto const padding = kernel.size(-1) / 2;
    auto const all = at::convolution_backward(gradient,
                                              x,
                                              kernel,
                                              {},
                                              {stride, stride},
                                              {padding, padding},
                                              {1, 1},
                                              false,
                                              {0, 0},
                                              groups,
                                              {by_input, !by_input, false});
    return by_input ? std::get<0>(all) : std::get<1>(all);
  }

  static Tensor by_groups(Tensor const& gradient,
                          Tensor const& x,
                          Tensor const& kernels,
                          std::int64_t stride) {
    auto const merge = [](Tensor const& each) {
      return each.flatten(0, 1).unsqueeze(0);
    };
    auto const result =
        differentiate(merge(gradient), merge(x), kernels.flatten(0, 1), {stride, x.size(0)}, false);
    return result.view(kernels.sizes());
  }

  static Tensor by_unfolding(Tensor const& gradient,
                             Tensor const& x,
                             Tensor const& kernels,
                             std::int64_t stride) {
    auto const size = kernels.size(-1);
    auto const options = nn::functional::UnfoldFuncOptions({size, size})
                             .padding({size / 2, size / 2})
                             .stride({stride, stride});
    auto const patches = nn::functional::unfold(x, options);
    auto const backward = gradient.reshape({x.size(0), -1, patches.size(-1)});
    auto const result = torch::einsum("noq,npq->nop", {backward, patches});
    constexpr std::int64_t groups = 1;  // of which upstream keeps those that belong together
    auto const all = result.view({x.size(0), groups, -1, groups, x.size(1) / groups, size * size});
    return torch::einsum("ngrg...->ngr...", {all}).contiguous().view(kernels.sizes());
  }
};

/// ResNet-18 over parameters that each sample has for itself, by their names in ResNet.
class PrivateResNet {
 public:
  PrivateResNet(ResNet const& network, std::int64_t batch, Method method) : method_(method) {
    for (auto const& parameter : network->named_parameters()) {
      std::vector<std::int64_t> shape = parameter->sizes().vec();
      shape.insert(shape.begin(), batch);
      auto const each = parameter->detach().unsqueeze(0).expand(shape).requires_grad_();
      all_.push_back(each);
      named_.emplace(parameter.key(), each);
    }
  }

  /// Each with the samples as first dimension, in the network's order.
  std::vector<Tensor> const& parameters() const { return all_; }

  Tensor forward(Tensor const& images) const {
    auto x = torch::relu(normalise(convolve(images, "conv1", 2), "bn1"));
    x = torch::max_pool2d(x, 3, 2, 1);
    for (std::int64_t stage = 1; stage <= 4; ++stage) {
      auto const name = "layer" + std::to_string(stage);
      x = block(x, name + ".0.", stage == 1 ? 1 : 2);
      x = block(x, name + ".1.", 1);
    }
    x = torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    return torch::einsum("ni,noi->no", {x, named_.at("fc.weight")}) + named_.at("fc.bias");
  }

 private:
  Tensor convolve(Tensor const& x, std::string const& name, std::int64_t stride) const {
    return PrivateConvolution::apply(x, named_.at(name + ".weight"), stride, method_);
  }

  Tensor normalise(Tensor const& x, std::string const& name) const {
    auto const spread = [this](std::string const& parameter) {
      return named_.at(parameter).unsqueeze(-1).unsqueeze(-1);
    };
    auto const plain = torch::group_norm(x, norm_groups(x.size(1)));
    return plain * spread(name + ".weight") + spread(name + ".bias");
  }

  Tensor block(Tensor const& input, std::string const& name, std::int64_t stride) const {
    auto x = torch::relu(normalise(convolve(input, name + "conv1", stride), name + "bn1"));
    x = normalise(convolve(x, name + "conv2", 1), name + "bn2");
    if (!named_.contains(name + "downsample.0.weight")) return torch::relu(x + input);
    auto const shortcut = convolve(input, name + "downsample.0", stride);
    return torch::relu(x + normalise(shortcut, name + "downsample.1"));
  }

  Method method_;
  std::vector<Tensor> all_;
  std::map<std::string, Tensor> named_;
};

/// The length of each sample's gradient, [batch].
Tensor lengths(std::vector<Tensor> const& gradients) {
  std::vector<Tensor> each;
  for (auto const& gradient : gradients)
    each.push_back(gradient.flatten(1).norm(2, -1));
  return torch::stack(each).norm(2, 0);
}

class PrivateTraining final : public Workload {
 public:
  PrivateTraining(Setup const& setup, ResNet network, Method method)
      : network_(std::move(network)),
        method_(method),
        noise_(setup.pick(1.0, 0.001)),
        images_(setup.place(torch::randn({setup.batch, 3, side, side}))),
        labels_(setup.place(torch::randint(classes, {setup.batch}, torch::kLong))),
        optimizer_(make_adam(*network_)) {
    network_->train();
  }

  void step() override {
    optimizer_->zero_grad();
    PrivateResNet const each(network_, images_.size(0), method_);
    auto const logits = each.forward(images_);
    auto const loss = nn::functional::cross_entropy(
        logits, labels_, nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum));
    set_gradients(torch::autograd::grad({loss}, each.parameters()));
    apply_gradients(*optimizer_);
    loss_ = loss.detach() / images_.size(0);
  }

  std::vector<Tensor> results() const override { return {loss_}; }

  std::shared_ptr<nn::Module> network() const override { return network_.ptr(); }

 private:
  void set_gradients(std::vector<Tensor> const& gradients) {
    auto const inverse = (lengths(gradients) + 1e-6).reciprocal();
    auto const factors = (inverse * longest_gradient).clamp(c10::nullopt, 1);
    auto parameters = network_->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      auto const sum = torch::einsum("i,i...", {factors, gradients[i]});
      auto const noise =
          torch::normal(0, longest_gradient * noise_, sum.sizes(), c10::nullopt, sum.options());
      parameters[i].mutable_grad() = (sum + noise) / images_.size(0);
    }
  }

  ResNet network_;
  Method method_;
  double noise_;
  Tensor images_, labels_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  Tensor loss_;
};

std::unique_ptr<Workload> make_private(Setup const& setup, std::int64_t outputs, Method method) {
  ResNetOptions options;
  options.depths = {2, 2, 2, 2};
  options.bottleneck = false;
  options.width = setup.pick(64, 8);
  options.classes = outputs;
  options.norm = group_norm;
  ResNet network(options);
  if (setup.test == Test::eval) return make_classifier(setup, {side, outputs}, network);
  setup.place(*network);
  return std::make_unique<PrivateTraining>(setup, std::move(network), method);
}

}  // namespace

std::unique_ptr<Workload> make_opacus_cifar10(Setup const& setup) {
  return make_private(setup, classes, Method::unfolded);
}

std::unique_ptr<Workload> make_functorch_dp_cifar10(Setup const& setup) {
  return make_private(setup, 1000, Method::grouped);
}

}  // namespace torchwatch::suite::opacus_cifar10
