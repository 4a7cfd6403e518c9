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
  /// `start`: how a fleet's runners are started.
  Fleets(boost::asio::any_io_executor const& executor,
         std::vector<config::FleetOptions> const& options,
         std::function<StartRunner(config::FleetOptions const&)> const& start,
         FleetLimits limits = {}) {
    for (auto const& one : options)
      fleets_.emplace_back(executor, one, start(one), limits);
  }

  /// The fleet of that name, or nothing: it may have left the configuration since a series was
  /// measured on it.
  Fleet* find(std::string const& name) {
    for (auto& fleet : fleets_)
      if (fleet.name() == name) return &fleet;
    return nullptr;
  }

  /// By what each keeps its workers from their hosts, as its runners said last; empty: none has
  /// spoken yet.
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
