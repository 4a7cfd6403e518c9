#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "github/client.h"
#include "storage/base/result.h"
#include "storage/domain/outbox.h"

namespace torchwatch::report {

/// The result of an attempt to send a message.
struct Delivery {
  std::string place{};   ///< URL or path of what was made; empty: nothing that has one
  std::string digest{};  ///< digest of the body that is there now; empty: it did not change
  /// Why the place can take no message any more: it was deleted, or locked. Empty: it arrived.
  std::string gone{};
};

/// The facts about earlier messages and attempts that a destination needs.
struct DeliveryContext {
  /// The place of what the incident's first message made there; empty before.
  std::string place{};
  /// The marker of the incident's first message there.
  std::string first_marker{};
  /// The digest of the body that was written there last; empty before.
  std::string digest{};
  /// The markers of the incident's messages that were sent there.
  std::vector<std::string> sent_markers{};
  /// When the message was sent before. Its response was lost, or the service was killed.
  github::SentCreate sent{};
};

/// A place where messages are published. Single-threaded.
class Destination {
 public:
  virtual ~Destination() = default;

  /// Sends a message. It is safe to call it again with the same message after a failure or a crash:
  /// a message that arrived is recognized, or its receiver can recognize it. Fails with unavailable
  /// when it may succeed later, with internal when this host prevents it. Other errors need an
  /// operator, or never succeed.
  virtual boost::asio::awaitable<Result<Delivery>> deliver(OutboxMessage const& message,
                                                           DeliveryContext context) = 0;
};

}  // namespace torchwatch::report
