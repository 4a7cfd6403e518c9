// Unsupervised parsing with a neural probabilistic context-free grammar: Kim et al., "Compound
// probabilistic context-free grammars for grammar induction", 2019 (arXiv 1906.10225), after
// harvardnlp/pytorch-struct (Rush, 2020, arXiv 2002.00876) as TorchBench runs it: the inside
// algorithm over the log semiring, width by width on a chart, Adam and clipped gradients. Input:
// 200 words a batch, here ten sentences of at most 20, and their lengths. The number of words known
// is that of a corpus which is not at hand; it is set to 5000. 30 terminals, 30 nonterminals,
// vectors of 256. Smoke: sentences of 8 words of 200, 8 terminals, 8 nonterminals, vectors of 32.
// Upstream has no eval.

#include <utility>

#include "runner/suite/workload.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;
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
      inner_.push_back(register_module(std::string("u") + number, linear(width)));
      outer_.push_back(register_module(std::string("v") + number, linear(width)));
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

/// How likely each symbol covers each span, in logarithms: [batch, place, width - 1, symbol], once
/// by the span's first place, once by its last and with the widths in falling order, so that all
/// splits of a span are one slice of each.
class Chart {
 public:
  explicit Chart(Grammar const& grammar)
      : grammar_(grammar),
        length_(grammar.terminals.size(1)),
        nonterminals_(grammar.roots.size(1)),
        symbols_(grammar.rules.size(2)) {
    auto const batch = grammar.terminals.size(0);
    std::vector<std::int64_t> const shape{batch, length_, length_, symbols_};
    by_first_ = torch::full(shape, log_zero, grammar.terminals.options());
    by_last_ = torch::full(shape, log_zero, grammar.terminals.options());
    terminals(by_first_.select(2, 0)).copy_(grammar.terminals);
    terminals(by_last_.select(2, length_ - 1)).copy_(grammar.terminals);
  }

  /// The log probability of each sentence, [batch].
  Tensor inside(std::vector<std::int64_t> const& lengths) {
    for (std::int64_t width = 1; width < length_; ++width)
      add_spans(width);
    std::vector<Tensor> tops;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      auto const sentence = by_first_.select(0, static_cast<std::int64_t>(i));
      tops.push_back(nonterminals(sentence.select(0, 0).select(0, lengths[i] - 1)));
    }
    return torch::logsumexp(torch::stack(tops) + grammar_.roots, -1);
  }

 private:
  Tensor nonterminals(Tensor const& x) const { return x.slice(-1, 0, nonterminals_); }

  Tensor terminals(Tensor const& x) const { return x.slice(-1, nonterminals_, symbols_); }

  /// [..., left symbols] and [..., right symbols] -> [..., 1, left, right]
  static Tensor pairs(Tensor const& left, Tensor const& right) {
    return left.unsqueeze(-2).unsqueeze(-1) + right.unsqueeze(-2).unsqueeze(-2);
  }

  /// All spans of `width` + 1 words, from the narrower ones.
  void add_spans(std::int64_t width) {
    auto const places = length_ - width;
    auto const left = by_first_.slice(1, 0, places);
    auto const right = by_last_.slice(1, width);
    auto const rules = grammar_.rules.unsqueeze(1);

    std::vector<std::int64_t> shape = grammar_.rules.sizes().vec();
    shape.insert(shape.begin() + 1, places);
    auto scores = torch::full(shape, log_zero, rules.options());
    auto const nonterminal_rows = scores.slice(-2, 0, nonterminals_);
    auto const terminal_rows = scores.slice(-2, nonterminals_);
    auto const nonterminal_rules = rules.slice(-2, 0, nonterminals_);
    auto const terminal_rules = rules.slice(-2, nonterminals_);

    auto const splits = torch::logsumexp(
        pairs(nonterminals(left.slice(2, 0, width)), nonterminals(right.slice(2, places))), 2);
    nonterminals(nonterminal_rows).copy_(splits + nonterminals(nonterminal_rules));
    terminals(nonterminal_rows)
        .copy_(pairs(nonterminals(left.select(2, width - 1)),
                     terminals(right.select(2, length_ - 1))) +
               terminals(nonterminal_rules));
    nonterminals(terminal_rows)
        .copy_(pairs(terminals(left.select(2, 0)), nonterminals(right.select(2, places))) +
               nonterminals(terminal_rules));
    if (width == 1) {
      terminals(terminal_rows)
          .copy_(pairs(terminals(left.select(2, 0)), terminals(right.select(2, places))) +
                 terminals(terminal_rules));
    }
    auto const spans = torch::logsumexp(scores.flatten(-2), -1);
    nonterminals(left.select(2, width)).copy_(spans);
    nonterminals(right.select(2, places - 1)).copy_(spans);
  }

  Grammar grammar_;
  std::int64_t length_, nonterminals_, symbols_;
  Tensor by_first_, by_last_;
};

class GrammarInduction final : public Workload {
 public:
  GrammarInduction(Setup const& setup, Sizes const& sizes)
      : network_(sizes),
        optimizer_(network_->parameters(), options()) {
    setup.place(*network_);
    auto const length = setup.batch / sentences;
    words_ = setup.place(torch::randint(sizes.words, {sentences, length}, torch::kLong));
    for (std::int64_t i = 0; i < sentences; ++i)
      lengths_.push_back(length - i % 3);
  }

  void step() override {
    constexpr double longest_gradient = 3;
    optimizer_.zero_grad();
    auto const loss = -Chart(network_->forward(words_)).inside(lengths_).mean();
    loss.backward();
    nn::utils::clip_grad_norm_(network_->parameters(), longest_gradient);
    optimizer_.step();
    loss_ = loss.detach();
  }

  Tensor result() const override { return loss_; }

  std::shared_ptr<nn::Module> network() const override { return network_.ptr(); }

 private:
  static torch::optim::AdamOptions options() {
    return torch::optim::AdamOptions(1e-3).betas({0.75, 0.999});
  }

  NeuralGrammar network_;
  torch::optim::Adam optimizer_;
  Tensor words_;
  std::vector<std::int64_t> lengths_;
  Tensor loss_;
};

}  // namespace

std::unique_ptr<Workload> make_pytorch_struct(Setup const& setup) {
  return std::make_unique<GrammarInduction>(
      setup, setup.pick(Sizes{5000, 30, 30, 256}, Sizes{200, 8, 8, 32}));
}

}  // namespace torchwatch::suite
