#pragma once

#include <string>

#include "config/options.h"
#include "daemon/report/destination.h"
#include "storage/base/clock.h"

namespace torchwatch::report {

/// Emails by the host's mail system: the program `sendmail` gets each message. Its Message-ID comes
/// from the marker, so mail programs recognize a repetition. Messages of an incident are a thread.
class EmailDestination final : public Destination {
 public:
  /// `options` and `clock` must outlive it.
  EmailDestination(config::EmailOptions const& options, Clock const& clock)
      : options_{options},
        clock_{clock} {}

  boost::asio::awaitable<Result<Delivery>> deliver(OutboxMessage const& message,
                                                   DeliveryContext context) override;

 private:
  config::EmailOptions const& options_;
  Clock const& clock_;
};

/// Returns an email (RFC 5322) in UTF-8, with lines that end with "\n" as sendmail reads them.
/// `first_marker`: that of the thread's first email. Pure.
std::string email_of(OutboxMessage const& message,
                     config::EmailOptions const& options,
                     std::string const& first_marker,
                     Timestamp now);

}  // namespace torchwatch::report
