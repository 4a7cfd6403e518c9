// BERT: Devlin et al., 2018 (arXiv 1810.04805), and DistilBERT: Sanh et al., 2019 (arXiv
// 1910.01108), after BertForMaskedLM and DistilBertForMaskedLM of huggingface/transformers as
// TorchBench's hf_Bert, hf_Bert_large and hf_DistilBert run them: no pooler, the head shares the
// table of words. TorchBench's large BERT has the feed-forward width of the base one, 3072. Input:
// words and labels [batch, 512] of 30522. Smoke: 32 of 1000 words, width 64, two or three layers.

#include "runner/suite/blocks/language.h"
#include "runner/suite/blocks/transformer.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::hf_Bert {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr double norm_epsilon = 1e-12;
constexpr double dropout = 0.1;

struct Sizes {
  std::int64_t words, length, width, heads, feed_width, layers;
};

EmbeddingOptions embedding_options(Sizes const& sizes, bool distilled) {
  EmbeddingOptions options;
  options.words = sizes.words;
  options.positions = sizes.length;
  options.segments = distilled ? 0 : 2;
  options.width = sizes.width;
  options.padding_word = 0;
  options.norm_epsilon = norm_epsilon;
  options.dropout = dropout;
  return options;
}

/// As DistilBERT has it. `present`: [batch, length].
Tensor hide_absent(Tensor const& scores, Tensor const& present) {
  auto const absent = (present == 0).view({present.size(0), 1, 1, present.size(1)});
  return scores.masked_fill(absent.expand_as(scores), torch::tensor(hidden_score));
}

TransformerOptions layer_options(Sizes const& sizes, bool distilled) {
  TransformerOptions options;
  options.attention.width = sizes.width;
  options.attention.heads = sizes.heads;
  options.attention.scale_queries = distilled;
  if (distilled) options.attention.masking = &hide_absent;
  options.attention.dropout = dropout;
  options.feed_width = sizes.feed_width;
  options.dropout = dropout;
  options.drop_attended = !distilled;
  options.norm_epsilon = norm_epsilon;
  return options;
}

class BertImpl : public nn::Module {
 public:
  BertImpl(Sizes const& sizes, bool distilled)
      : distilled_(distilled),
        embedding_(
            register_module("embedding", TextEmbedding(embedding_options(sizes, distilled)))),
        encoder_(register_module("encoder",
                                 TransformerStack(layer_options(sizes, distilled), sizes.layers))),
        head_(register_module(
            "head",
            MaskedWordHead(
                sizes.width, embedding_options(sizes, distilled), &gelu, norm_epsilon))) {
    initialise_transformer(*this);
  }

  Tensor forward(Tensor const& words) {
    auto const x = embedding_->forward(words);
    return head_(encoder_(x, mask_for(words, x)), embedding_->table());
  }

 private:
  /// Every word is present, but the reference masks nevertheless.
  Tensor mask_for(Tensor const& words, Tensor const& x) const {
    auto const present = torch::ones(words.sizes(), x.options());
    return distilled_ ? present : padding_mask(present, x);
  }

  bool distilled_;
  TextEmbedding embedding_;
  TransformerStack encoder_;
  MaskedWordHead head_;
};

TORCH_MODULE(Bert);

std::unique_ptr<Workload> make(Setup const& setup, Sizes const& sizes, bool distilled = false) {
  return make_language_model(setup, {sizes.length, sizes.words}, Bert(sizes, distilled));
}

}  // namespace

std::unique_ptr<Workload> make_hf_Bert(Setup const& setup) {
  return make(setup,
              setup.pick(Sizes{30522, 512, 768, 12, 3072, 12}, Sizes{1000, 32, 64, 2, 256, 2}));
}

std::unique_ptr<Workload> make_hf_Bert_large(Setup const& setup) {
  return make(setup,
              setup.pick(Sizes{30522, 512, 1024, 16, 3072, 24}, Sizes{1000, 32, 64, 4, 192, 3}));
}

std::unique_ptr<Workload> make_hf_DistilBert(Setup const& setup) {
  return make(
      setup, setup.pick(Sizes{30522, 512, 768, 12, 3072, 6}, Sizes{1000, 32, 64, 2, 256, 2}), true);
}

}  // namespace torchwatch::suite::hf_Bert
