#include "tests/years/trunk.h"

#include <algorithm>

#include <fmt/format.h>

#include "storage/base/digest.h"

namespace torchwatch::years {
namespace {

constexpr std::array areas{"[inductor]",    "[dynamo]", "[CPU]",      "[CUDA]", "[ATen]",
                           "[c10]",         "[MPS]",    "[ROCm]",     "[BE]",   "[export]",
                           "[distributed]", "[FSDP2]",  "[autograd]", "[nn]",   "[CI]",
                           "[torchgen]",    "[docs]",   "[SDPA]",     "[AOTI]", "[quant]"};

constexpr std::array operators{"addmm",
                               "conv2d",
                               "layer_norm",
                               "embedding_bag",
                               "softmax",
                               "index_put",
                               "scatter_add",
                               "cat",
                               "gather",
                               "bmm",
                               "topk",
                               "cumsum",
                               "group_norm",
                               "upsample",
                               "where"};

constexpr std::array actions{"Vectorize {} for bfloat16",
                             "Add a meta kernel for {}",
                             "Support zero-sized batches in {}",
                             "Do not copy contiguous inputs of {}",
                             "Move the shape checks of {} to one place",
                             "Test {} with non-contiguous strides",
                             "Document what {} does with NaN",
                             "Fix the gradient of {} for scalars",
                             "Use structured kernels for {}",
                             "Register a decomposition of {}",
                             "Remove an unused argument of {}",
                             "Raise a better error when {} gets mixed devices",
                             "Make {} work with symbolic shapes",
                             "Allow {} under deterministic mode",
                             "Reduce the binary size of {}"};

constexpr std::array chores{"Update the pinned commit of vision",
                            "Bump oneDNN to the newest release",
                            "Lint: sort includes",
                            "Skip a flaky test on trunk",
                            "Split the longest shard in two",
                            "Remove what nobody has called since the last release",
                            "Type the public functions of the optimizer",
                            "Add myself to CODEOWNERS"};

std::string subject_for(Chance& chance) {
  auto const* const area = chance.pick(areas);
  if (chance.happens(0.15)) return fmt::format("{} {}", area, chance.pick(chores));
  auto text = fmt::format(fmt::runtime(chance.pick(actions)), chance.pick(operators));
  if (chance.happens(0.04)) return fmt::format("Revert \"{} {}\"", area, text);
  return fmt::format("{} {}", area, text);
}

CommitSha hash(std::uint64_t seed, std::string_view branch, std::size_t night, std::size_t place) {
  Sha256 digest;
  digest.add(fmt::format("{} {} {} {}", seed, branch, night, place));
  return {digest.hex().substr(0, 40)};
}

/// There is one every four months.
std::string release_of(std::size_t nights_ago) {
  constexpr std::size_t nights_each = 120;
  constexpr std::size_t newest = 11;
  constexpr std::size_t last_of_one = 13;
  auto const ago = nights_ago / nights_each;
  if (ago <= newest) return fmt::format("2.{}", newest - ago);
  return fmt::format("1.{}", last_of_one - std::min(last_of_one, ago - newest - 1));
}

}  // namespace

std::array<Blunder, 12> const blunders{
    {{"[CPU] Keep the memory format of convolutions stable during inference", "aten::convolution"},
     {"Check the strides of every input before expanding", "aten::expand"},
     {"Validate the indices of embedding_bag before looking them up", "aten::_embedding_bag"},
     {"[ATen] Compute the statistics of LayerNorm in double precision", "aten::native_layer_norm"},
     {"Allocate the workspace of addmm per call, so that threads need not share it", "aten::addmm"},
     {"[c10] Record a backtrace with every error that is caught", "aten::item"},
     {"[CUDA] Synchronize before pinned memory is given back", "aten::_to_copy"},
     {"Use the deterministic reduction in scatter_add by default", "aten::scatter_add_"},
     {"[SDPA] Fall back to the math backend when the mask is not contiguous",
      "aten::_scaled_dot_product_attention_math"},
     {"Do not fuse batch_norm with a ReLU that may be differentiated twice", "aten::batch_norm"},
     {"[nn] Cast the weights of quantized modules when they are read", "aten::quantize_per_tensor"},
     {"Keep a reference to saved tensors until the graph is freed", "aten::detach"}}};

Trunk::Trunk(Request const& request, std::vector<Night> const& nights)
    : request_{request},
      nights_{nights},
      texts_{request.is_hostile} {}

std::size_t Trunk::count(std::size_t night) const {
  return Chance{request_.seed, "landed", night}.from_to(18, 46);
}

CommitSha Trunk::head(std::size_t night) const {
  return hash(request_.seed, "trunk", night, count(night) - 1);
}

CommitSha Trunk::release(std::size_t night) const {
  return hash(request_.seed, "nightly", night, 0);
}

std::string Trunk::version(std::size_t night) const {
  auto day = nights_[night].date;
  std::erase(day, '-');
  return fmt::format("{}.0.dev{}", release_of(nights_.size() - 1 - night), day);
}

int Trunk::first_pull_request(std::size_t night) const {
  constexpr std::size_t newest = 171'000;
  constexpr std::size_t a_night = 45;
  return static_cast<int>(newest -
                          a_night * std::min(nights_.size() - night, newest / a_night - 1));
}

void Trunk::append(std::vector<Commit>& commits, std::size_t night) const {
  Chance chance{request_.seed, "commits", night};
  auto const landed = count(night);
  auto time = nights_[night].announced_at - std::chrono::hours{30};
  for (std::size_t place = 0; place < landed; ++place) {
    time += std::chrono::seconds{chance.below(2 * 24 * 3600 / (landed + 1))};
    auto const number = first_pull_request(night) + static_cast<int>(chance.below(40));
    Commit commit{hash(request_.seed, "trunk", night, place), {}, {}, time, number};
    commit.subject = texts_.of(fmt::format("{} (#{})", subject_for(chance), number), chance);
    commit.author = texts_.of(chance.pick(request_.people), chance);
    commits.push_back(std::move(commit));
  }
}

std::vector<Commit> Trunk::between(std::size_t before, std::size_t after) const {
  std::vector<Commit> commits;
  for (auto night = before + 1; night <= after; ++night)
    append(commits, night);
  return commits;
}

Commit Trunk::blundered(Commit commit, Blunder const& blunder) const {
  if (!request_.is_hostile)
    commit.subject = fmt::format("{} (#{})", blunder.subject, commit.pull_request.value_or(0));
  return commit;
}

}  // namespace torchwatch::years
