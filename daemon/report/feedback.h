#pragma once

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/report/connection.h"
#include "storage/store.h"

namespace torchwatch::report {

/// The feedback of maintainers to reports. Single-threaded.
class Feedback {
 public:
  /// `options` and `store` must outlive it.
  Feedback(config::GithubOptions const& options, storage::Store& store, Network network)
      : options_{options},
        store_{store},
        network_{std::move(network)} {}

  /// Stores as rulings the reports that have the label `github.false_alarm_label`, each once.
  boost::asio::awaitable<Result<>> collect();

 private:
  bool is_called_false(IncidentId incident);

  config::GithubOptions const& options_;
  storage::Store& store_;
  Network network_;
};

}  // namespace torchwatch::report
