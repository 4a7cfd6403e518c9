#include "runner/process/process_tree.h"

#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace torchwatch::process {

namespace {

/// Returns the resident pages of a process; zero when it has just ended.
std::int64_t resident_pages(std::string const& proc, pid_t pid) {
  std::ifstream statm{proc + '/' + std::to_string(pid) + "/statm"};
  std::int64_t size = 0;
  std::int64_t resident = 0;
  statm >> size >> resident;
  return resident;
}

/// Visits all processes below `proc` until `visit` returns false.
void for_each_process(std::string const& proc, std::function<bool(pid_t)> const& visit) {
  std::unique_ptr<DIR, int (*)(DIR*)> const processes{::opendir(proc.c_str()), &::closedir};
  if (!processes) return;
  while (dirent const* const entry = ::readdir(processes.get())) {
    pid_t pid = 0;
    char const* const end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, pid).ptr != end) continue;
    if (!visit(pid)) return;
  }
}

/// Returns the parent of a process; zero when the process has just ended.
pid_t parent_of(pid_t pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::string line;
  std::getline(stat, line);
  // "PID (NAME) STATE PARENT ...", where a name may contain any character.
  auto const name_end = line.rfind(") ");
  if (name_end == std::string::npos) return 0;
  pid_t parent = 0;
  auto const* const begin = line.data() + name_end + 4;
  std::from_chars(begin, line.data() + line.size(), parent);
  return parent;
}

/// Finds a child by reading every process of the host. That takes 0.1 s when there are thousands.
std::optional<pid_t> a_child_by_looking(pid_t parent) {
  std::optional<pid_t> child;
  for_each_process("/proc", [&](pid_t pid) {
    if (parent_of(pid) == parent) child = pid;
    return !child;
  });
  return child;
}

/// Finds a child in the kernel's lists of each thread's children. Reads every process instead when
/// the kernel was built without CONFIG_PROC_CHILDREN.
std::optional<pid_t> a_child_of(pid_t parent) {
  auto const threads = "/proc/" + std::to_string(parent) + "/task";
  bool is_listed = false;
  std::optional<pid_t> child;
  for_each_process(threads, [&](pid_t thread) {
    std::ifstream list{threads + '/' + std::to_string(thread) + "/children"};
    is_listed = is_listed || list.is_open();
    if (pid_t first = 0; list >> first) child = first;
    return !child;
  });
  return is_listed ? child : a_child_by_looking(parent);
}

/// True when `proc` is not a mount of our own /proc. Mounts for one namespace are one device.
bool is_another_proc(std::string const& proc) {
  struct stat theirs {};

  struct stat ours {};

  return ::stat(proc.c_str(), &theirs) == 0 && ::stat("/proc", &ours) == 0 &&
         theirs.st_dev != ours.st_dev;
}

}  // namespace

Holding ProcessTree::look() {
  Holding holding;
  if (is_sandboxed_ && !find_sandbox()) return holding;
  std::int64_t pages = 0;
  auto const proc = is_sandboxed_ ? sandbox_ : std::string{"/proc"};
  for_each_process(proc, [&](pid_t pid) {
    // One system call is cheaper than a file, and most processes are not in this group.
    if (!is_sandboxed_ && ::getpgid(pid) != leader_) return true;
    pages += resident_pages(proc, pid);
    return ++holding.processes < most_counted;
  });
  holding.resident_bytes = pages * ::sysconf(_SC_PAGESIZE);
  return holding;
}

bool ProcessTree::has(pid_t pid) const {
  if (!is_sandboxed_) return ::getpgid(pid) == leader_;
  while (pid > 1 && pid != leader_)
    pid = parent_of(pid);
  return pid == leader_;
}

/// Finds the sandbox's /proc through its first process, which is the child of bubblewrap.
bool ProcessTree::find_sandbox() {
  if (!sandbox_.empty()) return true;
  auto const first = a_child_of(leader_);
  if (!first) return false;
  auto const proc = "/proc/" + std::to_string(*first) + "/root/proc";
  if (!is_another_proc(proc)) return false;
  sandbox_ = proc;
  return true;
}

void kill_all_children() {
  while (auto const child = a_child_of(::getpid())) {
    ::kill(*child, SIGKILL);
    ::waitpid(*child, nullptr, 0);
  }
}

void adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

}  // namespace torchwatch::process
