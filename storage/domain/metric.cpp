#include "storage/domain/metric.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <mutex>

namespace torchwatch {
namespace {

bool is_metric_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char sign) {
    return std::isalnum(sign) != 0 || sign == '_';
  });
}

}  // namespace

/// The declarations of this process. Entries are only added, and keep their place and address.
class MetricTable {
 public:
  struct Declared {
    std::string name;
    MetricKind kind;
  };

  static MetricTable& instance() {
    static MetricTable table;
    return table;
  }

  Declared const& at(Metric metric) const {
    std::scoped_lock const lock{mutex_};
    return declared_.at(static_cast<std::size_t>(metric.id_));
  }

  std::optional<Metric> find(std::string_view name) const {
    std::scoped_lock const lock{mutex_};
    auto const found = std::ranges::find(declared_, name, &Declared::name);
    if (found == declared_.end()) return std::nullopt;
    return Metric{static_cast<int>(found - declared_.begin())};
  }

  Result<Metric> declare(std::string const& name, MetricKind const& kind) {
    if (!is_metric_word(name))
      return Error{ErrorCode::invalid_argument,
                   "metric \"" + name + "\": allowed is a name of letters, digits and _"};
    std::scoped_lock const lock{mutex_};
    auto const found = std::ranges::find(declared_, name, &Declared::name);
    auto const place = static_cast<int>(found - declared_.begin());
    if (found == declared_.end())
      declared_.push_back({name, kind});
    else if (found->kind != kind)
      return Error{ErrorCode::invalid_argument,
                   "metric " + name + ": declared twice with different properties"};
    return Metric{place};
  }

  std::vector<Metric> all() const {
    std::scoped_lock const lock{mutex_};
    std::vector<Metric> metrics;
    for (std::size_t id = 0; id < declared_.size(); ++id)
      metrics.push_back(Metric{static_cast<int>(id)});
    return metrics;
  }

  static bool is_native(Metric metric) { return metric.id_ <= Metric::leak.id_; }

  static int id_of(Metric metric) { return metric.id_; }

 private:
  mutable std::mutex mutex_;
  std::deque<Declared> declared_{
      {"latency", {.unit = "ms"}},
      {"cmem", {.unit = "bytes", .is_exact = true}},
      {"gmem", {.unit = "bytes", .is_exact = true}},
      {"leak", {.unit = "bytes/iteration", .is_exact = true}},
  };
};

std::string const& Metric::name() const {
  return MetricTable::instance().at(*this).name;
}

MetricKind const& Metric::kind() const {
  return MetricTable::instance().at(*this).kind;
}

std::strong_ordering operator<=>(Metric left, Metric right) {
  bool const is_by_name = !MetricTable::is_native(left) && !MetricTable::is_native(right);
  if (is_by_name) return left.name() <=> right.name();
  return MetricTable::id_of(left) <=> MetricTable::id_of(right);
}

bool is_native(Metric metric) {
  return MetricTable::is_native(metric);
}

Result<Metric> declare_metric(std::string const& name, MetricKind const& kind) {
  return MetricTable::instance().declare(name, kind);
}

std::vector<Metric> all_metrics() {
  auto metrics = MetricTable::instance().all();
  std::ranges::sort(metrics);
  return metrics;
}

std::string_view to_string(Metric metric) {
  return metric.name();
}

std::string_view unit_of(Metric metric) {
  return metric.kind().unit;
}

std::optional<Metric> parse_metric(std::string_view text) {
  return MetricTable::instance().find(text);
}

bool is_deterministic(Metric metric) {
  return metric.kind().is_exact;
}

}  // namespace torchwatch
