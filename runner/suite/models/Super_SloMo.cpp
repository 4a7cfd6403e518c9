// Super SloMo: Jiang et al., 2017 (arXiv 1712.00080), after avinashpaliwal/Super-SloMo: a U-Net for
// the flow between two frames and one that refines it for a frame between them, which is blended
// from both frames warped. Train: reconstruction, warping, smoothness and perceptual losses (VGG16
// up to its tenth convolution, frozen), Adam. Eval: frame and loss, as upstream's model gives both.
// Input: three frames [6, 3, 352, 352] and which of seven places the middle one has. Smoke: 64 x 64
// pixels, an eighth of the channels.

#include <array>

#include "runner/suite/blocks/vgg.h"
#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::Super_SloMo {
namespace {

using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct Sizes {
  std::int64_t side, width, vgg_width;
};

Tensor leaky(Tensor const& x) {
  return torch::leaky_relu(x, 0.1);
}

nn::Conv2d make_convolution(std::int64_t in, std::int64_t out, std::int64_t kernel) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).padding(kernel / 2));
}

/// Two convolutions, at half the size.
class DownImpl : public nn::Module {
 public:
  DownImpl(std::int64_t in, std::int64_t out, std::int64_t kernel)
      : first_(register_module("conv1", make_convolution(in, out, kernel))),
        second_(register_module("conv2", make_convolution(out, out, kernel))) {}

  Tensor forward(Tensor const& x) { return leaky(second_(leaky(first_(torch::avg_pool2d(x, 2))))); }

 private:
  nn::Conv2d first_, second_;
};

TORCH_MODULE(Down);

/// Two convolutions at twice the size, the second with what had that size before.
class UpImpl : public nn::Module {
 public:
  UpImpl(std::int64_t in, std::int64_t out)
      : first_(register_module("conv1", make_convolution(in, out, 3))),
        second_(register_module("conv2", make_convolution(2 * out, out, 3))) {}

  Tensor forward(Tensor const& x, Tensor const& skip) {
    auto const grown =
        torch::upsample_bilinear2d(x, c10::nullopt, false, std::vector<double>{2, 2});
    return leaky(second_(torch::cat({leaky(first_(grown)), skip}, 1)));
  }

 private:
  nn::Conv2d first_, second_;
};

TORCH_MODULE(Up);

class UnetImpl : public nn::Module {
 public:
  UnetImpl(std::int64_t in, std::int64_t out, std::int64_t width)
      : first_(register_module("conv1", make_convolution(in, width, 7))),
        second_(register_module("conv2", make_convolution(width, width, 7))),
        last_(make_convolution(width, out, 3)) {
    std::array<std::int64_t, 6> const channels{
        width, 2 * width, 4 * width, 8 * width, 16 * width, 16 * width};
    for (std::size_t i = 1; i < channels.size(); ++i)
      down_.emplace_back(register_module("down" + std::to_string(i),
                                         Down(channels[i - 1], channels[i], i == 1 ? 5 : 3)));
    for (std::size_t i = channels.size() - 1; i > 0; --i)
      up_.emplace_back(register_module("up" + std::to_string(channels.size() - i),
                                       Up(channels[i], channels[i - 1])));
    register_module("conv3", last_);
  }

  Tensor forward(Tensor const& input) {
    auto x = leaky(second_(leaky(first_(input))));
    std::vector<Tensor> skips;
    for (auto& block : down_) {
      skips.push_back(x);
      x = block(x);
    }
    for (auto& block : up_) {
      x = block(x, skips.back());
      skips.pop_back();
    }
    return leaky(last_(x));
  }

 private:
  nn::Conv2d first_, second_;
  std::vector<Down> down_;
  std::vector<Up> up_;
  nn::Conv2d last_;
};

TORCH_MODULE(Unet);

/// Fetches every pixel from where the flow says.
class BackWarpImpl : public nn::Module {
 public:
  explicit BackWarpImpl(std::int64_t side)
      : side_(static_cast<double>(side)),
        x_(register_buffer("gridX", torch::arange(side).repeat({side, 1}))),
        y_(register_buffer("gridY", x_.t().contiguous())) {}

  Tensor forward(Tensor const& images, Tensor const& flow) {
    auto const across = flow.select(1, 0);
    auto const along = flow.select(1, 1);
    auto const x = x_.unsqueeze(0).expand_as(across).to(across.dtype()) + across;
    auto const y = y_.unsqueeze(0).expand_as(along).to(along.dtype()) + along;
    auto const grid = torch::stack({2 * (x / side_ - 0.5), 2 * (y / side_ - 0.5)}, 3);
    return F::grid_sample(images, grid, F::GridSampleFuncOptions().align_corners(false));
  }

 private:
  double side_;
  Tensor x_, y_;
};

TORCH_MODULE(BackWarp);

struct Frames {
  Tensor first, middle, last;
  Tensor place;  ///< position of the middle frame, 0 to 6
};

/// The mean absolute difference between neighbouring pixels of a flow, summed over both axes.
Tensor roughness(Tensor const& flow) {
  auto const gaps = [&flow](std::int64_t dim) {
    return (flow.slice(dim, 0, -1) - flow.slice(dim, 1)).abs().mean();
  };
  return gaps(3) + gaps(2);
}

/// [batch] -> [batch, 1, 1, 1]
Tensor spread(Tensor const& numbers) {
  return numbers.index({None, None, None, Slice()}).permute({3, 0, 1, 2});
}

struct Flows {
  Tensor there, back;            ///< between the two frames
  Tensor to_first, to_last;      ///< from the frame in the middle
  Tensor from_first, from_last;  ///< that frame, warped from each of the two
};

class SloMoImpl : public nn::Module {
 public:
  explicit SloMoImpl(Sizes const& sizes)
      : flow_(register_module("flowComp", Unet(6, 4, sizes.width))),
        refine_(register_module("ArbTimeFlowIntrp", Unet(20, 5, sizes.width))),
        warp_(register_module("trainFlowBackWarp", BackWarp(sizes.side))),
        times_(register_buffer("times", torch::linspace(0.125, 0.875, 7))) {
    VggOptions options;
    options.width = sizes.vgg_width;
    options.layers = 22;
    perceive_ = register_module("vgg16_conv_4_3", make_vgg16_features(options));
    for (auto& parameter : perceive_->parameters())
      parameter.requires_grad_(false);
  }

  /// The frame in the middle and the loss.
  std::vector<Tensor> forward(Frames const& frames) {
    auto const time = times_.index({frames.place});
    auto const flows = estimate(frames, time);
    auto const frame = blend(frames, flows, time);
    return {frame, loss(frames, flows, frame)};
  }

 private:
  Flows estimate(Frames const& frames, Tensor const& time) {
    Flows flows;
    auto const both = flow_(torch::cat({frames.first, frames.last}, 1));
    flows.there = both.index({Slice(), Slice(0, 2)});
    flows.back = both.index({Slice(), Slice(2)});
    auto const left = torch::rsub(time, 1);
    auto const between = spread(-left * time);
    flows.to_first = between * flows.there + spread(time * time) * flows.back;
    flows.to_last = spread(left * left) * flows.there + between * flows.back;
    flows.from_first = warp_(frames.first, flows.to_first);
    flows.from_last = warp_(frames.last, flows.to_last);
    return flows;
  }

  Tensor blend(Frames const& frames, Flows const& flows, Tensor const& time) {
    auto const refined = refine_(torch::cat({frames.first,
                                             frames.last,
                                             flows.there,
                                             flows.back,
                                             flows.to_last,
                                             flows.to_first,
                                             flows.from_last,
                                             flows.from_first},
                                            1));
    auto const to_first = refined.index({Slice(), Slice(0, 2)}) + flows.to_first;
    auto const to_last = refined.index({Slice(), Slice(2, 4)}) + flows.to_last;
    auto const visible = torch::sigmoid(refined.index({Slice(), Slice(4, 5)}));
    auto const near_first = spread(torch::rsub(time, 1)) * visible;
    auto const near_last = spread(time) * torch::rsub(visible, 1);
    auto const sum =
        near_first * warp_(frames.first, to_first) + near_last * warp_(frames.last, to_last);
    return sum / (near_first + near_last);
  }

  Tensor loss(Frames const& frames, Flows const& flows, Tensor const& frame) {
    auto const seen = torch::mse_loss(perceive_->forward(frame), perceive_->forward(frames.middle));
    auto const warped = torch::l1_loss(flows.from_first, frames.middle) +
                        torch::l1_loss(flows.from_last, frames.middle) +
                        torch::l1_loss(warp_(frames.first, flows.back), frames.last) +
                        torch::l1_loss(warp_(frames.last, flows.there), frames.first);
    return 204 * torch::l1_loss(frame, frames.middle) + 102 * warped + 0.005 * seen +
           roughness(flows.back) + roughness(flows.there);
  }

  Unet flow_, refine_;
  BackWarp warp_;
  Tensor times_;
  nn::Sequential perceive_{nullptr};
};

TORCH_MODULE(SloMo);

/// Pictures that move by a pixel from frame to frame, less upstream's mean colour.
Frames make_frames(Setup const& setup, Sizes const& sizes) {
  constexpr std::int64_t motion = 8;
  auto const mean = torch::tensor({0.429, 0.431, 0.397}, torch::kFloat).view({1, 3, 1, 1});
  auto const side = sizes.side + motion;
  auto const scene = draw_pictures(setup.batch, 3, side, side) - mean;
  auto const cut = [&](Tensor const& pictures, std::int64_t moved) {
    return pictures.narrow(2, moved, sizes.side).narrow(3, moved, sizes.side);
  };
  auto const place = torch::randint(motion - 1, {setup.batch}, torch::kLong);
  std::vector<Tensor> middle;
  for (std::int64_t i = 0; i < setup.batch; ++i)
    middle.push_back(cut(scene.narrow(0, i, 1), place[i].item<std::int64_t>() + 1));
  return {setup.place(cut(scene, 0).contiguous()),
          setup.place(torch::cat(middle)),
          setup.place(cut(scene, motion).contiguous()),
          setup.place(place)};
}

}  // namespace

std::unique_ptr<Workload> make_Super_SloMo(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{352, 32, 64}, Sizes{64, 4, 8});
  SloMo network(sizes);
  setup.place(*network);
  auto const frames = make_frames(setup, sizes);

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, frames]() mutable {
    return network(frames);
  };
  parts.loss = [](auto const& outputs) {
    return outputs[1];
  };
  parts.optimizer = make_adam(*network, 1e-4);
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::Super_SloMo
