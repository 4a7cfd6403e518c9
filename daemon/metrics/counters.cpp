#include "daemon/metrics/counters.h"

#include <algorithm>
#include <array>

namespace torchwatch::metrics {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;

/// The buckets of requests, in seconds; the defaults of Prometheus.
prometheus::Histogram::BucketBoundaries const of_requests{
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};

/// The buckets of slots, in seconds: a sweep uses its slots for hours.
prometheus::Histogram::BucketBoundaries const of_slots{0.1, 1, 10, 60, 300, 1800, 7200};

/// Maps unknown methods to "other": a series for each invented word would fill the memory.
std::string known_method(std::string const& method) {
  constexpr std::array known{"GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "DELETE"};
  return std::ranges::find(known, method) == known.end() ? "other" : method;
}

}  // namespace

Counters::Counters()
    : jobs_{BuildCounter()
                .Name("torchwatch_jobs_total")
                .Help("Worker processes that ended, by how.")
                .Register(registry_)},
      job_seconds_{BuildCounter()
                       .Name("torchwatch_job_seconds_total")
                       .Help("What worker processes took.")
                       .Register(registry_)},
      slot_waits_{BuildHistogram()
                      .Name("torchwatch_slot_wait_seconds")
                      .Help("How long rounds waited for a slot.")
                      .Register(registry_)},
      slot_seconds_{BuildCounter()
                        .Name("torchwatch_slot_busy_seconds_total")
                        .Help("How long slots were measuring.")
                        .Register(registry_)},
      github_requests_{BuildCounter()
                           .Name("torchwatch_github_requests_total")
                           .Help("Requests to GitHub, by status; 0 is no answer.")
                           .Register(registry_)},
      github_limit_{BuildGauge()
                        .Name("torchwatch_github_rate_limit_remaining")
                        .Help("Requests that GitHub lets pass until its limit is reset.")
                        .Register(registry_)},
      http_requests_{BuildCounter()
                         .Name("torchwatch_http_requests_total")
                         .Help("Requests that were answered or refused.")
                         .Register(registry_)},
      http_seconds_{BuildHistogram()
                        .Name("torchwatch_http_request_duration_seconds")
                        .Help("How long answers took to make.")
                        .Register(registry_)} {}

void Counters::job(std::string const& fleet, std::string const& outcome, double seconds) {
  jobs_.Add({{"fleet", fleet}, {"outcome", outcome}}).Increment();
  job_seconds_.Add({{"fleet", fleet}}).Increment(std::max(0.0, seconds));
}

void Counters::slot(std::string const& fleet, double waited_seconds, double busy_seconds) {
  slot_waits_.Add({{"fleet", fleet}}, of_slots).Observe(waited_seconds);
  slot_seconds_.Add({{"fleet", fleet}}).Increment(std::max(0.0, busy_seconds));
}

void Counters::github_request(std::string const& method, int status) {
  github_requests_.Add({{"method", known_method(method)}, {"status", std::to_string(status)}})
      .Increment();
}

void Counters::github_limit(double remaining) {
  github_limit_.Add({}).Set(remaining);
}

void Counters::http_request(std::string const& route,
                            std::string const& method,
                            int status,
                            double seconds) {
  http_requests_
      .Add({{"route", route}, {"method", known_method(method)}, {"status", std::to_string(status)}})
      .Increment();
  http_seconds_.Add({{"route", route}}, of_requests).Observe(seconds);
}

}  // namespace torchwatch::metrics
