#include "storage/metrics.h"

#include <string>

#include "storage/database.h"
#include "storage/domain/metric.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_metrics =
    "SELECT name, unit, is_higher_better, is_exact, threshold, floor FROM metric ";

struct StoredMetric {
  std::string name;
  MetricKind kind;
};

StoredMetric read_metric(SQLite::Statement& row) {
  StoredMetric stored;
  stored.name = row.getColumn(0).getString();
  stored.kind.unit = row.getColumn(1).getString();
  stored.kind.is_higher_better = row.getColumn(2).getInt() != 0;
  stored.kind.is_exact = row.getColumn(3).getInt() != 0;
  stored.kind.threshold = row.getColumn(4).getDouble();
  stored.kind.floor = row.getColumn(5).getDouble();
  return stored;
}

std::string meaning_of(MetricKind const& kind) {
  return kind.unit + (kind.is_higher_better ? ", higher is better" : ", lower is better");
}

Result<> declare_stored(StoredMetric const& stored) {
  auto const configured = parse_metric(stored.name);
  if (!configured) {
    auto const declared = declare_metric(stored.name, stored.kind);
    if (!declared) return declared.error();
    return {};
  }
  auto const now = meaning_of(configured->kind());
  auto const then = meaning_of(stored.kind);
  if (now == then) return {};
  return Error{ErrorCode::invalid_argument,
               "metric " + stored.name + ": found " + now + " in the configuration, allowed is " +
                   then + ", as in the database; give the new metric another name"};
}

}  // namespace

Result<> Metrics::declare() const {
  if (!database_.tableExists("metric")) return {};  // a writer is about to make the tables
  Statement query{database_, select_metrics};
  for (auto const& stored : read_all(query, read_metric)) {
    auto const declared = declare_stored(stored);
    if (!declared) return declared;
  }
  return {};
}

void Metrics::record() {
  for (auto const metric : all_metrics()) {
    if (is_native(metric)) continue;
    Statement query{database_, std::string{select_metrics} + "WHERE name = ?"};
    bind_all(query, metric.name());
    auto const stored = read_one(query, read_metric);
    auto const& kind = metric.kind();
    if (stored && stored->kind == kind) continue;
    Statement write{database_, "INSERT OR REPLACE INTO metric VALUES (?, ?, ?, ?, ?, ?)"};
    bind_all(write,
             metric.name(),
             kind.unit,
             int{kind.is_higher_better},
             int{kind.is_exact},
             kind.threshold,
             kind.floor);
    write.exec();
  }
}

}  // namespace torchwatch::storage
