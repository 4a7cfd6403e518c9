#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/build.h"
#include "storage/domain/job.h"
#include "tests/fakes/memory/scripted_rounds.h"
#include "tests/years/chance.h"
#include "tests/years/request.h"
#include "tests/years/suite.h"

namespace torchwatch::years {

/// A cause, other than a commit, that makes processes slower or fail.
struct Disturbance {
  std::function<bool(JobOutcome const&, Build const&)> strikes;
  double ratio = 1;                 ///< factor of the time
  std::optional<JobError> error{};  ///< if set, the process fails
  std::string message{};            ///< text of the error
};

/// Generates the reports of worker processes. The world gives the ratio of a build to a typical
/// one. This class multiplies it with the usual level of the series, and adds noise, the pace of
/// the host and disturbances.
class Processes {
 public:
  /// `request` must outlive it.
  explicit Processes(Request const& request);

  /// Makes `rounds` use these reports. Must outlive `rounds`.
  void attach_to(fakes::ScriptedRounds& rounds);

  void disturb(Disturbance disturbance) { disturbances_.push_back(std::move(disturbance)); }

  /// Gives the host of a fleet another kernel or driver, and so another pace.
  void change_host(std::string const& fleet);

  void make_noisy(FleetBenchmark benchmark) { noisy_.insert(std::move(benchmark)); }

  /// Attributes further increases of a benchmark's time to this operator.
  void blame(FleetBenchmark const& benchmark, std::string_view op) { blamed_[benchmark] = op; }

  /// Starts a round: the next outcomes belong to it.
  void begin_round();

 private:
  struct Host {
    int changes = 0;
    double pace = 1;
    std::string fingerprint{};  ///< a JSON object
  };

  void finish(JobOutcome& outcome, Build const& build);
  bool fails(JobOutcome& outcome, Build const& build) const;
  void finish(JobOutcome const& outcome, Build const& build, Metric metric, MetricValue& value);
  void finish_time(Series const& series, double ratio, MetricValue& value);
  void add_accounts(JobOutcome& outcome) const;
  void add_profile(JobOutcome& outcome, double growth) const;
  Usual const& usual(Series const& series);

  Host& host_of(std::string const& fleet) { return hosts_.at(fleet); }

  Request const& request_;
  Chance chance_;
  std::map<std::string, Host> hosts_;
  std::map<Series, Usual> usuals_;
  std::vector<Disturbance> disturbances_;
  std::set<FleetBenchmark> noisy_;
  std::map<FleetBenchmark, std::string_view> blamed_;
  std::uint32_t seed_ = 0;
  int place_ = 0;
};

}  // namespace torchwatch::years
