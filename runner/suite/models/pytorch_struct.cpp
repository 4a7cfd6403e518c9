// Unsupervised parsing with a neural probabilistic context-free grammar: Kim et al., "Compound
// probabilistic context-free grammars for grammar induction", 2019 (arXiv 1906.10225), after
// harvardnlp/pytorch-struct (Rush, 2020, arXiv 2002.00876) as TorchBench runs it: the inside
// algorithm over the log semiring, width by width on a chart, Adam and clipped gradients. Input:
// 200 words a batch, here ten sentences of at most 20, and their lengths. The number of words known
// is that of a corpus which is not at hand; it is set to 5000. 30 terminals, 30 nonterminals,
// vectors of 256. Smoke: sentences of 8 words of 200, 8 terminals, 8 nonterminals, vectors of 32.
// Upstream has no eval.

#include <string>
#include <utility>
#include <vector>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::pytorch_struct {
namespace {

using torch::Tensor;
using torch::indexing::Ellipsis;
using torch::indexing::None;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr std::int64_t sentences = 10;
constexpr double log_zero = -1e5;

struct Sizes {
  std::int64_t words, terminals, nonterminals, width;
};

/// Log probabilities: of terminals for each word [batch, length, terminals], of rules [batch,
/// nonterminals, symbols, symbols], of roots [batch, nonterminals]. Nonterminals come first among
/// the symbols.
struct Grammar {
  Tensor terminals, rules, roots;
};

/// A linear layer and two residual blocks of two.
class ResidualMlpImpl : public nn::Module {
 public:
  explicit ResidualMlpImpl(std::int64_t width) : input_(register_module("w", linear(width))) {
    for (auto const* number : {"1", "2"}) {
      inner_.emplace_back(register_module(std::string("u") + number, linear(width)));
      outer_.emplace_back(register_module(std::string("v") + number, linear(width)));
    }
  }

  Tensor forward(Tensor const& x) {
    auto y = input_(x);
    for (std::size_t i = 0; i < inner_.size(); ++i)
      y = y + torch::relu(outer_[i](torch::relu(inner_[i](y))));
    return y;
  }

 private:
  static nn::Linear linear(std::int64_t width) { return nn::Linear(width, width); }

  nn::Linear input_;
  std::vector<nn::Linear> inner_, outer_;
};

TORCH_MODULE(ResidualMlp);

class NeuralGrammarImpl : public nn::Module {
 public:
  explicit NeuralGrammarImpl(Sizes const& sizes) {
    auto const symbols = sizes.nonterminals + sizes.terminals;
    words_ = add("word_emb", {sizes.words, sizes.width});
    terminals_ = add("term_emb", {sizes.terminals, sizes.width});
    nonterminals_ = add("nonterm_emb", {sizes.nonterminals, sizes.width});
    children_ = add("nonterm_emb_c", {symbols, symbols, sizes.width});
    roots_ = add("root_emb", {sizes.nonterminals, sizes.width});
    start_ = add("s_emb", {1, sizes.width});
    terminal_mlp_ = register_module("mlp1", ResidualMlp(sizes.width));
    root_mlp_ = register_module("mlp2", ResidualMlp(sizes.width));
    for (auto& parameter : parameters())
      if (parameter.dim() > 1) nn::init::xavier_uniform_(parameter);
  }

  /// `words`: [batch, length].
  Grammar forward(Tensor const& words) {
    return {terminals(words), rules(words.size(0)), roots(words.size(0))};
  }

 private:
  Tensor add(std::string const& name, std::vector<std::int64_t> const& shape) {
    return register_parameter(name, torch::empty(shape));
  }

  Tensor terminals(Tensor const& words) {
    auto const count = terminals_.size(0);
    auto const batch = words.size(0), length = words.size(1);
    auto const scores = torch::einsum("vh,th->tv", {words_, terminal_mlp_(terminals_)});
    auto const all =
        scores.log_softmax(-1).unsqueeze(0).unsqueeze(0).expand({batch, length, count, -1});
    auto const rows = words.unsqueeze(2).expand({batch, length, count}).unsqueeze(3);
    return torch::gather(all, 3, rows).squeeze(3);
  }

  Tensor rules(std::int64_t batch) {
    auto const count = nonterminals_.size(0), symbols = children_.size(0);
    auto const scores = torch::einsum("sh,tuh->stu", {nonterminals_, children_});
    return scores.reshape({count, -1})
        .log_softmax(-1)
        .view({1, count, symbols, symbols})
        .expand({batch, -1, -1, -1});
  }

  Tensor roots(std::int64_t batch) {
    auto const scores = torch::einsum("ah,th->t", {start_, root_mlp_(roots_)});
    return scores.log_softmax(-1).view({1, -1}).expand({batch, -1});
  }

  Tensor words_, terminals_, nonterminals_, children_, roots_, start_;
  ResidualMlp terminal_mlp_{nullptr}, root_mlp_{nullptr};
};

TORCH_MODULE(NeuralGrammar);

/// Sums of products in the logarithmic semiring over the last dimension but one: [..., n, k] and
/// [..., k, m] -> [..., n, m], by way of all n k m products.
Tensor compose(Tensor const& left, Tensor const& right) {
  auto const products = left.unsqueeze(-1) + right.unsqueeze(-3);
  return torch::logsumexp(products.transpose(-2, -1), -1);
}

/// A chart, all log zero, for the log-likelihood that each nonterminal covers each span, [1, batch,
/// place, width - 1, nonterminal]. The first dimension is the semiring's, as upstream's.
Tensor make_chart(Grammar const& grammar) {
  auto const batch = grammar.terminals.size(0), length = grammar.terminals.size(1);
  auto chart =
      torch::zeros({1, batch, length, length, grammar.roots.size(1)}, grammar.rules.options());
  chart.index_put_({Slice()}, torch::tensor(log_zero).view({1, 1, 1, 1, 1}));
  return chart;
}

/// The inside algorithm, width by width. Spans are charted by their first place and, with the
/// widths in falling order, by their last, so that all splits of a span are one slice of each.
class Inside {
 public:
  explicit Inside(Grammar const& grammar)
      : length_(grammar.terminals.size(1)),
        nonterminals_(grammar.roots.size(1)),
        terminals_(grammar.terminals.unsqueeze(0) + 0.0),
        roots_(grammar.roots.unsqueeze(0)),
        by_first_(make_chart(grammar)),
        by_last_(make_chart(grammar)) {
    auto const below = Slice({}, nonterminals_), above = Slice(nonterminals_);
    auto const rules = grammar.rules.unsqueeze(0);
    wide_wide_ = pairs_of(rules, below, below);
    narrow_wide_ = pairs_of(rules, above, below);
    wide_narrow_ = pairs_of(rules, below, above);
    narrow_narrow_ = pairs_of(rules, above, above);
  }

  /// The log probability of each sentence, [batch]. `lengths`: [batch].
  Tensor sum(Tensor const& lengths) {
    for (std::int64_t width = 1; width < length_; ++width)
      add_spans(width);
    auto const whole = by_first_.index({Slice(), Slice(), 0});
    std::vector<Tensor> tops;
    for (auto const& length : lengths.unbind())
      tops.push_back(whole.index({Slice(), static_cast<std::int64_t>(tops.size()), length - 1}));
    auto const top = torch::stack(tops, 1);
    return compose(top.unsqueeze(-2), roots_.unsqueeze(-1)).squeeze(-1).squeeze(-1).squeeze(0);
  }

 private:
  /// Rules whose symbols are those, [1, batch, left right, nonterminals].
  static Tensor pairs_of(Tensor const& rules, Slice const& left, Slice const& right) {
    auto const chosen = rules.index({Ellipsis, left, right}).contiguous();
    return chosen.view({1, chosen.size(1), chosen.size(2), -1}).transpose(-2, -1);
  }

  /// [1, batch, places, left, right] by rules of such pairs -> [1, batch, places, nonterminals]
  Tensor apply(Tensor const& pairs, Tensor const& rules) const {
    return compose(pairs.view({1, pairs.size(1), pairs.size(2), -1}), rules);
  }

  /// All spans of `width` + 1 words, from the narrower ones.
  void add_spans(std::int64_t width) {
    auto const places = length_ - width;
    auto const left = by_first_.index({Slice(), Slice(), Slice({}, places), Slice({}, width)});
    auto const right = by_last_.index({Slice(), Slice(), Slice(width), Slice(places)});
    auto const left_word = terminals_.index({Ellipsis, Slice({}, places), Slice(), None});
    auto const right_word = terminals_.index({Ellipsis, Slice(width), None, Slice()});
    auto const widest = left.index({Ellipsis, -1, Slice()}).unsqueeze(-1);
    auto const narrowest = right.index({Ellipsis, 0, Slice()}).unsqueeze(-2);

    std::vector<Tensor> ways{apply(compose(left.transpose(-2, -1), right), wide_wide_),
                             apply(widest + right_word, wide_narrow_),
                             apply(left_word + narrowest, narrow_wide_)};
    if (width == 1) ways.push_back(apply(left_word + right_word, narrow_narrow_));
    auto const spans = torch::logsumexp(torch::stack(ways, -1), -1);
    by_first_.index_put_({Slice(), Slice(), Slice({}, places), width}, spans);
    by_last_.index_put_({Slice(), Slice(), Slice(width, length_), places - 1}, spans);
  }

  std::int64_t length_, nonterminals_;
  Tensor terminals_, roots_;
  Tensor by_first_, by_last_;
  Tensor wide_wide_, narrow_wide_, wide_narrow_, narrow_narrow_;
};

class GrammarInduction final : public Workload {
 public:
  GrammarInduction(Setup const& setup, Sizes const& sizes)
      : network_(sizes),
        optimizer_(network_->parameters(), options()) {
    setup.place(*network_);
    auto const length = setup.batch / sentences;
    words_ = setup.place(torch::randint(sizes.words, {sentences, length}, torch::kLong));
    lengths_ = setup.place(length - torch::arange(sentences) % 3);
  }

  void step() override {
    constexpr double longest_gradient = 3;
    optimizer_.zero_grad();
    auto const loss = -Inside(network_->forward(words_)).sum(lengths_).mean();
    loss.backward();
    nn::utils::clip_grad_norm_(network_->parameters(), longest_gradient);
    apply_gradients(optimizer_);
    loss_ = loss.detach();
  }

  std::vector<Tensor> results() const override { return {loss_}; }

  std::shared_ptr<nn::Module> network() const override { return network_.ptr(); }

 private:
  static torch::optim::AdamOptions options() {
    return torch::optim::AdamOptions(1e-3).betas({0.75, 0.999});
  }

  NeuralGrammar network_;
  torch::optim::Adam optimizer_;
  Tensor words_, lengths_;
  Tensor loss_;
};

}  // namespace

std::unique_ptr<Workload> make_pytorch_struct(Setup const& setup) {
  return std::make_unique<GrammarInduction>(
      setup, setup.pick(Sizes{5000, 30, 30, 256}, Sizes{200, 8, 8, 32}));
}

}  // namespace torchwatch::suite::pytorch_struct
