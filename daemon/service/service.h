#pragma once

#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/bisection/bisector.h"
#include "daemon/bisection/queue.h"
#include "daemon/build/git_fetch.h"
#include "daemon/build/recipe_builder.h"
#include "daemon/measure/fleet_rounds.h"
#include "daemon/measure/fleets.h"
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

/// The working parts, wired. Built top to bottom, destroyed bottom to top; a part uses only parts
/// above it. Single-threaded, on `executor`.
struct Service {
  /// `options`, `store` and `clock` must outlive it. `executable`: this program.
  Service(boost::asio::any_io_executor executor,
          config::Options const& options,
          std::string const& executable,
          storage::Store& store,
          Clock const& clock);

  /// One pass over the feed: starts the bisections that people asked for, judges what is new,
  /// publishes it, and hears what people answered. Errors as Pipeline::pass's.
  boost::asio::awaitable<Result<>> pass();

  measure::Fleets fleets;
  measure::FleetRounds rounds;
  build::RecipeBuilder builder;
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
