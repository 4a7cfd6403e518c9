// XLM-R large: Conneau et al., 2019 (arXiv 1911.02116), after fairseq's XLMRModel as FAMBench and
// TorchBench's fambench_xlmr run it: features of all words, no head (its parameters are there, but
// idle). Input: words [batch, 64] of 250000, none of them padding. Inference takes the fused
// operator of each layer over nested tensors, but not in mixed precision, which that operator
// cannot. Train: cross entropy of the features with random numbers [batch, 64, 1024], whose second
// dimension is taken for the classes, as upstream has it. Smoke: 16 of 1000 words, width 64, two
// layers, a higher rate.

#include <string>
#include <utility>
#include <vector>

#include "runner/suite/blocks/language.h"
#include "runner/suite/blocks/transformer.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::fambench_xlmr {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr double norm_epsilon = 1e-5;
constexpr double dropout = 0.1;
constexpr std::int64_t padding_word = 1;

struct Sizes {
  std::int64_t words, drawn_words, longest, length, width, heads, layers;
};

/// Found in single precision.
Tensor precise_gelu(Tensor const& x) {
  return torch::gelu(x.to(torch::kFloat)).type_as(x);
}

EmbeddingOptions embedding_options(Sizes const& sizes) {
  EmbeddingOptions options;
  options.words = sizes.words;
  options.positions = sizes.longest;
  options.first_position = padding_word + 1;
  options.width = sizes.width;
  options.padding_word = padding_word;
  options.norm_epsilon = norm_epsilon;
  options.dropout = dropout;
  return options;
}

TransformerOptions layer_options(Sizes const& sizes) {
  TransformerOptions options;
  options.attention.width = sizes.width;
  options.attention.heads = sizes.heads;
  options.attention.scale_queries = true;
  options.attention.dropout = dropout;
  options.feed_width = 4 * sizes.width;
  options.activation = &precise_gelu;
  options.dropout = dropout;
  options.norm_epsilon = norm_epsilon;
  return options;
}

/// A trained layer as one operator. Query, key and value are joined once, as upstream does when it
/// loads them.
class FusedLayer {
 public:
  explicit FusedLayer(nn::Module const& layer)
      : parts_(layer.named_parameters()),
        query_key_value_weight_(join("weight")),
        query_key_value_bias_(join("bias")) {}

  Tensor operator()(Tensor const& x, Sizes const& sizes) const {
    constexpr bool use_gelu = true;
    constexpr bool norm_first = false;
    return torch::_transformer_encoder_layer_fwd(x,
                                                 sizes.width,
                                                 sizes.heads,
                                                 query_key_value_weight_,
                                                 query_key_value_bias_,
                                                 parts_["attention.output.weight"],
                                                 parts_["attention.output.bias"],
                                                 use_gelu,
                                                 norm_first,
                                                 norm_epsilon,
                                                 parts_["attention_norm.weight"],
                                                 parts_["attention_norm.bias"],
                                                 parts_["feed_norm.weight"],
                                                 parts_["feed_norm.bias"],
                                                 parts_["up.weight"],
                                                 parts_["up.bias"],
                                                 parts_["down.weight"],
                                                 parts_["down.bias"]);
  }

 private:
  Tensor join(std::string const& kind) const {
    return torch::cat({parts_["attention.query." + kind],
                       parts_["attention.key." + kind],
                       parts_["attention.value." + kind]});
  }

  torch::OrderedDict<std::string, Tensor> parts_;
  Tensor query_key_value_weight_, query_key_value_bias_;
};

class XlmrImpl : public nn::Module {
 public:
  XlmrImpl(Sizes const& sizes, bool fused)
      : sizes_(sizes),
        fused_(fused),
        embedding_(register_module("embedding", TextEmbedding(embedding_options(sizes)))),
        encoder_(register_module("encoder", TransformerStack(layer_options(sizes), sizes.layers))),
        head_(register_module(
            "head", MaskedWordHead(sizes.width, embedding_options(sizes), &gelu, norm_epsilon))) {
    initialise_transformer(*this);
  }

  /// Words [batch, length] -> features [batch, length, width].
  Tensor forward(Tensor const& words) {
    auto const absent = words.eq(padding_word);
    auto const any_absent = absent.any();
    auto x = embedding_->forward(words, {}, places_of(words));
    x = x * torch::rsub(absent.unsqueeze(-1).type_as(x) * any_absent.type_as(x), 1);
    auto const present = absent.logical_not();
    if (fused_ && torch::_nested_tensor_from_mask_left_aligned(x, present))
      return infer(x, present);
    return encoder_(x, any_absent.is_nonzero() ? padding_mask(present, x) : Tensor());
  }

 private:
  /// Places are counted without padding.
  static Tensor places_of(Tensor const& words) {
    auto const present = words.ne(padding_word).to(torch::kInt);
    return (present.cumsum(1).type_as(present) * present).to(torch::kLong) + padding_word;
  }

  /// `present` leads each row.
  Tensor infer(Tensor const& x, Tensor const& present) {
    if (fused_layers_.empty())
      for (auto const& layer : encoder_->children())
        fused_layers_.emplace_back(*layer);
    auto y = torch::_nested_tensor_from_mask(x, present);
    for (auto const& layer : fused_layers_)
      y = layer(y, sizes_);
    return y.to_padded_tensor(0);
  }

  Sizes sizes_;
  bool fused_;
  TextEmbedding embedding_;
  TransformerStack encoder_;
  MaskedWordHead head_;
  std::vector<FusedLayer> fused_layers_;
};

TORCH_MODULE(Xlmr);

}  // namespace

std::unique_ptr<Workload> make_fambench_xlmr(Setup const& setup) {
  auto const sizes =
      setup.pick(Sizes{250002, 250000, 512, 64, 1024, 16, 24}, Sizes{1000, 1000, 16, 16, 64, 2, 2});
  Xlmr network(sizes, setup.test == Test::eval && setup.precision != Precision::amp);
  setup.place(*network);
  auto const words = setup.place(torch::randint(
      padding_word + 1, sizes.drawn_words, {setup.batch, sizes.length}, torch::kInt));

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, words]() mutable {
    return std::vector<Tensor>{network->forward(words)};
  };
  if (setup.test == Test::train) {
    auto const truth = setup.place(torch::rand({setup.batch, sizes.length, sizes.width}));
    parts.loss = [truth](auto const& outputs) {
      return nn::functional::cross_entropy(outputs[0], truth);
    };
    parts.optimizer = make_sgd(*network, setup.pick(0.01, 0.1));
  }
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::fambench_xlmr
