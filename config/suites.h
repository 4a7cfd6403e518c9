#pragma once

#include <string>
#include <vector>

#include "config/options.h"
#include "storage/base/result.h"
#include "storage/domain/metric.h"

namespace torchwatch::config {

/// Returns the suites of the configuration: the native one first, then the others in their order.
/// The pointers are into `options`.
std::vector<SuiteOptions const*> all_suites(Options const& options);

/// Returns the suite with this name, a pointer into `options`. Fails with invalid_argument, and
/// lists the names, when there is none.
Result<SuiteOptions const*> find_suite(Options const& options, std::string const& name);

/// True when the hosts of the fleet run the suite.
bool runs(FleetOptions const& fleet, SuiteOptions const& suite);

/// Returns the backends with which each model of the suite is measured.
std::vector<std::string> backends_of(SuiteOptions const& suite);

MetricKind kind_of(MetricOptions const& metric);

/// Returns the options that declare a metric of this kind.
MetricOptions options_of(MetricKind const& kind);

/// Returns "ms, lower is better, noisy"; with threshold and floor where they are set.
std::string description_of(MetricOptions const& metric);

/// Declares the metrics of all suites for this program. Call it before the database is opened and
/// before anything is measured. Fails with invalid_argument when a metric is already declared in
/// another way.
Result<> declare_metrics(Options const& options);

}  // namespace torchwatch::config
