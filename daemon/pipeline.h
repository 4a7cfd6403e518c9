#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/alarming.h"
#include "daemon/builder.h"
#include "daemon/fetching.h"
#include "daemon/fleets.h"
#include "daemon/judging.h"
#include "daemon/measuring.h"
#include "daemon/searching.h"
#include "storage/store.h"

namespace torchwatch {

/// The product in one place: nightly announced -> prepared -> swept -> screened -> confirmed ->
/// bisected -> done.
///
/// Every arrow is one durable state change, and everything measured on the way is remembered under
/// its own key, so a step that was killed is done again from stored results and decides the same.
/// Single-threaded.
class Pipeline {
 public:
  /// All arguments must outlive it.
  Pipeline(config::Options const& options,
           storage::Store& store,
           Clock const& clock,
           Fleets& fleets,
           Measuring& measuring,
           Judging& judging,
           Builder& builder,
           Fetching& fetching,
           Searching& searching,
           Alarming& alarming)
      : options_{options},
        store_{store},
        clock_{clock},
        fleets_{fleets},
        measuring_{measuring},
        judging_{judging},
        builder_{builder},
        fetching_{fetching},
        searching_{searching},
        alarming_{alarming} {}

  /// One pass: starts the searches that people asked for, asks the feed, for which it fetches
  /// what is new where that is the watched repository, judges every nightly that is not judged yet,
  /// tells what is not told and hears what people say of it. An Error means that the world stood in
  /// the way; the next pass goes on from there. A report that cannot be delivered holds up nothing
  /// else.
  boost::asio::awaitable<Result<>> pass();

 private:
  /// One round of the sweep on one benchmark.
  struct SweepTask {
    Benchmark benchmark;
    int round = 0;
  };

  boost::asio::awaitable<Result<>> look();
  boost::asio::awaitable<Result<>> advance(Nightly& nightly);
  boost::asio::awaitable<Result<>> prepare(Nightly& nightly);
  boost::asio::awaitable<Result<>> sweep(Nightly& nightly);
  boost::asio::awaitable<void> sweep_slot(Fleet& fleet,
                                          Nightly const& nightly,
                                          std::vector<Build> const& builds,
                                          std::deque<SweepTask>& queue);
  void screen(Nightly& nightly);
  boost::asio::awaitable<Result<>> confirm(Nightly& nightly);
  boost::asio::awaitable<Result<>> bisect(Nightly const& nightly);
  boost::asio::awaitable<Result<>> tell_all();

  std::vector<Benchmark> benchmarks_of(Fleet const& fleet) const;
  std::optional<Build> build_of_earlier(Nightly const& nightly);
  std::optional<Build> choose_baseline(Nightly& nightly);
  void move_to(Nightly& nightly, NightlyState state);

  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
  Fleets& fleets_;
  Measuring& measuring_;
  Judging& judging_;
  Builder& builder_;
  Fetching& fetching_;
  Searching& searching_;
  Alarming& alarming_;
};

}  // namespace torchwatch
