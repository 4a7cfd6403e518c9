#include "config/needs.h"

#include <algorithm>

#include "config/suites.h"

namespace torchwatch::config {
namespace {

/// True when `holds` is true for a suite that a fleet runs.
template <class Holds>
bool any_measured_suite(Options const& options, Holds holds) {
  return std::ranges::any_of(all_suites(options), [&](SuiteOptions const* suite) {
    return holds(*suite) && std::ranges::any_of(options.fleets, [suite](FleetOptions const& fleet) {
             return runs(fleet, *suite);
           });
  });
}

}  // namespace

bool needs_python(Options const& options) {
  return any_measured_suite(
      options, [](SuiteOptions const& suite) { return suite.needs == BuildNeeds::python; });
}

bool needs_compiled_worker(Options const& options) {
  return any_measured_suite(options, [](SuiteOptions const& suite) {
    return suite.needs == BuildNeeds::libtorch && suite.worker.empty() && suite.command.empty();
  });
}

}  // namespace torchwatch::config
