#pragma once

#include <list>
#include <string>
#include <vector>

#include "daemon/fleet.h"

namespace torchwatch {

/// All configured fleets. Addresses of its members never change.
class Fleets {
 public:
  Fleets(boost::asio::any_io_executor const& executor,
         std::vector<config::FleetOptions> const& options,
         std::string const& executable) {
    for (auto const& one : options)
      fleets_.emplace_back(executor, one, executable);
  }

  std::list<Fleet>& all() { return fleets_; }

  /// The fleet of that name, or nothing: it may have left the configuration since a series was
  /// measured on it.
  Fleet* find(std::string const& name) {
    for (auto& fleet : fleets_)
      if (fleet.name() == name) return &fleet;
    return nullptr;
  }

 private:
  std::list<Fleet> fleets_;
};

}  // namespace torchwatch
