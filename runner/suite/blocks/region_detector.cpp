#include "runner/suite/blocks/region_detector.h"

#include "runner/suite/layers.h"

namespace torchwatch::suite {

using torch::Tensor;

RegionDetectorImpl::RegionDetectorImpl(RegionDetectorOptions const& options)
    : multiple_(options.multiple),
      body_(make_frozen_resnet(options.body)) {
  auto const channels = ResNetImpl::channels(options.body.resnet);
  auto backbone = join({{"body", body_.ptr()}});
  if (options.pyramid > 0) {
    fpn_ = Pyramid(channels, options.pyramid, PyramidTop::subsampled);
    backbone->register_module("fpn", fpn_.ptr());
  }
  register_module("backbone", backbone);
  auto const width = options.pyramid > 0 ? options.pyramid : channels.back();
  rpn_ = register_module("rpn", ProposalNetwork(width, options.proposals));
  auto heads = options.heads;
  if (options.head_depth > 0) {
    heads.shared = make_frozen_stage(options.body, body_, options.head_depth);
    heads.shared_channels = 2 * channels.back();
  }
  roi_heads_ = register_module("roi_heads", RegionHeads(width, heads));
}

RegionDetectorImpl::View RegionDetectorImpl::look(Tensor const& pictures) {
  auto const padded = pad_pictures(pictures, multiple_);
  auto stages = body_->features(padded);
  auto levels = fpn_ ? fpn_(stages) : std::vector<Tensor>{stages.back()};
  return {std::move(levels), size_of(pictures), size_of(padded)};
}

std::vector<Tensor> RegionDetectorImpl::losses(Tensor const& pictures,
                                               std::vector<Truth> const& truths) {
  auto const view = look(pictures);
  auto proposals = rpn_(view.levels, view.padded, view.size, truths);
  auto all = roi_heads_->losses(view.levels, proposals.boxes, truths);
  all.insert(all.end(), proposals.losses.begin(), proposals.losses.end());
  return all;
}

std::vector<Detections> RegionDetectorImpl::detect(Tensor const& pictures) {
  auto const view = look(pictures);
  auto const proposals = rpn_(view.levels, view.padded, view.size, std::vector<Truth>{});
  return roi_heads_->detect(view.levels, proposals.boxes, view.size);
}

Tensor pad_pictures(Tensor const& pictures, std::int64_t multiple) {
  auto const missing = [&](std::int64_t side) {
    return (multiple - side % multiple) % multiple;
  };
  auto const [height, width] = size_of(pictures);
  return torch::constant_pad_nd(pictures, {0, missing(width), 0, missing(height)});
}

PictureSize size_of(Tensor const& pictures) {
  return {pictures.size(-2), pictures.size(-1)};
}

}  // namespace torchwatch::suite
