#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/feed/announcer.h"
#include "daemon/nightly/alarms.h"
#include "daemon/nightly/life.h"
#include "daemon/nightly/stages.h"
#include "daemon/report/sender.h"
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
           Life& life,
           report::Sender& sender)
      : store_{store},
        announcer_{announcer},
        stages_{stages},
        alarms_{alarms},
        life_{life},
        sender_{sender} {}

  /// Does one pass. Reads the feed, judges all nightlies that are not judged yet, oldest first, and
  /// follows the incidents. An incident is reported before its bisection begins.
  ///
  /// An Error means a temporary failure; the next pass continues. Some failures delay nothing else:
  /// a feed that does not reply, a report that cannot be delivered, and a later edition that does
  /// not arrive.
  boost::asio::awaitable<Result<>> pass();

 private:
  void check_end();
  boost::asio::awaitable<Result<>> publish();

  storage::Store& store_;
  feed::Announcer& announcer_;
  Stages& stages_;
  Alarms& alarms_;
  Life& life_;
  report::Sender& sender_;
};

}  // namespace torchwatch::nightly
