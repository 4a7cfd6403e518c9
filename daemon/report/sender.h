#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/async/drain.h"
#include "daemon/report/connection.h"
#include "daemon/report/destination.h"
#include "storage/store.h"

namespace torchwatch::report {

/// The configured destinations by name.
using Destinations = std::map<std::string, std::unique_ptr<Destination>>;

/// Returns the destinations that the configuration names, and the Markdown files. `github` and
/// `web`: the network of GitHub and of webhooks. `options` and `store` must outlive them.
Destinations destinations_of(config::Options const& options,
                             storage::Store& store,
                             Network github,
                             Network web);

/// Sends the messages of the outbox. Single-threaded.
///
/// The messages of one incident and destination are sent in their order: a message waits until the
/// one before was sent or given up. Others do not wait for it. After a failure, the next attempt
/// comes a minute later, then after two, four, and so on to six hours.
///
/// - A message that may arrive later is never given up.
/// - A message whose place is gone is given up, with the later ones to the same place.
/// - A message that is rejected is given up three days after its first rejection. Until then, an
///   operator can mend a setting. The later ones are still sent, unless they need the issue that it
///   should open. A wrong token or a closed repository rejects all messages, so none is given up
///   for it.
///
/// The alarm `report_update_failed` is raised once for each destination that rejects messages or
/// does not reply for an hour, until one arrives there; and at once when a file cannot be written.
/// It is raised once for each message that is given up, and cleared a week later. For issues,
/// `github_refused` takes its place.
///
/// A kill at any instruction loses nothing: the next attempt recognizes a message that arrived.
class Sender {
 public:
  /// `store` and `clock` must outlive it.
  Sender(storage::Store& store, Clock const& clock, Destinations destinations)
      : store_{store},
        clock_{clock},
        destinations_{std::move(destinations)} {}

  /// Makes all messages due that wait after a failure: a user may have mended its cause. Call it
  /// when a program starts.
  void retry_now() { store_.outbox().retry_now(); }

  /// Sends all messages that are due. Does nothing while another call has not returned. Fails with
  /// the last reason why a new incident could not be reported; other failures only raise alarms.
  boost::asio::awaitable<Result<>> send_due();

  /// The messages that are sent now, until their results are stored.
  async::Drain& steps() { return steps_; }

 private:
  boost::asio::awaitable<Result<>> send(OutboxEntry entry);
  boost::asio::awaitable<Result<Delivery>> deliver(OutboxEntry const& entry);
  DeliveryContext context_of(OutboxEntry const& entry);
  void finish(OutboxEntry const& entry, Delivery const& delivery);
  void postpone(OutboxEntry const& entry, Error const& failure);
  void give_up(OutboxEntry const& entry, std::string const& why, bool with_later);
  void raise(OutboxMessage const& message, std::string const& subject, std::string const& detail);
  void clear_old_alarms();

  storage::Store& store_;
  Clock const& clock_;
  Destinations destinations_;
  bool is_sending_ = false;
  async::Drain steps_;
};

}  // namespace torchwatch::report
