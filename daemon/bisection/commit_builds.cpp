#include "daemon/bisection/commit_builds.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace torchwatch::bisection {
namespace asio = boost::asio;

using builds::BuildAttempt;
using builds::From;

asio::awaitable<Result<std::vector<BuildAttempt>>> CommitBuilds::builds_of(
    std::vector<CommitSha> commits) {
  std::vector<BuildAttempt> attempts;
  // Artifacts and builds of a recipe cannot be compared.
  for (auto const from : std::array{From::anywhere, From::source}) {
    attempts.clear();
    for (auto const& commit : commits) {
      auto attempt = co_await builder_.build(commit, recipe_, from);
      if (!attempt) co_return attempt.error();
      attempts.push_back(std::move(*attempt));
      if (!attempts.back().build) co_return attempts;
    }
    auto const differ =
        std::ranges::adjacent_find(attempts, std::ranges::not_equal_to{}, &BuildAttempt::recipe);
    if (differ == attempts.end()) break;
  }
  co_return attempts;
}

}  // namespace torchwatch::bisection
