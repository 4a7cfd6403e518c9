#pragma once

#include <filesystem>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/report/connection.h"
#include "storage/store.h"

namespace torchwatch::report {

/// Publishes incidents: as GitHub issues when a repository is configured, else as Markdown files
/// under `state_dir/reports`. What is found later is added. Single-threaded.
class Publisher {
 public:
  /// `options` and `store` must outlive it.
  Publisher(config::GithubOptions const& options,
            storage::Store& store,
            std::filesystem::path state_dir,
            OpenTransport open_transport)
      : options_{options},
        store_{store},
        state_dir_{std::move(state_dir)},
        open_transport_{std::move(open_transport)} {}

  /// Publishes an incident, once. Returns the URL or the file's path, and stores it with
  /// the incident. Safe to call again after a crash at any instant: the intent is stored first, and
  /// an issue that carries its key is found, not filed again.
  boost::asio::awaitable<Result<std::string>> publish(Incident incident);

  /// Adds to a published report, once, what a bisection found that ended later: as a comment on the
  /// issue, or by rewriting the file. An issue that is gone or locked gets none; without a
  /// configured repository the update stays pending. May be called again after a crash at any
  /// instant: a comment that exists is found, not written again.
  boost::asio::awaitable<Result<>> publish_update(Bisection bisection);

 private:
  Result<std::string> write(IncidentStory const& story);
  boost::asio::awaitable<Result<>> comment(IncidentStory story, Bisection bisection);

  config::GithubOptions const& options_;
  storage::Store& store_;
  std::filesystem::path state_dir_;
  OpenTransport open_transport_;
};

}  // namespace torchwatch::report
