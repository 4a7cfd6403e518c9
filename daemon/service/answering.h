#pragma once

#include <string>
#include <thread>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "config/options.h"
#include "daemon/api/routes.h"
#include "daemon/http/endpoint.h"
#include "storage/base/result.h"
#include "storage/store.h"

namespace torchwatch::service {

/// The tokens that clients need. Without `changing`, no client may change anything; without
/// `reading`, every client may read.
struct Tokens {
  std::string changing;
  std::string reading;
};

/// Reads the tokens in the files that `http` names; warns of a file that every user can read. Fails
/// with one line that names the file and the problem.
Result<Tokens> read_tokens(config::HttpOptions const& http);

/// The HTTP half of the service: a thread with its own loop and reading connection, so that long
/// git walks and writes do not delay replies.
class Answering {
 public:
  /// `loop`, `reader`, `health` and `counters` must outlive it. Only this object runs `loop`, which
  /// `endpoint` uses. `reader` is used only on its thread, and `requests` are called there.
  Answering(boost::asio::io_context& loop,
            http::Endpoint endpoint,
            config::Options const& options,
            Tokens tokens,
            storage::Store& reader,
            api::SharedHealth const& health,
            metrics::Counters& counters,
            api::Requests requests);

  Answering(Answering const&) = delete;
  Answering& operator=(Answering const&) = delete;

  /// Finishes replies in progress, for at most ten seconds.
  ~Answering();

 private:
  void serve(http::Endpoint endpoint);

  SystemClock clock_;
  boost::asio::io_context& loop_;
  boost::asio::cancellation_signal stop_;
  boost::asio::steady_timer patience_{loop_};
  api::Api api_;
  std::jthread thread_;  // joined first; "answering" in top -H
};

}  // namespace torchwatch::service
