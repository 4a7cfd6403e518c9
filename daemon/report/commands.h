#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "github/commands.h"
#include "storage/store.h"

namespace torchwatch::report {

/// Accepts a request for a bisection, and starts it.
using AskBisection = std::function<boost::asio::awaitable<Result<Bisection>>(BisectionOrder)>;

/// Carries out commands in comments on reports. Single-threaded.
class Commands {
 public:
  /// `options`, `store` and `clock` must outlive it.
  Commands(config::Options const& options,
           storage::Store& store,
           Clock const& clock,
           AskBisection ask)
      : options_{options},
        store_{store},
        clock_{clock},
        ask_{std::move(ask)} {}

  /// Carries out the commands of a comment. Returns the reply, in Markdown; a command that is not
  /// understood or not possible is explained there. Safe to repeat after a crash at any
  /// instruction: a ruling or bisection of this comment is found, not made again. Fails with
  /// unavailable when it cannot be done now, with cancelled while the service stops.
  boost::asio::awaitable<Result<std::string>> carry_out(Answer answer);

 private:
  boost::asio::awaitable<Result<std::string>> carry_out_line(Incident const& incident,
                                                             Answer const& answer,
                                                             std::string const& line);
  boost::asio::awaitable<Result<std::string>> carry_out_command(Incident const& incident,
                                                                Answer const& answer,
                                                                github::Command const& command);
  Result<std::string> decide(Incident const& incident,
                             Answer const& answer,
                             github::Command const& command);
  Result<std::string> mute(Incident const& incident, Answer const& answer, int days);
  Result<> rule_once(Ruling ruling);
  boost::asio::awaitable<Result<std::string>> rebisect(Incident const& incident,
                                                       Answer const& answer,
                                                       github::Command const& command);
  Result<BisectionOrder> order_for(Incident const& incident, github::Command const& command);
  BisectionRequest request_for(Incident const& incident);
  Result<CommitSha> commit_named(std::string const& name);
  std::optional<Bisection> asked_since(BisectionRequest const& request, Timestamp at);
  std::string status(Incident const& incident);
  std::string date_of(NightlyId nightly);

  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
  AskBisection ask_;
};

}  // namespace torchwatch::report
