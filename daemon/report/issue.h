#pragma once

#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/report/connection.h"
#include "daemon/report/destination.h"
#include "storage/store.h"

namespace torchwatch::report {

/// The GitHub issue of an incident, or of an alarm that is reported. Stores the address of a new
/// issue with the incident. Raises the
/// alarm `github_refused` when GitHub refuses a message, and clears it when one arrives. Raises
/// `label_dropped` when a new issue lacks a label, and clears it when one has all.
class IssueDestination final : public Destination {
 public:
  /// `options` and `store` must outlive it.
  IssueDestination(config::GithubOptions const& options, storage::Store& store, Network network)
      : options_{options},
        store_{store},
        network_{std::move(network)} {}

  boost::asio::awaitable<Result<Delivery>> deliver(OutboxMessage const& message,
                                                   DeliveryContext context) override;

 private:
  using Awaitable = boost::asio::awaitable<Result<Delivery>>;

  Awaitable act(github::Client& client, OutboxMessage const& message, DeliveryContext context);
  Awaitable file(github::Client& client, OutboxMessage const& message, DeliveryContext context);
  Awaitable edit(github::Client& client, OutboxMessage const& message, DeliveryContext context);
  Awaitable comment(github::Client& client,
                    OutboxMessage const& message,
                    std::string body,
                    DeliveryContext context);
  Awaitable set_state(github::Client& client,
                      OutboxMessage const& message,
                      DeliveryContext context);
  Result<Delivery> noted(github::Refusal refusal,
                         OutboxMessage const& message,
                         Result<Delivery> delivered);
  std::string key_of_report(OutboxMessage const& message, DeliveryContext const& context);
  std::string place_of_report(OutboxMessage const& message);
  void check_labels(github::CreatedIssue const& issue);

  config::GithubOptions const& options_;
  storage::Store& store_;
  Network network_;
};

/// The pull request of a culprit, which gets one comment. The title of a message is its address.
/// Raises the alarm `github_refused` when GitHub refuses the token.
class PullRequestDestination final : public Destination {
 public:
  /// `options` and `store` must outlive it.
  PullRequestDestination(config::GithubOptions const& options,
                         storage::Store& store,
                         Network network)
      : options_{options},
        store_{store},
        network_{std::move(network)} {}

  boost::asio::awaitable<Result<Delivery>> deliver(OutboxMessage const& message,
                                                   DeliveryContext context) override;

 private:
  Error noted(github::Refusal refusal, OutboxMessage const& message, Error error);

  config::GithubOptions const& options_;
  storage::Store& store_;
  Network network_;
};

}  // namespace torchwatch::report
