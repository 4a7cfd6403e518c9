// Momentum contrast for unsupervised visual representation learning: He et al., 2019 (arXiv
// 1911.05722), its first version as TorchBench runs facebookresearch/moco: two ResNet-50 whose last
// layer has 128 outputs, a queue of 32000 keys. Train: the key encoder follows the query encoder,
// then InfoNCE over each image's key and the queue, SGD. Eval: the same without gradients. Input:
// two views of images [batch, 3, 224, 224]. One process, which gathers nothing but its own. The
// queue begins with keys like the batch's, because the loss rises while a random one is filled.
// Smoke: 64 x 64 pixels, a quarter of the width, one block a stage, 4096 keys of 32.

#include <utility>

#include "runner/suite/blocks/resnet.h"
#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::moco {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr double momentum = 0.999;
constexpr double temperature = 0.07;

struct Sizes {
  std::int64_t side, keys;
  ResNetOptions encoder;
};

Sizes sizes_of(Setup const& setup) {
  Sizes sizes{setup.pick(224, 64), setup.pick(32000, 4096), {}};
  sizes.encoder.classes = setup.pick(128, 32);
  sizes.encoder.width = setup.pick(64, 16);
  if (setup.scale == Scale::smoke) sizes.encoder.depths = {1, 1, 1, 1};
  return sizes;
}

Tensor normalize(Tensor const& x, std::int64_t axis) {
  return nn::functional::normalize(x, nn::functional::NormalizeFuncOptions().p(2).dim(axis));
}

/// The tensors of all processes, joined. There is one process.
Tensor gather_all(Tensor const& x) {
  auto const own = torch::ones_like(x);
  own.copy_(x);
  return torch::cat({own}, 0);
}

/// This process' share of what all have, in the order of all.
Tensor own_share(Tensor const& x, Tensor const& order) {
  return gather_all(x).index({order.view({1, -1})[0]});
}

class MocoImpl : public nn::Module {
 public:
  explicit MocoImpl(Sizes const& sizes)
      : query_encoder_(register_module("encoder_q", ResNet(sizes.encoder))),
        key_encoder_(register_module("encoder_k", ResNet(sizes.encoder))),
        queue_(register_buffer("queue",
                               normalize(torch::randn({sizes.encoder.classes, sizes.keys}), 0))) {
    follow(key_encoder_->parameters(), query_encoder_->parameters(), 1);
    for (auto& parameter : key_encoder_->parameters())
      parameter.set_requires_grad(false);
  }

  /// Logits [batch, 1 + keys]: an image's own key first. Puts the keys into the queue.
  Tensor forward(Tensor const& queries, Tensor const& keys) {
    auto const query = normalize(query_encoder_(queries), 1);
    follow(key_encoder_->parameters(), query_encoder_->parameters(), 1 - momentum);
    auto const key = encode_keys(keys);
    auto const own = torch::einsum("nc,nc->n", {query, key}).unsqueeze(-1);
    auto const others = torch::einsum("nc,ck->nk", {query, queue_.clone().detach()});
    auto logits = torch::cat({own, others}, 1);
    logits /= temperature;
    enqueue(key);
    return logits;
  }

  /// Fills the queue with noisy copies of these images' keys.
  void fill_queue(Tensor const& images) {
    constexpr double noise = 0.02;
    torch::NoGradGuard const no_gradients;
    auto const key = encode_keys(images).t();
    auto const copies = torch::arange(queue_.size(1), torch::kLong) % key.size(1);
    auto const chosen = key.index_select(1, copies.to(key.device()));
    queue_.copy_(normalize(chosen + noise * torch::randn_like(chosen), 0));
  }

 private:
  /// Unit vectors, [batch, classes]. Shuffled in between, so that batch normalisation does not
  /// betray which images are of one process.
  Tensor encode_keys(Tensor const& images) {
    torch::NoGradGuard const no_gradients;
    auto const order =
        torch::randperm(images.size(0), torch::dtype(torch::kLong).device(images.device()));
    auto const shuffled = normalize(key_encoder_(own_share(images, order)), 1);
    return own_share(shuffled, torch::argsort(order));
  }

  void enqueue(Tensor const& keys) {
    torch::NoGradGuard const no_gradients;
    auto const all = gather_all(keys);
    queue_.slice(1, next_, next_ + all.size(0)).copy_(all.numpy_T());
    next_ = (next_ + all.size(0)) % queue_.size(1);
  }

  ResNet query_encoder_;
  ResNet key_encoder_;
  Tensor queue_;  ///< [classes, keys]
  std::int64_t next_ = 0;
};

TORCH_MODULE(Moco);

}  // namespace

std::unique_ptr<Workload> make_moco(Setup const& setup) {
  auto const sizes = sizes_of(setup);
  Moco network(sizes);
  setup.place(*network);
  std::vector<std::int64_t> const shape{setup.batch, 3, sizes.side, sizes.side};
  auto const queries = setup.place(torch::randn(shape));
  auto const keys = setup.place(torch::randn(shape));
  network->fill_queue(keys.slice(0, 0, 4));

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, queries, keys]() mutable {
    return std::vector<Tensor>{network->forward(queries, keys)};
  };
  parts.loss = [](auto const& outputs) {
    auto const& logits = outputs[0];
    auto const own = torch::zeros({logits.size(0)}, logits.options().dtype(torch::kLong));
    return nn::functional::cross_entropy(logits, own);
  };
  parts.optimizer = std::make_unique<torch::optim::SGD>(
      network->parameters(), torch::optim::SGDOptions(0.03).momentum(0.9).weight_decay(1e-4));
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::moco
