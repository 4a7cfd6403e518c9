#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch {

/// The properties of a metric, as its suite declares them.
struct MetricKind {
  std::string unit;               ///< "ms", "bytes", "1/s"
  bool is_higher_better = false;  ///< true for throughputs
  bool is_exact = false;          ///< two processes of one build report the same value
  double threshold = 0;           ///< smallest relative change to report; 0: decide.threshold
  double floor = 0;               ///< smaller changes never count, in the unit
  friend bool operator==(MetricKind const&, MetricKind const&) = default;
};

/// A measured quantity of a benchmark. Refers to its declaration, which exists until the program
/// ends. The four metrics of the native suite are declared from the start. Any thread may read
/// metrics; declare_metric() may run at the same time.
class Metric {
 public:
  static Metric const latency;  ///< milliseconds of one iteration, median of the runs
  static Metric const cmem;     ///< peak bytes allocated on the CPU
  static Metric const gmem;     ///< peak bytes allocated on the GPU
  static Metric const leak;     ///< bytes kept per iteration

  std::string const& name() const;
  MetricKind const& kind() const;

  friend bool operator==(Metric left, Metric right) { return left.id_ == right.id_; }

  /// The native metrics in the order above, then the others by name.
  friend std::strong_ordering operator<=>(Metric left, Metric right);

 private:
  friend class MetricTable;

  explicit constexpr Metric(int id) : id_{id} {}

  int id_;  // the position in the table of declarations
};

inline constexpr Metric Metric::latency{0};
inline constexpr Metric Metric::cmem{1};
inline constexpr Metric Metric::gmem{2};
inline constexpr Metric Metric::leak{3};

/// True for the four metrics of the native suite, which are declared from the start.
bool is_native(Metric metric);

/// Declares a metric. Declaring it again in the same way returns the same metric.
/// invalid_argument: it is declared in another way, or the name is not one or more of
/// [A-Za-z0-9_].
Result<Metric> declare_metric(std::string const& name, MetricKind const& kind);

/// All declared metrics, in their order.
std::vector<Metric> all_metrics();

std::string_view to_string(Metric metric);
/// "ms", "bytes", "bytes/iteration", or what the suite declares.
std::string_view unit_of(Metric metric);
std::optional<Metric> parse_metric(std::string_view text);

/// True for metrics that two processes of the same build report alike to the byte.
bool is_deterministic(Metric metric);

}  // namespace torchwatch
