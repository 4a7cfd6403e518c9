#include "daemon/service/renewing_rounds.h"

#include <utility>

namespace torchwatch::service {

boost::asio::awaitable<Result<std::vector<JobOutcome>>> RenewingRounds::measure(
    measure::RoundKey key, std::vector<Build> builds) {
  for (auto const& build : builds) {
    auto const renewed = co_await workers_.renew(build.prefix);
    if (!renewed) co_return renewed.error();
  }
  co_return co_await rounds_.measure(std::move(key), std::move(builds));
}

}  // namespace torchwatch::service
