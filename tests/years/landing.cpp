#include "tests/years/landing.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "storage/base/digest.h"
#include "tests/years/chance.h"

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
                            "Remove functions without callers since the last release",
                            "Type the public functions of the optimizer",
                            "Add myself to CODEOWNERS"};

std::string subject_for(Chance& chance) {
  auto const* const area = chance.pick(areas);
  if (chance.happens(0.15)) return fmt::format("{} {}", area, chance.pick(chores));
  auto text = fmt::format(fmt::runtime(chance.pick(actions)), chance.pick(operators));
  if (chance.happens(0.04)) return fmt::format("Revert \"{} {}\"", area, text);
  return fmt::format("{} {}", area, text);
}

/// Removes the characters that git rejects in a name: angle brackets and control characters.
std::string name_for_git(std::string name) {
  std::erase_if(name, [](unsigned char letter) {
    return letter == '<' || letter == '>' || std::iscntrl(letter) != 0;
  });
  return name;
}

/// Returns " (#123)" at the end of a subject; empty if there is none.
std::string number_in(std::string const& message) {
  auto const at = message.rfind(" (#");
  return at == std::string::npos ? "" : message.substr(at);
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

lab::CommitText Landing::commit(Timestamp time, int pull_request, Chance& chance) const {
  auto author = chance.pick(request_.people);
  author.name = name_for_git(texts_.of(author.name, chance));
  auto message = texts_.of(fmt::format("{} (#{})", subject_for(chance), pull_request), chance);
  return {std::move(message), author, time, author, time};
}

std::vector<lab::CommitText> Landing::commits_of(DaysAgo ago) const {
  constexpr int newest_pull_request = 171'000;
  constexpr int a_day = 45;
  Chance chance{request_.seed, "commits", ago};
  auto const count = chance.from_to(16, 40);
  auto time = Timestamp{request_.last_night} - std::chrono::days{ago + 1};
  auto number = newest_pull_request - a_day * static_cast<int>(ago % 3000 + 1);
  std::vector<lab::CommitText> commits;
  for (std::size_t i = 0; i < count; ++i) {
    time += std::chrono::seconds{chance.below(2 * 24 * 3600 / (count + 1))};
    commits.push_back(commit(time, number++, chance));
  }
  return commits;
}

void Landing::blunder(lab::CommitText& commit, Blunder const& blunder) const {
  if (!request_.is_hostile)
    commit.message = std::string{blunder.subject} + number_in(commit.message);
}

}  // namespace torchwatch::years
