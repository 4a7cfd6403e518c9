#include "daemon/service/restore_state.h"

#include <system_error>
#include <utility>

#include "daemon/service/open_store.h"
#include "github/filed.h"
#include "storage/base/small_file.h"
#include "storage/store.h"

namespace torchwatch::service {

namespace fs = std::filesystem;

namespace {

/// Writes the report files of `folder` that are missing, and returns their number.
Result<int> write_reports(storage::Store& store, fs::path const& folder) {
  int written = 0;
  for (auto const& incident : store.incidents().all()) {
    fs::path const report = incident.report;
    std::error_code ignored;
    if (report.parent_path() != folder || fs::exists(report, ignored)) continue;
    fs::create_directories(folder, ignored);  // writing the file reports the problem
    auto const text = github::filed_report(store.outbox().of(incident.id));
    auto const done = write_small_file(report, text);
    if (!done) return done.error();
    ++written;
  }
  return written;
}

}  // namespace

Result<RestoredState> restore_state(fs::path const& file,
                                    fs::path const& state_dir,
                                    storage::IfExists if_exists,
                                    Timestamp now) {
  auto const folder = fs::absolute(state_dir).lexically_normal();
  auto const database = store_file_in(folder);
  auto restored = storage::restore(file, database, if_exists, now);
  if (!restored) return restored.error();
  auto store = storage::Store::open(database);
  if (!store) return store.error();
  auto const reports = write_reports(*store, folder / "reports");
  if (!reports) return reports.error();
  return RestoredState{std::move(*restored), *reports};
}

}  // namespace torchwatch::service
