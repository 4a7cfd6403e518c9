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

/// What happened since the start, for Prometheus. Names are of its conventions: base units, and
/// `_total` of what only grows. Any thread.
class Counters {
 public:
  Counters();

  /// A worker process ended. `outcome`: "ok", or a JobError's word.
  void job(std::string const& fleet, std::string const& outcome, double seconds);

  /// A round waited for a slot of the fleet, and had it for so long.
  void slot(std::string const& fleet, double waited_seconds, double busy_seconds);

  /// `status`: of the answer; 0 when none came. Everybody's words are cut to what HTTP has.
  void github_request(std::string const& method, int status);

  /// Requests that GitHub lets pass until its limit is reset.
  void github_limit(double remaining);

  /// `route`: with "{id}" where it has one, and "none" for what leads nowhere.
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
