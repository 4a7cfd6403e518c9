#pragma once

#include <string>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

namespace torchwatch::metrics {

/// Counters of events since the start, for Prometheus. Names follow its conventions: base units,
/// and `_total` for values that only grow. Any thread.
class Counters {
 public:
  Counters();

  /// Call when a worker process ended. `outcome`: "ok", or the word of a JobError.
  void job(std::string const& fleet, std::string const& outcome, double seconds);

  /// Call when a round is done: how long it waited for a slot of the fleet, and how long it used
  /// it.
  void slot(std::string const& fleet, double waited_seconds, double busy_seconds);

  /// `status`: that of the reply; 0 without one. Unknown methods count as "other".
  void github_request(std::string const& method, int status);

  /// Sets the number of requests that GitHub allows until its limit is reset.
  void github_limit(double remaining);

  /// `route`: contains "{id}" for an ID; "none" for an unknown path.
  void http_request(std::string const& route,
                    std::string const& method,
                    int status,
                    double seconds);

  std::vector<prometheus::MetricFamily> collect() const { return registry_.Collect(); }

 private:
  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& jobs_;
  prometheus::Family<prometheus::Counter>& job_seconds_;
  prometheus::Family<prometheus::Histogram>& slot_waits_;
  prometheus::Family<prometheus::Counter>& slot_seconds_;
  prometheus::Family<prometheus::Counter>& github_requests_;
  prometheus::Family<prometheus::Gauge>& github_limit_;
  prometheus::Family<prometheus::Counter>& http_requests_;
  prometheus::Family<prometheus::Histogram>& http_seconds_;
};

}  // namespace torchwatch::metrics
