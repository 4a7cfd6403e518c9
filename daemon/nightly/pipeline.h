#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/feed/announcer.h"
#include "daemon/nightly/alarms.h"
#include "daemon/nightly/stages.h"
#include "daemon/report/publisher.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// The product in one place: what the feed announces is judged, and what was found is published.
/// Single-threaded.
class Pipeline {
 public:
  /// All arguments must outlive it.
  Pipeline(storage::Store& store,
           feed::Announcer& announcer,
           Stages& stages,
           Alarms& alarms,
           report::Publisher& publisher,
           Clock const& clock)
      : store_{store},
        announcer_{announcer},
        stages_{stages},
        alarms_{alarms},
        publisher_{publisher},
        clock_{clock} {}

  /// One pass: asks the feed, judges every nightly that is not judged yet, the oldest first,
  /// publishes what is not published, and tells what bisections found since and what later
  /// editions of files came to. An Error means that the world stood in the way; the next pass goes
  /// on from there. A feed that does not answer, a report that cannot be delivered, or a later
  /// edition of a file that does not come, holds up nothing else.
  boost::asio::awaitable<Result<>> pass();

 private:
  void check_end();
  boost::asio::awaitable<Result<>> publish_all();
  boost::asio::awaitable<void> tell_all();

  storage::Store& store_;
  feed::Announcer& announcer_;
  Stages& stages_;
  Alarms& alarms_;
  report::Publisher& publisher_;
  Clock const& clock_;
};

}  // namespace torchwatch::nightly
