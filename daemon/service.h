#pragma once

#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "config/options.h"
#include "daemon/alarming.h"
#include "daemon/bisecting.h"
#include "daemon/builder.h"
#include "daemon/fetching.h"
#include "daemon/fleets.h"
#include "daemon/judging.h"
#include "daemon/measuring.h"
#include "daemon/pipeline.h"
#include "daemon/searching.h"
#include "storage/store.h"

namespace torchwatch {

/// The working parts, wired. Built top to bottom, destroyed bottom to top; a part uses only parts
/// above it. Single-threaded, on `executor`; `options`, `store` and `clock` must outlive it.
struct Service {
  Service(boost::asio::any_io_executor executor,
          config::Options const& options,
          std::string const& executable,
          storage::Store& store,
          Clock const& clock)
      : fleets{executor, options.fleets, executable},
        measuring{store, clock, options.measure, options.suite},
        builder{executor, options.source, options.state_dir, store, clock},
        fetching{executor, options.source},
        bisecting{store, fleets, measuring, builder, fetching, options},
        searching{executor, store, bisecting},
        alarming{options, store, clock},
        judging{options.decide, store, clock, fleets, measuring},
        pipeline{options,
                 store,
                 clock,
                 fleets,
                 measuring,
                 judging,
                 builder,
                 fetching,
                 searching,
                 alarming} {}

  Fleets fleets;
  Measuring measuring;
  Builder builder;
  Fetching fetching;
  Bisecting bisecting;
  Searching searching;
  Alarming alarming;
  Judging judging;
  Pipeline pipeline;
};

}  // namespace torchwatch
