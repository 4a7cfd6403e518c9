#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/report/commands.h"
#include "daemon/report/connection.h"
#include "github/updates.h"
#include "storage/store.h"

namespace torchwatch::report {

/// Answers people in the issues of incidents. Reads their comments, closings and labels, carries
/// out their commands, and stores the replies in the outbox. Single-threaded; one poll at a time.
///
///     comment read --no command, no right, edited later--> ignored: logged once
///          |
///          v
///     stored --reaction--> carried out --> reply and its message stored --Sender--> sent, once
///
/// Each arrow is one write to the store, so a crash at any instruction repeats nothing. The
/// commands of an incident are carried out in the order of their comments. The replies are sent in
/// that order, after the incident's earlier messages.
class Answers {
 public:
  /// `options` and `store` must outlive it.
  Answers(config::Options const& options, storage::Store& store, Network network, AskBisection ask)
      : options_{options},
        store_{store},
        network_{std::move(network)},
        commands_{options, store, network_.clock, std::move(ask)} {}

  /// Reads what changed on GitHub since the last call, in two requests if that is little. Then
  /// carries out the commands. Does nothing before an issue was filed. A failure is repeated by the
  /// next call.
  boost::asio::awaitable<Result<>> poll();

  /// Stores as rulings the reports that have the label `github.false_alarm_label`, each once.
  boost::asio::awaitable<Result<>> read_labels();

 private:
  /// A permission of a user, and when it was read.
  struct Permission {
    bool may_write = false;
    Timestamp read_at{};
  };

  void note_unread(github::Refusal refusal, Error const& problem);
  ReadPlace place_of(ReadList list);
  std::optional<Incident> incident_at(std::string const& page);
  boost::asio::awaitable<Result<>> read_comments(github::Client& client);
  boost::asio::awaitable<Result<>> note(github::Client& client,
                                        github::IssueComment const& comment,
                                        ReadPlace const& place);
  Answer answer_to(github::IssueComment const& comment, IncidentId incident);
  void ignore(Answer answer, std::string const& reason);
  boost::asio::awaitable<Result<>> read_closings(github::Client& client);
  boost::asio::awaitable<Result<bool>> note_closing(github::Client& client,
                                                    github::ClosedIssue const& issue);
  bool is_decided(IncidentId incident);
  Result<> rule_false_alarm(Incident const& incident);
  boost::asio::awaitable<Result<bool>> may_write(github::Client& client, std::string login);
  boost::asio::awaitable<Result<>> answer_all(github::Client& client);
  boost::asio::awaitable<Result<>> answer_one(github::Client& client, Answer answer);
  boost::asio::awaitable<Result<>> react(github::Client& client, Answer const& answer);

  config::Options const& options_;
  storage::Store& store_;
  Network network_;
  Commands commands_;
  std::map<std::string, Permission> permissions_;  ///< keys: logins
};

}  // namespace torchwatch::report
