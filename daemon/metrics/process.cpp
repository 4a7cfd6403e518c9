#include "daemon/metrics/process.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include <sys/resource.h>
#include <unistd.h>

#include "daemon/metrics/families.h"

namespace torchwatch::metrics {
namespace {

double seconds_of(::timeval const& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double processor_seconds() {
  ::rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

std::optional<double> resident_bytes() {
  double pages = 0;
  double resident = 0;
  std::ifstream statm{"/proc/self/statm"};
  if (!(statm >> pages >> resident)) return std::nullopt;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::optional<double> open_files() {
  std::error_code problem;
  std::filesystem::directory_iterator const files{"/proc/self/fd", problem};
  if (problem) return std::nullopt;
  return static_cast<double>(std::distance(begin(files), end(files)));
}

}  // namespace

std::vector<prometheus::MetricFamily> process_metrics() {
  std::vector<prometheus::MetricFamily> all{counter(
      "process_cpu_seconds_total", "Processor time, user and system.", {{processor_seconds()}})};
  if (auto const bytes = resident_bytes())
    all.push_back(gauge("process_resident_memory_bytes", "Resident memory.", {{*bytes}}));
  if (auto const files = open_files())
    all.push_back(gauge("process_open_fds", "Open file descriptors.", {{*files}}));
  return all;
}

}  // namespace torchwatch::metrics
