// Deep learning recommendation model: Naumov et al., 2019 (arXiv 1906.00091), as TorchBench's dlrm
// runs it: a rectifier at the end too and mean squared error, where facebookresearch/dlrm has
// sigmoid and binary cross entropy. The last bias begins positive, since that rectifier may
// otherwise let nothing through. Input: dense features [batch, 512], per table 100 row numbers a
// sample, clicks [batch, 1]. 8 tables of a million rows of 64. Smoke: tables of 20000 rows of 32,
// 20 row numbers a sample, layers of a quarter of the width.

#include <cmath>
#include <utility>

#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::dlrm {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr std::int64_t tables = 8;
constexpr std::int64_t pairs = (tables + 1) * tables / 2;

struct Sizes {
  std::int64_t rows, width, lookups, dense, hidden;
};

struct Features {
  Tensor dense;              ///< [batch, dense]
  std::vector<Tensor> rows;  ///< per table [batch * lookups]
  Tensor offsets;            ///< [batch]: where each sample's rows begin
  Tensor clicks;             ///< [batch, 1], from 0 to 1
};

void initialise_linear(nn::LinearImpl const& linear) {
  auto const in = static_cast<double>(linear.weight.size(1));
  auto const out = static_cast<double>(linear.weight.size(0));
  nn::init::normal_(linear.weight, 0, std::sqrt(2 / (in + out)));
  nn::init::normal_(linear.bias, 0, std::sqrt(1 / out));
}

class DlrmImpl : public nn::Module {
 public:
  explicit DlrmImpl(Sizes const& sizes)
      : bottom_(register_module(
            "bottom",
            make_mlp({sizes.dense, sizes.dense, sizes.width}, &torch::relu, &torch::relu))),
        top_(register_module(
            "top",
            make_mlp({sizes.width + pairs, sizes.hidden, sizes.hidden, sizes.hidden, 1},
                     &torch::relu,
                     &torch::relu))) {
    auto const lower = torch::tril_indices(tables + 1, tables + 1, -1);
    row_ = register_buffer("row", lower[0].clone());
    column_ = register_buffer("column", lower[1].clone());
    for (std::int64_t table = 0; table < tables; ++table)
      add_table(table, sizes);
    for (auto const& module : modules(false))
      if (auto const* linear = module->as<nn::Linear>()) initialise_linear(*linear);
    torch::NoGradGuard const no_gradients;
    top_->parameters().back().abs_();
  }

  /// The probability of a click, [batch, 1].
  Tensor forward(Features const& features) {
    auto const dense = bottom_->forward(features.dense);
    std::vector<Tensor> vectors{dense};
    for (std::size_t table = 0; table < tables_.size(); ++table)
      vectors.push_back(tables_[table](features.rows[table], features.offsets));
    auto const stacked = torch::cat(vectors, 1).view({dense.size(0), tables + 1, dense.size(1)});
    auto const products = torch::bmm(stacked, torch::transpose(stacked, 1, 2));
    auto const interactions = products.index({Slice(), row_, column_});
    return top_->forward(torch::cat({dense, interactions}, 1));
  }

 private:
  void add_table(std::int64_t table, Sizes const& sizes) {
    auto const bound = std::sqrt(1 / static_cast<double>(sizes.rows));
    auto const weight = torch::empty({sizes.rows, sizes.width}).uniform_(-bound, bound);
    auto options = nn::EmbeddingBagOptions(sizes.rows, sizes.width);
    options.mode(torch::kSum).sparse(true)._weight(weight);
    tables_.emplace_back(
        register_module("table" + std::to_string(table), nn::EmbeddingBag(options)));
  }

  nn::Sequential bottom_;
  nn::Sequential top_;
  Tensor row_, column_;  ///< the lower triangle of the products
  std::vector<nn::EmbeddingBag> tables_;
};

TORCH_MODULE(Dlrm);

Features make_features(Setup const& setup, Sizes const& sizes) {
  Features features;
  features.dense = setup.place(torch::rand({setup.batch, sizes.dense}));
  for (std::int64_t table = 0; table < tables; ++table)
    features.rows.push_back(
        setup.place(torch::randint(sizes.rows, {setup.batch * sizes.lookups}, torch::kLong)));
  features.offsets =
      setup.place(torch::arange(0, setup.batch * sizes.lookups, sizes.lookups, torch::kLong));
  features.clicks = setup.place(torch::rand({setup.batch, 1}));
  return features;
}

}  // namespace

std::unique_ptr<Workload> make_dlrm(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{1000000, 64, 100, 512, 1024}, Sizes{20000, 32, 20, 128, 256});
  Dlrm network(sizes);
  setup.place(*network);
  auto const features = make_features(setup, sizes);

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, features]() mutable {
    return std::vector<Tensor>{network->forward(features)};
  };
  parts.loss = [clicks = features.clicks](auto const& outputs) {
    return torch::mse_loss(outputs[0], clicks);
  };
  parts.optimizer =
      std::make_unique<torch::optim::SGD>(network->parameters(), torch::optim::SGDOptions(0.01));
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::dlrm
