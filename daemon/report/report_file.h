#pragma once

#include <filesystem>

#include "daemon/report/destination.h"
#include "storage/store.h"

namespace torchwatch::report {

/// The Markdown file of an incident, STATE_DIR/reports/incident-N.md. Each message replaces it, all
/// or nothing. Stores its path with the incident.
class FileDestination final : public Destination {
 public:
  /// `store` must outlive it.
  FileDestination(std::filesystem::path const& state_dir, storage::Store& store)
      : directory_{state_dir / "reports"},
        store_{store} {}

  boost::asio::awaitable<Result<Delivery>> deliver(OutboxMessage const& message,
                                                   DeliveryContext context) override;

 private:
  std::filesystem::path directory_;
  storage::Store& store_;
};

}  // namespace torchwatch::report
