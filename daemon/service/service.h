#pragma once

#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "daemon/builds/recipe_builder.h"
#include "daemon/measure/fleet_rounds.h"
#include "daemon/measure/fleets.h"
#include "daemon/measure/seeds.h"
#include "daemon/metrics/counters.h"
#include "daemon/service/parts.h"

namespace torchwatch::service {

/// The service with its real external services: runners, recipes, HTTPS and random seeds.
/// Single-threaded, on `executor`.
struct Service {
  /// `options`, `store` and `clock` must outlive it. `executable`: this program.
  Service(boost::asio::any_io_executor executor,
          config::Options const& options,
          std::string const& executable,
          storage::Store& store,
          Clock const& clock);

  metrics::Counters counters;
  measure::Fleets fleets;
  measure::SystemSeeds seeds;
  measure::FleetRounds rounds;
  builds::Workshop workshop;
  builds::WorkerProgram workers;
  builds::FetchProgram fetcher;
  builds::BuildStore kept;
  builds::RecipeBuilder builder;
  ServiceParts parts;
};

}  // namespace torchwatch::service
