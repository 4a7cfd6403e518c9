#include "runner/process/process_group.h"

#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include <dirent.h>
#include <unistd.h>

namespace torchwatch::process {

namespace {

/// Zero when the process has just ended.
std::int64_t resident_pages(pid_t pid) {
  std::ifstream statm{"/proc/" + std::to_string(pid) + "/statm"};
  std::int64_t size = 0;
  std::int64_t resident = 0;
  statm >> size >> resident;
  return resident;
}

}  // namespace

std::int64_t resident_bytes(pid_t group) {
  std::unique_ptr<DIR, int (*)(DIR*)> const processes{::opendir("/proc"), &::closedir};
  if (!processes) return 0;
  std::int64_t pages = 0;
  while (dirent const* const entry = ::readdir(processes.get())) {
    pid_t pid = 0;
    char const* const end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, pid).ptr != end) continue;
    // One system call instead of a file for the many processes that are not ours.
    if (::getpgid(pid) == group) pages += resident_pages(pid);
  }
  return pages * ::sysconf(_SC_PAGESIZE);
}

}  // namespace torchwatch::process
