#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "config/options.h"
#include "daemon/report/connection.h"
#include "daemon/report/destination.h"

namespace torchwatch::report {

/// A web address that gets each message as a JSON object in a POST request. The headers:
///
///     X-Torchwatch-Signature-256   sha256=HEX, the HMAC-SHA256 of the body with the secret
///     X-Torchwatch-Delivery        the `id` in the body: equal for repetitions of a message
///
/// The secret is read for each message, so a new one needs no restart.
class WebhookDestination final : public Destination {
 public:
  /// `options` must outlive it.
  WebhookDestination(config::WebhookOptions const& options, Network network)
      : options_{options},
        network_{std::move(network)} {}

  boost::asio::awaitable<Result<Delivery>> deliver(OutboxMessage const& message,
                                                   DeliveryContext context) override;

 private:
  config::WebhookOptions const& options_;
  Network network_;
};

/// Returns the value of the header X-Torchwatch-Signature-256 for a body.
std::string signature_of(std::string_view body, std::string_view secret);

}  // namespace torchwatch::report
