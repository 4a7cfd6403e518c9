#include "tests/years/hosts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/years/chance.h"

namespace torchwatch::years {
namespace {

/// Nights before the newest at which the host was last changed, and between such changes.
struct Changes {
  std::size_t newest;
  std::size_t every;
};

Changes changes_of(std::string const& fleet) {
  if (fleet == "gpu") return {125, 420};
  return {fleet == "cpu" ? std::size_t{68} : std::size_t{200}, 380};
}

/// They were fewer then.
std::string kernel(std::size_t change) {
  return fmt::format("6.{}.0-{}-amd64", 1 + change, 13 + 7 * change);
}

}  // namespace

std::size_t Hosts::changes(std::string const& fleet, std::size_t night) const {
  auto const [newest, every] = changes_of(fleet);
  auto const ago = nights_ - 1 - night;
  auto const all = nights_ / every + 1;
  auto const to_come = ago < newest ? 0 : (ago - newest) / every + 1;
  return all - std::min(all, to_come);
}

bool Hosts::is_changed(std::string const& fleet, std::size_t night) const {
  return night > 0 && changes(fleet, night) != changes(fleet, night - 1);
}

std::string Hosts::fingerprint(std::string const& fleet, std::size_t night) const {
  auto const change = changes(fleet, night);
  nlohmann::json all{{"host", fmt::format("bench-{}-01", fleet)},
                     {"kernel", kernel(change)},
                     {"governor", "performance"},
                     {"processors", {2, 3}},
                     {"threads", 1},
                     {"libtorch", "2.11.0"},
                     {"libtorch_config", "5f0c3ab1d77e"}};
  if (fleet == "gpu") {
    all["cpu"] = "AMD EPYC 7763 64-Core Processor";
    all["gpu"] = "NVIDIA A100-SXM4-80GB";
    all["gpu_driver"] = fmt::format("{}.54.15", 550 + 10 * change);
    all["gpu_driver_cuda"] = 12040 + 20 * static_cast<int>(change);
    all["gpu_runtime_cuda"] = 12060;
  } else {
    all["cpu"] = fleet == "cpu" ? "AMD EPYC 9354P 32-Core Processor" : "Neoverse-V2";
  }
  return all.dump();
}

double Hosts::pace(std::string const& fleet, std::size_t night) const {
  constexpr double a_change = 0.02;
  constexpr double weather = 0.002;
  auto const change = changes(fleet, night);
  double log_pace = weather * Chance{seed_, "weather of " + fleet, night}.normal();
  for (std::size_t i = 0; i < change; ++i) {
    Chance chance{seed_, "host of " + fleet, i};
    log_pace += a_change * chance.between(0.6, 1) * (chance.happens(0.5) ? 1 : -1);
  }
  return std::exp(log_pace);
}

}  // namespace torchwatch::years
