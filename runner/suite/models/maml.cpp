// Model-agnostic meta-learning: Finn, Abbeel and Levine, 2017 (arXiv 1703.03400), its first-order
// form of dragen1860/MAML-Pytorch as TorchBench's maml runs it. Train: for each of 32 tasks five
// steps of gradient descent, the queries answered after each, then Adam on the loss after the last.
// Eval: ten such steps for one task, which take gradients too. Input: for each task 5 images [1,
// 28, 28] of 5 classes to learn from and 75 to classify. A batch is one set of tasks. Smoke: two
// tasks, a quarter of the width, 15 queries.

#include <array>
#include <string>
#include <utility>

#include "runner/suite/supervised.h"

namespace torchwatch::suite::maml {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 5;
constexpr std::int64_t side = 28;
constexpr double inner_rate = 0.4;
constexpr std::int64_t training_steps = 5;
constexpr std::int64_t evaluation_steps = 10;

struct Sizes {
  std::int64_t tasks, width, queries;
};

using Weights = std::vector<Tensor>;

/// Four convolutions, each with ReLU and then batch normalisation, and a linear layer. Evaluated
/// with weights of the caller's.
class LearnerImpl : public nn::Module {
 public:
  explicit LearnerImpl(std::int64_t width) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      auto const number = std::to_string(i + 1);
      auto const in = i == 0 ? 1 : width;
      add("conv" + number, torch::empty({width, in, kernels[i], kernels[i]}));
      add("norm" + number, torch::ones({width}));
      means_.push_back(register_buffer("mean" + number, torch::zeros({width})));
      variances_.push_back(register_buffer("variance" + number, torch::ones({width})));
    }
    add("linear", torch::empty({classes, width}));
  }

  /// Images [n, 1, 28, 28] -> logits [n, 5].
  Tensor forward(Tensor const& images, Weights const& weights) {
    auto x = images;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      auto const* layer = &weights[4 * i];
      std::int64_t const stride = i + 1 < kernels.size() ? 2 : 1;
      x = torch::conv2d(x, layer[0], layer[1], stride).relu_();
      auto const options =
          nn::functional::BatchNormFuncOptions().weight(layer[2]).bias(layer[3]).training(true);
      x = nn::functional::batch_norm(x, means_[i], variances_[i], options);
    }
    return torch::linear(x.view({x.size(0), -1}), weights[4 * kernels.size()], weights.back());
  }

 private:
  static constexpr std::array<std::int64_t, 4> kernels{3, 3, 3, 2};

  void add(std::string const& name, Tensor const& weight) {
    if (weight.dim() > 1) nn::init::kaiming_normal_(weight);
    register_parameter(name + "_weight", weight);
    register_parameter(name + "_bias", torch::zeros({weight.size(0)}));
  }

  std::vector<Tensor> means_, variances_;
};

TORCH_MODULE(Learner);

/// Samples to learn from (support) and samples to answer (queries), with the labels of both.
struct Task {
  Tensor support, support_labels, queries, query_labels;
};

Task draw_task(Setup const& setup, Sizes const& sizes) {
  auto const images = [&setup](std::int64_t count) {
    return setup.place(torch::randn({count, 1, side, side}));
  };
  auto const labels = [&setup](std::int64_t count) {
    return setup.place(torch::randint(classes, {count}, torch::kLong));
  };
  return {images(classes), labels(classes), images(sizes.queries), labels(sizes.queries)};
}

/// One step of gradient descent. The new weights depend on the old as if the gradient were
/// constant.
Weights descend(Learner& learner, Task const& task, Weights const& weights) {
  auto const logits = learner(task.support, weights);
  auto const loss = nn::functional::cross_entropy(logits, task.support_labels);
  auto const gradients = torch::autograd::grad({loss}, weights);
  Weights moved;
  for (std::size_t i = 0; i < weights.size(); ++i)
    moved.push_back(weights[i] - inner_rate * gradients[i]);
  return moved;
}

/// Losses and numbers of correct answers of the queries after 0, 1, 2, ... steps.
struct Answers {
  std::vector<Tensor> losses;
  std::vector<Tensor> correct;
};

void answer(Learner& learner, Task const& task, Weights const& weights, Answers& answers) {
  auto const logits = learner(task.queries, weights);
  answers.losses.push_back(nn::functional::cross_entropy(logits, task.query_labels));
  auto const chosen = logits.detach().softmax(1).argmax(1);
  answers.correct.push_back(torch::eq(chosen, task.query_labels).sum());
}

/// As upstream, all but the first two answers are open to differentiation.
Answers adapt(Learner& learner, Task const& task, std::int64_t steps) {
  Answers answers;
  auto weights = learner->parameters();
  for (std::int64_t step = 0; step < steps; ++step) {
    torch::AutoGradMode const differentiable(true);
    auto const moved = descend(learner, task, weights);
    torch::AutoGradMode const answers_differentiable(step > 0);
    if (step == 0) answer(learner, task, weights, answers);
    answer(learner, task, moved, answers);
    weights = moved;
  }
  return answers;
}

}  // namespace

std::unique_ptr<Workload> make_maml(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{32, 64, 75}, Sizes{2, 16, 15});
  Learner learner(sizes.width);
  setup.place(*learner);
  std::vector<Task> tasks;
  for (std::int64_t i = 0; i < sizes.tasks; ++i)
    tasks.push_back(draw_task(setup, sizes));

  Supervised parts;
  parts.network = learner.ptr();
  parts.optimizer = make_adam(*learner);
  if (setup.test == Test::eval) {
    parts.forward = [learner, task = tasks[0]]() mutable {
      auto const answers = adapt(learner, task, evaluation_steps);
      auto const correct = torch::stack(answers.correct).to(torch::kFloat);
      return std::vector<Tensor>{correct / task.queries.size(0)};
    };
  } else {
    parts.forward = [learner, tasks]() mutable {
      Tensor sum;
      for (auto const& task : tasks) {
        auto const loss = adapt(learner, task, training_steps).losses.back();
        sum = sum.defined() ? sum + loss : loss;
      }
      return std::vector<Tensor>{sum / static_cast<double>(tasks.size())};
    };
    parts.loss = [](auto const& outputs) {
      return outputs[0];
    };
  }
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::maml
