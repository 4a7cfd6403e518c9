#include "daemon/builds/prepared_rounds.h"

#include <utility>

namespace torchwatch::builds {

boost::asio::awaitable<Result<std::vector<JobOutcome>>> PreparedRounds::measure(
    measure::RoundKey key, std::vector<Build> builds) {
  for (auto& build : builds) {
    builds_.use(build.prefix);
    build.caches = builds_.caches_of(build);
  }
  for (auto const& build : builds) {
    auto const renewed = co_await workers_.renew(build.prefix);
    if (!renewed) co_return renewed.error();
  }
  co_return co_await rounds_.measure(std::move(key), std::move(builds));
}

}  // namespace torchwatch::builds
