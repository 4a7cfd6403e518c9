#include "daemon/builds/logs.h"

#include <algorithm>
#include <system_error>
#include <vector>

namespace torchwatch::builds {
namespace fs = std::filesystem;

namespace {

/// The minimum age: a program may still be writing to a newer log, and its Watchdog reads the size
/// of the file.
constexpr std::chrono::hours fresh{1};

struct Log {
  fs::path path;
  fs::file_time_type written;
  std::uintmax_t bytes = 0;
};

/// Returns the logs in `folder`, the most recently written first.
std::vector<Log> logs_in(fs::path const& folder) {
  std::vector<Log> logs;
  std::error_code problem;
  for (auto at = fs::directory_iterator{folder, problem}; !problem && at != fs::end(at);
       at.increment(problem)) {
    std::error_code gone;
    Log log{at->path(), at->last_write_time(gone), 0};
    if (!gone) log.bytes = at->file_size(gone);
    if (!gone) logs.push_back(std::move(log));
  }
  std::ranges::sort(logs, std::ranges::greater{}, &Log::written);
  return logs;
}

}  // namespace

void prune_logs(fs::path const& folder, std::chrono::seconds age, std::uintmax_t most_bytes) {
  auto const now = fs::file_time_type::clock::now();
  std::uintmax_t bytes = 0;
  for (auto const& log : logs_in(folder)) {
    bytes += log.bytes;
    std::error_code ignored;
    bool const is_too_much = bytes > most_bytes && now - log.written > fresh;
    if (now - log.written > age || is_too_much) fs::remove(log.path, ignored);
  }
}

}  // namespace torchwatch::builds
