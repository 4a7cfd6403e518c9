#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/bisection/bisector.h"
#include "daemon/bisection/queue.h"
#include "daemon/build/builder.h"
#include "daemon/build/git_fetch.h"
#include "daemon/measure/rounds.h"
#include "daemon/nightly/alarms.h"
#include "daemon/nightly/feeds.h"
#include "daemon/nightly/investigation.h"
#include "daemon/nightly/pipeline.h"
#include "daemon/nightly/preparation.h"
#include "daemon/nightly/stages.h"
#include "daemon/nightly/sweep.h"
#include "daemon/nightly/verdicts.h"
#include "daemon/report/feedback.h"
#include "daemon/report/publisher.h"
#include "storage/store.h"

namespace torchwatch::service {

/// Everything between the edges of the world, wired: who measures, who builds and who talks to
/// GitHub is given. Built top to bottom, destroyed bottom to top; a part uses only parts above it.
/// Single-threaded, on `executor`.
struct Parts {
  /// All but `open_transport` must outlive it.
  Parts(boost::asio::any_io_executor const& executor,
        config::Options const& options,
        storage::Store& store,
        Clock const& clock,
        measure::Rounds& rounds,
        build::Builder& builder,
        report::OpenTransport const& open_transport);

  /// One pass over the feed: starts the bisections that people asked for, judges what is new,
  /// publishes it, and collects what people answered. Errors as Pipeline::pass's.
  boost::asio::awaitable<Result<>> pass();

  build::GitFetch git_fetch;
  bisection::Bisector bisector;
  bisection::Queue queue;
  nightly::Alarms alarms;
  nightly::Feeds feeds;
  nightly::Preparation preparation;
  nightly::Sweep sweep;
  nightly::Verdicts verdicts;
  nightly::Investigation investigation;
  nightly::Stages stages;
  report::Publisher publisher;
  report::Feedback feedback;
  nightly::Pipeline pipeline;
};

}  // namespace torchwatch::service
