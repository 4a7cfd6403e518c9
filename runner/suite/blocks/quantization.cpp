#include "runner/suite/blocks/quantization.h"

#include <limits>

#include <ATen/core/dispatch/Dispatcher.h>

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

/// The share of a new range in the moving average of ranges.
constexpr double averaging = 0.01;

constexpr std::int64_t highest_activation = 127;
constexpr double smallest_scale = std::numeric_limits<float>::epsilon();

nn::BatchNorm2d norm_of(ConvNorm const& layer) {
  auto norm = std::dynamic_pointer_cast<nn::BatchNorm2dImpl>(layer.norm.ptr());
  TORCH_CHECK(norm, "only batch normalisation can be folded into a convolution");
  return nn::BatchNorm2d(std::move(norm));
}

/// The factor by which normalisation multiplies each channel in evaluation.
Tensor channel_scale(nn::BatchNorm2d const& norm) {
  return norm->weight / torch::sqrt(norm->running_var + norm->options.eps());
}

std::vector<std::int64_t> values_of(torch::ExpandingArray<2> const& pair) {
  return {pair->begin(), pair->end()};
}

std::vector<std::int64_t> padding_of(Conv const& conv) {
  using std::get;  // LibTorch's own variant brings another by its argument
  return values_of(get<torch::ExpandingArray<2>>(conv->options.padding()));
}

/// Calls an operator that has no C++ function.
c10::IValue call(c10::OperatorHandle const& operation, std::vector<c10::IValue> arguments) {
  operation.callBoxed(arguments);
  return arguments.front();
}

c10::OperatorHandle find(char const* name, char const* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

/// Computes a network in floating point and notes what is to be quantized.
class Noting final : public Arithmetic {
 public:
  Noting() { note(); }

  Tensor convolve(ConvNorm& layer, Tensor const& x) override {
    note();
    noted_.convolutions.emplace_back(layer, FakeQuantize(layer.conv->options.out_channels()));
    return Arithmetic::convolve(layer, x);
  }

  Tensor add(Tensor const& x, Tensor const& y) override {
    note();
    return Arithmetic::add(x, y);
  }

  Tensor add_relu(Tensor x, Tensor const& y) override {
    note();
    return Arithmetic::add_relu(std::move(x), y);
  }

  Tensor drop(nn::Dropout& dropout, Tensor const& x) override {
    note();
    return Arithmetic::drop(dropout, x);
  }

  Tensor connect(nn::Linear& linear, Tensor const& x) override {
    note();
    noted_.linears.emplace_back(linear, FakeQuantize(linear->options.out_features()));
    return Arithmetic::connect(linear, x);
  }

  Quantizers const& noted() const { return noted_; }

 private:
  void note() { noted_.activations.emplace_back(0); }

  Quantizers noted_;
};

/// One pass with fake quantization.
class Faking final : public Arithmetic {
 public:
  explicit Faking(Quantizers& quantizers) : quantizers_(quantizers) {}

  Tensor enter(Tensor const& images) { return next(images); }

  Tensor convolve(ConvNorm& layer, Tensor const& x) override {
    auto norm = norm_of(layer);
    auto const& options = layer.conv->options;
    auto const scale = channel_scale(norm);
    auto const folded = layer.conv->weight * scale.reshape({-1, 1, 1, 1});
    auto const weight = quantizers_.convolutions[convolution_++].second(folded);
    auto const no_bias = torch::zeros(options.out_channels(), x.options());
    auto const product = torch::conv2d(x,
                                       weight,
                                       no_bias,
                                       options.stride(),
                                       padding_of(layer.conv),
                                       options.dilation(),
                                       options.groups());
    auto const normed = norm(product / scale.reshape({1, -1, 1, 1}));
    if (layer.activation == relu_in_place) return next(normed.relu());
    return layer.activation == nullptr ? next(normed) : same(layer.activation(next(normed)));
  }

  Tensor add(Tensor const& x, Tensor const& y) override { return next(x + y); }

  Tensor add_relu(Tensor x, Tensor const& y) override { return next((x + y).relu_()); }

  Tensor max_pool(Tensor const& x) override { return same(Arithmetic::max_pool(x)); }

  Tensor average(Tensor const& x) override {
    return same(same(torch::adaptive_avg_pool2d(x, {1, 1})).flatten(1));
  }

  Tensor drop(nn::Dropout& dropout, Tensor const& x) override { return next(dropout(x)); }

  Tensor connect(nn::Linear& linear, Tensor const& x) override {
    auto const weight = quantizers_.linears[linear_++].second(linear->weight);
    return next(torch::linear(x, weight, linear->bias));
  }

 private:
  Tensor next(Tensor const& x) { return quantizers_.activations[activation_++](x); }

  /// At the range of the activations before, which operators that only choose or average keep.
  Tensor same(Tensor const& x) { return quantizers_.activations[activation_ - 1](x); }

  Quantizers& quantizers_;
  std::size_t activation_ = 0, convolution_ = 0, linear_ = 0;
};

c10::IValue pack(ConvNorm const& layer, FakeQuantize const& quantizer) {
  static auto const prepack = find("quantized::conv2d_prepack");
  auto const norm = norm_of(layer);
  auto const rate = torch::rsqrt(norm->running_var + norm->options.eps());
  auto const folded = layer.conv->weight * (norm->weight * rate).reshape({-1, 1, 1, 1});
  auto const bias = -norm->running_mean * rate * norm->weight + norm->bias;
  auto const& options = layer.conv->options;
  return call(prepack,
              {quantizer->quantize(folded),
               bias,
               values_of(options.stride()),
               padding_of(layer.conv),
               values_of(options.dilation()),
               options.groups()});
}

c10::IValue pack(nn::Linear const& linear, FakeQuantize const& quantizer) {
  static auto const prepack = find("quantized::linear_prepack");
  return call(prepack, {quantizer->quantize(linear->weight), linear->bias});
}

/// One pass in integers. Pooling comes with its LibTorch operators, which know integers.
class Integers final : public Arithmetic {
 public:
  Integers(std::vector<FakeQuantizeImpl::Range> const& activations,
           std::vector<c10::IValue> const& convolutions,
           std::vector<c10::IValue> const& linears)
      : activations_(activations),
        convolutions_(convolutions),
        linears_(linears) {}

  Tensor convolve(ConvNorm& layer, Tensor const& x) override {
    static auto const plain = find("quantized::conv2d", "new");
    static auto const with_relu = find("quantized::conv2d_relu", "new");
    bool const fused = layer.activation == relu_in_place;
    auto const out = ranged(fused ? with_relu : plain, x, convolutions_[convolution_++]);
    return fused || layer.activation == nullptr ? out : layer.activation(out);
  }

  Tensor add(Tensor const& x, Tensor const& y) override {
    static auto const sum = find("quantized::add");
    return ranged(sum, x, y);
  }

  Tensor add_relu(Tensor x, Tensor const& y) override {
    static auto const sum = find("quantized::add_relu");
    return ranged(sum, x, y);
  }

  Tensor drop(nn::Dropout& /*dropout*/, Tensor const& x) override {
    next();
    return x;
  }

  Tensor connect(nn::Linear& /*linear*/, Tensor const& x) override {
    static auto const product = find("quantized::linear");
    return ranged(product, x, linears_[linear_++]);
  }

 private:
  FakeQuantizeImpl::Range next() { return activations_[activation_++]; }

  Tensor ranged(c10::OperatorHandle const& operation, Tensor const& x, c10::IValue const& other) {
    auto const [scale, zero_point] = next();
    return call(operation, {x, other, scale, zero_point}).toTensor();
  }

  std::vector<FakeQuantizeImpl::Range> const& activations_;
  std::vector<c10::IValue> const& convolutions_;
  std::vector<c10::IValue> const& linears_;
  std::size_t activation_ = 1;  // the images come first and are quantized already
  std::size_t convolution_ = 0, linear_ = 0;
};

void adopt_children(nn::Module& parent, nn::Module const& other) {
  for (auto const& child : other.named_children())
    parent.register_module(child.key(), child.value());
}

}  // namespace

FakeQuantizeImpl::FakeQuantizeImpl(std::int64_t channels) : is_of_weights_(channels > 0) {
  auto const shape =
      is_of_weights_ ? std::vector<std::int64_t>{channels} : std::vector<std::int64_t>{};
  auto const infinity = std::numeric_limits<float>::infinity();
  auto const many = is_of_weights_ ? channels : 1;
  quantizes_ = register_buffer("fake_quant_enabled", torch::ones(1, torch::kLong));
  observes_ = register_buffer("observer_enabled", torch::ones(1, torch::kLong));
  scale_ = register_buffer("scale", torch::ones(many));
  zero_point_ = register_buffer("zero_point", torch::zeros(many, torch::kInt));
  min_ = register_buffer("min_val", torch::full(shape, infinity));
  max_ = register_buffer("max_val", torch::full(shape, -infinity));
}

Tensor FakeQuantizeImpl::forward(Tensor const& x) {
  struct Form {
    std::int64_t low, high, axis;
  };

  auto const [low, high, axis] =
      is_of_weights_ ? Form{-128, 127, 0} : Form{0, highest_activation, -1};
  bool const by_channel = is_of_weights_;
  bool const symmetric = is_of_weights_;
  return torch::fused_moving_avg_obs_fake_quant(x,
                                                observes_,
                                                quantizes_,
                                                min_,
                                                max_,
                                                scale_,
                                                zero_point_,
                                                averaging,
                                                low,
                                                high,
                                                axis,
                                                by_channel,
                                                symmetric);
}

FakeQuantizeImpl::Range FakeQuantizeImpl::range() const {
  auto const low = torch::clamp_max(min_, 0);
  auto const high = torch::clamp_min(max_, 0);
  auto const scale = ((high - low) / highest_activation).clamp_min(smallest_scale);
  auto const zero_point = (-torch::round(low / scale)).clamp(0, highest_activation);
  return {scale.item<double>(), zero_point.item<std::int64_t>()};
}

Tensor FakeQuantizeImpl::quantize(Tensor const& weight) const {
  // Fake quantization shifts channels of one sign, packed operators want none shifted
  auto const scale = (torch::max(-min_, max_) / 127.5).clamp_min(smallest_scale);
  auto const zero_point = torch::zeros_like(scale, torch::kLong);
  return torch::quantize_per_channel(weight, scale, zero_point, 0, torch::kQInt8);
}

FakeQuantizedImpl::FakeQuantizedImpl(nn::Module const& network, Computation compute)
    : compute_(std::move(compute)) {
  adopt_children(*this, network);
  torch::NoGradGuard const no_gradients;
  Noting noting;
  eval();
  compute_(torch::zeros({1, 3, 32, 32}), noting);
  train();
  quantizers_ = noting.noted();
  auto const list = register_module("quantizers", nn::ModuleList());
  for (auto const& each : quantizers_.activations)
    list->push_back(each);
  for (auto const& each : quantizers_.convolutions)
    list->push_back(each.second);
  for (auto const& each : quantizers_.linears)
    list->push_back(each.second);
}

Tensor FakeQuantizedImpl::forward(Tensor const& images) {
  Faking faking(quantizers_);
  return compute_(faking.enter(images), faking);
}

QuantizedImpl::QuantizedImpl(FakeQuantized trained) : trained_(std::move(trained)) {
  adopt_children(*this, *trained_);
  torch::NoGradGuard const no_gradients;
  auto const& quantizers = trained_->quantizers();
  for (auto const& each : quantizers.activations)
    activations_.push_back(each->range());
  for (auto const& [layer, quantizer] : quantizers.convolutions)
    convolutions_.push_back(pack(layer, quantizer));
  for (auto const& [linear, quantizer] : quantizers.linears)
    linears_.push_back(pack(linear, quantizer));
}

Tensor QuantizedImpl::forward(Tensor const& images) {
  auto const [scale, zero_point] = activations_.front();
  auto const quantized = torch::quantize_per_tensor(images, scale, zero_point, torch::kQUInt8);
  Integers integers(activations_, convolutions_, linears_);
  return trained_->computation()(quantized, integers).dequantize();
}

std::unique_ptr<Workload> make_quantized_classifier(Setup const& setup,
                                                    Classification options,
                                                    nn::Module const& network,
                                                    Computation compute) {
  options.targets = Targets::drawn;
  FakeQuantized trained(network, std::move(compute));
  if (setup.test == Test::train) return make_classifier(setup, options, trained);

  TORCH_CHECK_NOT_IMPLEMENTED(setup.device.is_cpu(),
                              "LibTorch has integer inference for CPUs alone");
  torch::NoGradGuard const no_gradients;
  trained->eval();
  trained->forward(torch::randn({4, 3, options.side, options.side}));
  return make_classifier(setup, options, Quantized(trained));
}

}  // namespace torchwatch::suite
