#pragma once

#include <memory>
#include <utility>

#include "daemon/metrics/counters.h"
#include "github/transport.h"

namespace torchwatch::metrics {

/// Counts what another transport sends, and notes what GitHub says of its limit.
class CountedTransport final : public github::Transport {
 public:
  /// `counters` must outlive it.
  CountedTransport(std::unique_ptr<github::Transport> transport, Counters& counters)
      : transport_{std::move(transport)},
        counters_{counters} {}

  /// As the other's.
  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override;

 private:
  std::unique_ptr<github::Transport> transport_;
  Counters& counters_;
};

}  // namespace torchwatch::metrics
