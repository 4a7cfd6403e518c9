#pragma once

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/report/connection.h"
#include "storage/store.h"

namespace torchwatch::report {

/// What people answer to reports. Single-threaded.
class Feedback {
 public:
  /// `options` and `store` must outlive it.
  Feedback(config::GithubOptions const& options, storage::Store& store, Network network)
      : options_{options},
        store_{store},
        network_{std::move(network)} {}

  /// Keeps as rulings what people said of reports by `github.false_alarm_label`, each once.
  boost::asio::awaitable<Result<>> collect();

 private:
  bool is_called_false(IncidentId incident);

  config::GithubOptions const& options_;
  storage::Store& store_;
  Network network_;
};

}  // namespace torchwatch::report
