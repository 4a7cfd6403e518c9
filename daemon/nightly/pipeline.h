#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/feed/announcer.h"
#include "daemon/nightly/alarms.h"
#include "daemon/nightly/stages.h"
#include "daemon/report/publisher.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// The pipeline of torchwatch: judges the nightlies that the feed announces, and publishes the
/// incidents. Single-threaded.
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

  /// Does one pass. Reads the feed, judges all nightlies that are not judged yet, oldest first, and
  /// publishes unpublished incidents. Also publishes updates: later results of bisections and of
  /// editions.
  ///
  /// An Error means a temporary failure; the next pass continues. Some failures delay nothing else:
  /// a feed that does not reply, a report that cannot be delivered, and a later edition that does
  /// not arrive.
  boost::asio::awaitable<Result<>> pass();

 private:
  void check_end();
  boost::asio::awaitable<Result<>> publish_all();
  boost::asio::awaitable<void> publish_updates();

  storage::Store& store_;
  feed::Announcer& announcer_;
  Stages& stages_;
  Alarms& alarms_;
  report::Publisher& publisher_;
  Clock const& clock_;
};

}  // namespace torchwatch::nightly
