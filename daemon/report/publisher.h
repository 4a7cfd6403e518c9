#pragma once

#include <filesystem>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/report/connection.h"
#include "storage/store.h"

namespace torchwatch::report {

/// Publishes incidents: as GitHub issues when a repository is configured, else as Markdown files
/// under `state_dir/reports`. Adds later findings. Single-threaded.
class Publisher {
 public:
  /// `options` and `store` must outlive it.
  Publisher(config::GithubOptions const& options,
            storage::Store& store,
            std::filesystem::path state_dir,
            Network network)
      : options_{options},
        store_{store},
        state_dir_{std::move(state_dir)},
        network_{std::move(network)} {}

  /// Publishes an incident, once. Returns the issue's URL or the file's path, and stores it with
  /// the incident. Raises the alarm `label_dropped` when the issue lacks a label, and clears it
  /// when it has all.
  ///
  /// Safe to repeat after a crash at any instruction. The intent is stored first, then the time of
  /// sending. An issue with its key is found, not filed again. After a lost reply, it searches for
  /// the issue for two minutes before it files one.
  boost::asio::awaitable<Result<std::string>> publish(Incident incident);

  /// Adds the result of a bisection that ended later to a published report, once: as a comment on
  /// the issue, or by rewriting the file. An issue that is gone or locked gets none; without a
  /// configured repository the update stays pending. Safe to repeat after a crash at any
  /// instruction: a comment that exists is found, not written again.
  boost::asio::awaitable<Result<>> publish_update(Bisection bisection);

  /// Adds the result of a later edition of its nightly's file to a published report, once.
  /// Otherwise does what publish_update() does.
  boost::asio::awaitable<Result<>> publish_correction(Incident incident);

 private:
  Result<std::string> write(IncidentStory const& story);
  boost::asio::awaitable<Result<github::CreatedIssue>> file(IncidentId incident,
                                                            github::IssueDraft draft);
  void check_labels(github::CreatedIssue const& issue);
  boost::asio::awaitable<Result<>> comment(IncidentStory story, Bisection bisection);
  boost::asio::awaitable<Result<>> comment_correction(IncidentStory story);

  config::GithubOptions const& options_;
  storage::Store& store_;
  std::filesystem::path state_dir_;
  Network network_;
};

}  // namespace torchwatch::report
