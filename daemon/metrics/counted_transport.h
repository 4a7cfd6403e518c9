#pragma once

#include <memory>
#include <utility>

#include "daemon/metrics/counters.h"
#include "github/transport.h"

namespace torchwatch::metrics {

/// Counts the requests of another transport, and records GitHub's limit.
class CountedTransport final : public github::Transport {
 public:
  /// `counters` must outlive it.
  CountedTransport(std::unique_ptr<github::Transport> transport, Counters& counters)
      : transport_{std::move(transport)},
        counters_{counters} {}

  /// Sends as the other transport does.
  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override;

 private:
  std::unique_ptr<github::Transport> transport_;
  Counters& counters_;
};

}  // namespace torchwatch::metrics
