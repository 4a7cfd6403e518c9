#pragma once

#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "daemon/measure/fleet.h"

namespace torchwatch::measure {

/// All configured fleets. Addresses of its members never change.
class Fleets {
 public:
  /// `start`: returns the function that starts a fleet's runners.
  Fleets(boost::asio::any_io_executor const& executor,
         std::vector<config::FleetOptions> const& options,
         std::function<StartRunner(config::FleetOptions const&)> const& start,
         FleetLimits limits = {}) {
    for (auto const& one : options)
      fleets_.emplace_back(executor, one, start(one), limits);
  }

  /// Returns the fleet of that name, or nothing: a series may belong to a fleet that is no longer
  /// configured.
  Fleet* find(std::string const& name) {
    for (auto& fleet : fleets_)
      if (fleet.name() == name) return &fleet;
    return nullptr;
  }

  /// Returns each fleet's isolation of workers, as its runners last reported it; empty before the
  /// first report.
  std::map<std::string, std::string> isolation() const {
    std::map<std::string, std::string> all;
    for (auto const& fleet : fleets_)
      all[fleet.name()] = fleet.isolation();
    return all;
  }

  std::list<Fleet> const& all() const { return fleets_; }

  Fleet& first() { return fleets_.front(); }

 private:
  std::list<Fleet> fleets_;
};

}  // namespace torchwatch::measure
