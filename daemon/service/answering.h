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

/// What clients must know to change something, and to read; empty: nobody may change, everybody may
/// read.
struct Tokens {
  std::string changing;
  std::string reading;
};

/// The tokens in the files that `http` names; warns of a file that every user can read. Fails with
/// one line that names the file and what is wrong with it.
Result<Tokens> read_tokens(config::HttpOptions const& http);

/// The answering half of the service: a thread with a loop and a reading connection of its own, so
/// that neither long git walks nor writes hold up an answer.
class Answering {
 public:
  /// `loop`, which nobody else runs, `reader`, `health` and `counters` must outlive it. `endpoint`
  /// is of `loop`. `reader` is used on its thread alone, and `requests` are called there.
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

  /// Finishes answers in progress, for at most ten seconds.
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
