// YOLOv3: Redmon and Farhadi, 2018 (arXiv 1804.02767), with spatial pyramid pooling as
// ultralytics/yolov3 of 2020 has it in yolov3-spp.cfg, which TorchBench runs: Darknet-53, three
// heads of three anchors for 80 classes. Train: GIoU, objectness and class losses, SGD with
// Nesterov momentum, and a moving average of all weights. Eval: boxes decoded, and candidates
// filtered by objectness and size. Input: images [batch, 3, 416, 416] with seven objects each;
// in eval [batch, 3, 384, 512]. Smoke: 64 x 64 pixels, an eighth of the channels, one residual
// block a stage. Suppression of overlapping boxes stays out: neither here nor upstream does a
// random network find a candidate. So do upstream's schedules, which begin with a rate of nought.

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/blocks/darknet.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::yolov3 {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 80;
constexpr std::int64_t anchors = 3;           ///< number per head
constexpr std::int64_t values = 5 + classes;  ///< number per anchor: box, objectness, classes
constexpr std::array<std::int64_t, 3> strides{32, 16, 8};

struct Sizes {
  std::int64_t height, width;
  std::int64_t channels;  ///< output channels of the first convolution
  std::array<std::int64_t, 5> depths;
};

/// One of the three: features to the next head and to predictions.
class HeadImpl : public nn::Module {
 public:
  HeadImpl(std::int64_t in, std::int64_t narrow, bool pools, Tensor const& sizes)
      : features_(register_module("features", nn::Sequential())),
        wide_(register_module("wide", DarknetUnit(narrow, 2 * narrow, 3))),
        predictor_(register_module("predictor",
                                   nn::Conv2d(nn::Conv2dOptions(2 * narrow, anchors * values, 1)))),
        sizes_(register_buffer("anchors", sizes)) {
    if (pools) {
      append_darknet_units(features_, in, narrow, 3);
      features_->push_back(PyramidPooling());
    }
    append_darknet_units(features_, pools ? 4 * narrow : in, narrow, pools ? 3 : 5);
    favour_background();
  }

  Tensor features(Tensor const& x) { return features_->forward(x); }

  /// [batch, anchors, rows, columns, values]
  Tensor forward(Tensor const& features) {
    auto const raw = predictor_(wide_(features));
    auto const shape =
        std::vector<std::int64_t>{raw.size(0), anchors, values, raw.size(2), raw.size(3)};
    return raw.view(shape).permute({0, 1, 3, 4, 2}).contiguous();
  }

  /// The sizes of the anchors in cells, [anchors, 2].
  Tensor const& sizes() const { return sizes_; }

 private:
  /// Begins with few objects and with classes alike.
  void favour_background() {
    torch::NoGradGuard const no_gradients;
    auto bias = predictor_->bias.view({anchors, values});
    bias.select(1, 4).sub_(4.5);
    bias.narrow(1, 5, classes).add_(std::log(0.6 / (classes - 0.99)));
  }

  nn::Sequential features_;
  DarknetUnit wide_;
  nn::Conv2d predictor_;
  Tensor sizes_;
};

TORCH_MODULE(Head);

/// COCO's anchors in pixels, those of the coarsest head first.
Tensor make_anchors() {
  return torch::tensor({{{116.0, 90.0}, {156.0, 198.0}, {373.0, 326.0}},
                        {{30.0, 61.0}, {62.0, 45.0}, {59.0, 119.0}},
                        {{10.0, 13.0}, {16.0, 30.0}, {33.0, 23.0}}},
                       torch::kFloat);
}

/// Images [batch, 3, height, width] -> what each head says, coarsest first.
class YoloImpl : public nn::Module {
 public:
  explicit YoloImpl(Sizes const& sizes)
      : first_(register_module("first", DarknetUnit(3, sizes.channels, 3))) {
    auto channels = sizes.channels;
    for (auto const depth : sizes.depths) {
      nn::Sequential stage(DarknetUnit(channels, 2 * channels, 3, 2));
      channels *= 2;
      for (std::int64_t i = 0; i < depth; ++i)
        stage->push_back(DarknetResidual(channels));
      stages_.emplace_back(register_module("stage" + std::to_string(stages_.size() + 1), stage));
    }
    add_heads(channels);
  }

  std::vector<Tensor> forward(Tensor const& images) {
    auto x = first_(images);
    std::vector<Tensor> scales;
    for (auto& stage : stages_) {
      x = stage->forward(x);
      scales.push_back(x);
    }
    std::vector<Tensor> outputs;
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      if (i > 0) x = torch::cat({enlarge(i, x), scales[scales.size() - 1 - i]}, 1);
      x = heads_[i]->features(x);
      outputs.push_back(heads_[i](x));
    }
    return outputs;
  }

  std::vector<Head>& heads() { return heads_; }

 private:
  void add_heads(std::int64_t channels) {
    auto const sizes = make_anchors();
    for (std::size_t i = 0; i < strides.size(); ++i) {
      auto const narrow = channels / 2 >> i;
      if (i > 0)
        reducers_.emplace_back(
            register_module("reducer" + std::to_string(i), DarknetUnit(2 * narrow, narrow, 1)));
      auto const in = i == 0 ? channels : 3 * narrow;
      auto const anchor = sizes[static_cast<std::int64_t>(i)] / strides[i];
      heads_.emplace_back(
          register_module("head" + std::to_string(i + 1), Head(in, narrow, i == 0, anchor)));
    }
  }

  Tensor enlarge(std::size_t head, Tensor const& x) {
    auto const reduced = reducers_[head - 1](x);
    return torch::upsample_nearest2d(reduced, c10::nullopt, std::vector<double>{2, 2});
  }

  DarknetUnit first_;
  std::vector<nn::Sequential> stages_;
  std::vector<DarknetUnit> reducers_;
  std::vector<Head> heads_;
};

TORCH_MODULE(Yolo);

/// The overlap of widths and heights when the corners meet: [n, 2], [m, 2] -> [n, m].
Tensor overlap_of_sizes(Tensor const& a, Tensor const& b) {
  auto const rows = a.unsqueeze(1);
  auto const columns = b.unsqueeze(0);
  auto const common = torch::min(rows, columns).prod(2);
  return common / (rows.prod(2) + columns.prod(2) - common);
}

/// Generalised overlap of boxes (x, y, width, height), [n, 4] each: 1 for equal boxes, towards -1
/// the farther apart they are.
Tensor generalised_overlap(Tensor const& a, Tensor const& b) {
  constexpr double epsilon = 1e-16;
  auto const centre_a = a.narrow(1, 0, 2), half_a = a.narrow(1, 2, 2) / 2;
  auto const centre_b = b.narrow(1, 0, 2), half_b = b.narrow(1, 2, 2) / 2;
  auto const low_a = centre_a - half_a, high_a = centre_a + half_a;
  auto const low_b = centre_b - half_b, high_b = centre_b + half_b;
  auto const common = (torch::min(high_a, high_b) - torch::max(low_a, low_b)).clamp(0).prod(1);
  auto const all = a.narrow(1, 2, 2).prod(1) + epsilon + b.narrow(1, 2, 2).prod(1) - common;
  auto const hull = (torch::max(high_a, high_b) - torch::min(low_a, low_b)).prod(1) + epsilon;
  return common / all - (hull - all) / hull;
}

/// The objects that one head should find, each for each anchor of about its size.
struct Wanted {
  Tensor image, anchor, row, column, label;  ///< [n]
  Tensor box;                                ///< [n, 4], in cells from the corner of its own
  Tensor size;                               ///< the anchor's, [n, 2]
};

/// `objects`: image, class, x, y, width and height as parts of the picture, [n, 6].
Wanted match(Tensor const& objects, Tensor const& output, Tensor const& sizes) {
  constexpr double least_overlap = 0.2;
  auto scale = torch::ones({6}, objects.options());
  scale.slice(0, 2).copy_(torch::tensor(output.sizes()).index({torch::tensor({3, 2, 3, 2})}));
  auto const scaled = objects * scale;
  auto const chosen = overlap_of_sizes(sizes, scaled.narrow(1, 4, 2)) > least_overlap;
  auto const all_anchors =
      torch::arange(anchors, objects.device()).view({anchors, 1}).repeat({1, objects.size(0)});
  auto const anchor = all_anchors.index({chosen});
  auto const object = scaled.repeat({anchors, 1, 1}).index({chosen});
  auto const numbers = object.narrow(1, 0, 2).to(torch::kLong).numpy_T().unbind();
  auto const place = object.narrow(1, 2, 2);
  auto const corner = place.to(torch::kLong);
  auto const cells = corner.numpy_T().unbind();
  return {numbers[0],
          anchor,
          cells[1],
          cells[0],
          numbers[1],
          torch::cat({place - corner, object.narrow(1, 4, 2)}, 1),
          sizes.index({anchor})};
}

/// The share of the objectness to learn that depends on the overlap. Upstream's grows from 0 to 1.
constexpr double overlap_share = 0;

/// GIoU, objectness and class loss of one head, weighed.
Tensor head_loss(Tensor const& output, Wanted const& wanted) {
  constexpr double box_weight = 3.54, object_weight = 64.3, class_weight = 37.4;
  auto const even = torch::ones({1}, output.options());
  auto present = torch::zeros_like(output.select(-1, 4));
  Tensor loss;
  if (wanted.image.size(0) > 0) {
    auto const said = output.index({wanted.image, wanted.anchor, wanted.row, wanted.column});
    auto const place = said.narrow(1, 0, 2).sigmoid();
    auto const size = said.narrow(1, 2, 2).exp().clamp(c10::nullopt, 1e3) * wanted.size;
    auto const overlap = generalised_overlap(torch::cat({place, size}, 1), wanted.box);
    auto const certainty = (1 - overlap_share) + overlap_share * overlap.detach().clamp(0);
    present.index_put_({wanted.image, wanted.anchor, wanted.row, wanted.column},
                       certainty.to(present.scalar_type()));
    auto const logits = said.narrow(1, 5, classes);
    auto truth = torch::full_like(logits, 0.0);
    truth.index_put_({torch::arange(logits.size(0), logits.device()), wanted.label}, 1.0);
    loss = box_weight * torch::rsub(overlap, 1).mean() +
           class_weight * torch::binary_cross_entropy_with_logits(logits, truth, {}, even);
  }
  auto const objectness = object_weight * torch::binary_cross_entropy_with_logits(
                                              output.select(-1, 4), present, {}, even);
  return loss.defined() ? loss + objectness : objectness;
}

/// Boxes in pixels, probabilities: [batch, anchors * rows * columns, values].
Tensor decode(Tensor const& output, Tensor const& sizes, std::int64_t stride) {
  auto const counting = torch::TensorOptions(output.device());
  auto const grid = torch::meshgrid(
      {torch::arange(output.size(2), counting), torch::arange(output.size(3), counting)}, "ij");
  auto const cells = torch::stack({grid[1], grid[0]}, 2).to(output.scalar_type());
  auto decoded = output.clone();
  auto place = decoded.narrow(-1, 0, 2);
  place.copy_(place.sigmoid() + cells);
  auto size = decoded.narrow(-1, 2, 2);
  size.copy_(size.exp() * sizes.view({1, anchors, 1, 1, 2}));
  decoded.narrow(-1, 0, 4).mul_(stride);
  decoded.narrow(-1, 4, 1 + classes).sigmoid_();
  return decoded.view({output.size(0), -1, values});
}

/// All boxes, and for each image those that might be objects.
std::vector<Tensor> detect(Yolo& network, Tensor const& images) {
  constexpr double least_confidence = 0.3, least_side = 2, most_side = 4096;
  auto const outputs = network(images);
  std::vector<Tensor> decoded;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    decoded.push_back(decode(outputs[i], network->heads()[i]->sizes(), strides[i]));
  std::vector<Tensor> found{torch::cat(decoded, 1)};
  for (auto const& boxes : found.front().unbind()) {
    auto const confident = boxes.index({boxes.select(1, 4) > least_confidence});
    auto const sides = confident.narrow(1, 2, 2);
    found.push_back(confident.index({((sides > least_side) & (sides < most_side)).all(1)}));
  }
  return found;
}

/// Seven objects in each image.
Tensor make_objects(Setup const& setup) {
  constexpr std::int64_t each = 7;
  auto const count = setup.batch * each;
  auto const image = torch::arange(setup.batch).repeat_interleave(each).to(torch::kFloat);
  auto const label = torch::randint(classes, {count}).to(torch::kFloat);
  auto const place = torch::rand({count, 2}) * 0.8 + 0.1;
  auto const size = torch::rand({count, 2}) * 0.9 + 0.1;
  return setup.place(torch::cat({torch::stack({image, label}, 1), place, size}, 1));
}

class YoloTraining final : public Workload {
 public:
  YoloTraining(Setup const& setup, Yolo network, Tensor images)
      : network_(std::move(network)),
        images_(std::move(images)),
        objects_(make_objects(setup)),
        optimizer_(make_groups(*network_), torch::optim::SGDOptions(rate)) {
    for (auto const& tensors : {network_->parameters(), network_->buffers()}) {
      for (auto const& tensor : tensors) {
        if (tensor.is_floating_point()) averages_.push_back({tensor, tensor.detach().clone()});
      }
    }
  }

  void step() override {
    optimizer_.zero_grad();
    auto const outputs = network_(images_);
    Tensor loss;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      auto const wanted = match(objects_, outputs[i], network_->heads()[i]->sizes());
      auto const part = head_loss(outputs[i], wanted);
      loss = loss.defined() ? loss + part : part;
    }
    loss = loss * (static_cast<double>(images_.size(0)) / 64);
    loss_ = loss.detach();
    if (!torch::isfinite(loss_).is_nonzero()) return;
    loss.backward();
    apply_gradients(optimizer_);
    average();
  }

  std::vector<Tensor> results() const override { return {loss_}; }

  std::shared_ptr<nn::Module> network() const override { return network_.ptr(); }

 private:
  static constexpr double rate = 0.01;

  struct Average {
    Tensor live, mean;
  };

  /// Weights of convolutions decay, biases and normalisations do not.
  static std::vector<torch::optim::OptimizerParamGroup> make_groups(nn::Module const& network) {
    std::vector<Tensor> decaying, others;
    for (auto const& parameter : network.parameters())
      (parameter.dim() == 4 ? decaying : others).push_back(parameter);
    auto const make_options = [](double decay) {
      auto options = torch::optim::SGDOptions(rate).momentum(0.937).nesterov(true);
      return std::make_unique<torch::optim::SGDOptions>(options.weight_decay(decay));
    };
    std::vector<torch::optim::OptimizerParamGroup> groups;
    groups.emplace_back(decaying, make_options(0.0005));
    groups.emplace_back(others, make_options(0));
    return groups;
  }

  void average() {
    torch::NoGradGuard const no_gradients;
    ++steps_;
    auto const decay = 0.9999 * (1 - std::exp(-steps_ / 2000));
    for (auto& each : averages_)
      each.mean.mul_(decay).add_((1 - decay) * each.live.detach());
  }

  Yolo network_;
  Tensor images_, objects_;
  torch::optim::SGD optimizer_;
  std::vector<Average> averages_;
  double steps_ = 0;
  Tensor loss_;
};

}  // namespace

std::unique_ptr<Workload> make_yolov3(Setup const& setup) {
  bool const trains = setup.test == Test::train;
  auto const full =
      trains ? Sizes{416, 416, 32, {1, 2, 8, 8, 4}} : Sizes{384, 512, 32, {1, 2, 8, 8, 4}};
  auto const sizes = setup.pick(full, Sizes{64, 64, 4, {1, 1, 1, 1, 1}});
  Yolo network(sizes);
  setup.place(*network);
  auto const images = setup.place(torch::rand({setup.batch, 3, sizes.height, sizes.width}));
  if (trains) return std::make_unique<YoloTraining>(setup, std::move(network), images);

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, images]() mutable {
    return detect(network, images);
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::yolov3
