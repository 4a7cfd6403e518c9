#include "runner/command/samples.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/worker/statistics.h"

namespace torchwatch::command {
namespace {

/// Returns the shortest text that stands for exactly this number.
std::string exact_text(double value) {
  return nlohmann::json(value).dump();
}

}  // namespace

Result<> Samples::add(Run const& run) {
  for (auto const& [metric, value] : run) {
    auto& samples = samples_[metric];
    if (is_exact(metric) && !samples.empty() && samples.front() != value)
      return Error{ErrorCode::corrupt,
                   "metric " + metric + " is exact, but has two values: " +
                       exact_text(samples.front()) + " and " + exact_text(value) +
                       R"(; let it repeat, or declare it with "kind": "noisy")"};
    if (samples.size() < runs_) samples.push_back(value);
  }
  return {};
}

std::size_t Samples::count() const {
  auto least = wanted_.required.empty() ? 0 : runs_;
  for (auto const& metric : wanted_.required) {
    auto const found = samples_.find(metric);
    least = std::min(least, found == samples_.end() ? 0 : found->second.size());
  }
  return least;
}

std::map<std::string, protocol::Value> Samples::values() const {
  std::map<std::string, protocol::Value> values;
  for (auto const& [metric, samples] : samples_) {
    auto& value = values[metric];
    value.samples = is_exact(metric) ? std::vector{samples.front()} : samples;
    value.value = worker::median(value.samples);
    value.outliers = worker::outliers(value.samples);
  }
  return values;
}

bool Samples::is_exact(std::string const& metric) const {
  return std::ranges::find(wanted_.exact, metric) != wanted_.exact.end();
}

}  // namespace torchwatch::command
