// Model-agnostic meta-learning on Omniglot: Finn, Abbeel and Levine, 2017 (arXiv 1703.03400), after
// the example of facebookresearch/higher and its functorch form, as TorchBench runs them. Train:
// for each of 32 tasks five differentiable steps of gradient descent, then Adam on the queries'
// loss, through those steps. maml_omniglot goes from task to task, functorch_maml_omniglot takes
// them at once: LibTorch has no vmap, so each operator is written for all tasks as vmap would
// rewrite it, convolutions with a group a task. Eval: the network as it is, on one task's images.
// Input: for each task 25 images [1, 28, 28] of 5 classes to learn from and 75 to classify. Smoke:
// two tasks, a quarter of the width, 10 and 15 images.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::maml_omniglot {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 5;
constexpr std::int64_t side = 28;
constexpr std::size_t blocks = 3;
constexpr double inner_rate = 0.1;
constexpr int inner_steps = 5;

struct Sizes {
  std::int64_t tasks, width, support, queries;
};

Sizes sizes_of(Setup const& setup, std::int64_t tasks) {
  return setup.pick(Sizes{tasks, 64, 25, 75}, Sizes{2, 16, 10, 15});
}

using Weights = std::vector<Tensor>;

/// Running means and variances of each block; undefined where there are none.
using Statistics = std::array<std::pair<Tensor, Tensor>, blocks>;

/// Three blocks of convolution, batch normalisation, ReLU and pooling, and a linear layer.
class ClassifierImpl : public nn::Module {
 public:
  ClassifierImpl(std::int64_t width, bool has_statistics) {
    for (std::size_t i = 0; i < blocks; ++i) {
      auto const number = std::to_string(i + 1);
      register_module("conv" + number, nn::Conv2d(i == 0 ? 1 : width, width, 3));
      register_parameter("norm" + number + "_weight", torch::ones({width}));
      register_parameter("norm" + number + "_bias", torch::zeros({width}));
      if (!has_statistics) continue;
      statistics_[i].first = register_buffer("mean" + number, torch::zeros({width}));
      statistics_[i].second = register_buffer("variance" + number, torch::ones({width}));
    }
    register_module("linear", nn::Linear(width, classes));
  }

  /// In the order in which they are used.
  Weights weights() const {
    auto const named = named_parameters();
    Weights all;
    for (std::size_t i = 0; i < blocks; ++i) {
      auto const number = std::to_string(i + 1);
      for (auto const& [layer, end] : {std::pair{"conv", "."}, std::pair{"norm", "_"}})
        for (auto const* kind : {"weight", "bias"})
          all.push_back(named[layer + number + end + kind]);
    }
    all.push_back(named["linear.weight"]);
    all.push_back(named["linear.bias"]);
    return all;
  }

  Statistics const& statistics() const { return statistics_; }

  /// For inner loops, which leave the network's own alone.
  Statistics copy_statistics() const {
    auto copies = statistics_;
    for (auto& [mean, variance] : copies) {
      if (!mean.defined()) continue;
      mean = mean.clone();
      variance = variance.clone();
    }
    return copies;
  }

  /// Images [n, 1, 28, 28] -> logits [n, 5], in evaluation mode.
  Tensor forward(Tensor const& images);

 private:
  Statistics statistics_;
};

TORCH_MODULE(Classifier);

/// [n, groups, 28, 28] -> [n, groups * width, 1, 1], each group with its own part of the weights.
Tensor see(Tensor const& images,
           Weights const& weights,
           Statistics const& statistics,
           bool training,
           std::int64_t groups = 1) {
  auto x = images;
  for (std::size_t i = 0; i < blocks; ++i) {
    auto const* layer = &weights[4 * i];
    auto const& [mean, variance] = statistics[i];
    x = nn::functional::conv2d(
        x, layer[0], nn::functional::Conv2dFuncOptions().bias(layer[1]).groups(groups));
    x = nn::functional::batch_norm(
        x,
        mean,
        variance,
        nn::functional::BatchNormFuncOptions().weight(layer[2]).bias(layer[3]).momentum(1).training(
            training || !mean.defined()));
    x = torch::max_pool2d(x.relu_(), 2, 2);
  }
  return x;
}

Tensor classify(Tensor const& images,
                Weights const& weights,
                Statistics const& statistics,
                bool training) {
  auto const seen = see(images, weights, statistics, training).flatten(1);
  return torch::linear(seen, weights[4 * blocks], weights.back());
}

/// The same for all tasks at once: images [tasks, n, 1, 28, 28] and weights with tasks as first
/// dimension -> [tasks, n, 5].
Tensor classify_all(Tensor const& images, Weights const& weights) {
  auto const tasks = images.size(0), count = images.size(1);
  Weights merged;
  for (std::size_t i = 0; i < 4 * blocks; ++i)
    merged.push_back(weights[i].flatten(0, 1));
  auto const side_by_side = images.transpose(0, 1).reshape({count, tasks, side, side});
  auto const seen =
      see(side_by_side, merged, {}, true, tasks).view({count, tasks, -1}).transpose(0, 1);
  return torch::baddbmm(weights.back().unsqueeze(1), seen, weights[4 * blocks].transpose(1, 2));
}

Tensor ClassifierImpl::forward(Tensor const& images) {
  return classify(images, weights(), statistics_, false);
}

/// Differentiable gradient descent.
Weights descend(Weights const& weights, Tensor const& loss) {
  auto const gradients = torch::autograd::grad({loss}, weights, {}, true, true);
  Weights moved;
  for (std::size_t i = 0; i < weights.size(); ++i)
    moved.push_back(weights[i] - inner_rate * gradients[i]);
  return moved;
}

/// All tasks; their number is the first dimension.
struct Tasks {
  Tensor support, support_labels, queries, query_labels;
};

Tasks draw_tasks(Setup const& setup, Sizes const& sizes) {
  auto const images = [&](std::int64_t count) {
    return setup.place(torch::rand({sizes.tasks, count, 1, side, side}));
  };
  auto const labels = [&](std::int64_t count) {
    auto const each = torch::arange(count, torch::kLong) % classes;
    return setup.place(each.expand({sizes.tasks, -1}).contiguous());
  };
  return {
      images(sizes.support), labels(sizes.support), images(sizes.queries), labels(sizes.queries)};
}

class MetaLearning : public Workload {
 public:
  MetaLearning(Setup const& setup, Sizes const& sizes, Classifier classifier)
      : classifier_(std::move(classifier)),
        tasks_(draw_tasks(setup, sizes)),
        optimizer_(make_adam(*classifier_)) {}

  void step() final {
    optimizer_->zero_grad();
    loss_ = differentiate();
    apply_gradients(*optimizer_);
  }

  /// The sum of the tasks' losses.
  std::vector<Tensor> results() const final { return {loss_}; }

  std::shared_ptr<nn::Module> network() const final { return classifier_.ptr(); }

 protected:
  /// Leaves gradients in the network. Returns the loss.
  virtual Tensor differentiate() = 0;

  Classifier classifier_;
  Tasks tasks_;

 private:
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  Tensor loss_;
};

class OneByOne final : public MetaLearning {
 public:
  using MetaLearning::MetaLearning;

 private:
  Tensor differentiate() override {
    auto sum = torch::zeros({}, tasks_.support.options());
    for (std::int64_t task = 0; task < tasks_.support.size(0); ++task)
      sum += differentiate(task);
    return sum;
  }

  Tensor differentiate(std::int64_t task) {
    auto const statistics = classifier_->copy_statistics();
    auto const loss_of = [&](Tensor const& images, Tensor const& labels, Weights const& weights) {
      auto const logits = classify(images[task], weights, statistics, true);
      return nn::functional::cross_entropy(logits, labels[task]);
    };
    auto weights = classifier_->weights();
    for (int i = 0; i < inner_steps; ++i)
      weights = descend(weights, loss_of(tasks_.support, tasks_.support_labels, weights));
    auto const loss = loss_of(tasks_.queries, tasks_.query_labels, weights);
    loss.backward();
    return loss.detach();
  }
};

class AllAtOnce final : public MetaLearning {
 public:
  using MetaLearning::MetaLearning;

 private:
  Tensor differentiate() override {
    auto const tasks = tasks_.support.size(0);
    auto weights = classifier_->weights();
    for (auto& weight : weights) {
      std::vector<std::int64_t> shape = weight.sizes().vec();
      shape.insert(shape.begin(), tasks);
      weight = weight.unsqueeze(0).expand(shape);
    }
    for (int i = 0; i < inner_steps; ++i)
      weights = descend(weights, loss_of(tasks_.support, tasks_.support_labels, weights));
    auto const loss = loss_of(tasks_.queries, tasks_.query_labels, weights);
    loss.backward();
    return loss.detach();
  }

  /// The sum over tasks of each one's mean.
  static Tensor loss_of(Tensor const& images, Tensor const& labels, Weights const& weights) {
    auto const logits = classify_all(images, weights);
    auto const losses = nn::functional::cross_entropy(
        logits.flatten(0, 1),
        labels.flatten(),
        nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
    return losses.view({images.size(0), -1}).mean(1).sum();
  }
};

std::unique_ptr<Workload> make_inference(Setup const& setup,
                                         Sizes const& sizes,
                                         Classifier classifier) {
  auto const images = setup.place(torch::rand({sizes.support, 1, side, side}));
  Supervised parts;
  parts.network = classifier.ptr();
  parts.forward = [classifier, images]() mutable {
    return std::vector<Tensor>{classifier(images)};
  };
  return make_supervised(setup.test, std::move(parts));
}

template <class Training>
std::unique_ptr<Workload> make_meta_learning(Setup const& setup, Sizes const& sizes, bool tracks) {
  Classifier classifier(sizes.width, tracks);
  setup.place(*classifier);
  if (setup.test == Test::eval) return make_inference(setup, sizes, classifier);
  return std::make_unique<Training>(setup, sizes, std::move(classifier));
}

}  // namespace

std::unique_ptr<Workload> make_maml_omniglot(Setup const& setup) {
  return make_meta_learning<OneByOne>(setup, sizes_of(setup, setup.batch), true);
}

std::unique_ptr<Workload> make_functorch_maml_omniglot(Setup const& setup) {
  return make_meta_learning<AllAtOnce>(setup, sizes_of(setup, 32), false);
}

}  // namespace torchwatch::suite::maml_omniglot
