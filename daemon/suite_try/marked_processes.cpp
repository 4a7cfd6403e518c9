#include "daemon/suite_try/marked_processes.h"

#include <charconv>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include <unistd.h>

namespace torchwatch::suite_try {
namespace {

namespace fs = std::filesystem;

/// Returns the contents of a file in /proc/PID; empty when the process has just ended.
std::string proc_file(pid_t pid, char const* name) {
  std::ifstream stream{"/proc/" + std::to_string(pid) + '/' + name, std::ios::binary};
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::optional<pid_t> pid_of(fs::path const& entry) {
  auto const name = entry.filename().string();
  pid_t pid = 0;
  auto const* const end = name.data() + name.size();
  auto const read = std::from_chars(name.data(), end, pid);
  if (read.ptr != end || read.ec != std::errc{}) return std::nullopt;
  return pid;
}

/// Returns the fields of /proc/PID/stat from the third on, which is the state.
std::vector<std::string> stat_of(pid_t pid) {
  auto const text = proc_file(pid, "stat");
  // The name before them may contain any character.
  auto const name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream words{text.substr(name_end + 1)};
  std::vector<std::string> fields;
  for (std::string word; words >> word;)
    fields.push_back(word);
  return fields;
}

bool is_running(pid_t pid) {
  auto const fields = stat_of(pid);
  return !fields.empty() && fields.front() != "Z" && fields.front() != "X";
}

/// True when the environment, entries that end with a zero byte, has `variable`.
bool has_variable(std::string const& environment, std::string const& variable) {
  auto const entries = '\0' + environment;
  return entries.find('\0' + variable + '\0') != std::string::npos;
}

/// Returns the CPU time of a process and of its children that were waited for.
double cpu_seconds_of(pid_t pid) {
  constexpr std::size_t first = 11;  // user, system, and both of the children
  auto const fields = stat_of(pid);
  double ticks = 0;
  for (std::size_t field = first; field < first + 4 && field < fields.size(); ++field)
    ticks += std::stod(fields[field]);
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

std::vector<pid_t> MarkedProcesses::find() const {
  std::vector<pid_t> found;
  std::error_code problem;
  for (fs::directory_iterator entry{"/proc", problem}, end; !problem && entry != end;
       entry.increment(problem)) {
    auto const pid = pid_of(entry->path());
    if (pid && has_variable(proc_file(*pid, "environ"), variable_) && is_running(*pid))
      found.push_back(*pid);
  }
  return found;
}

double MarkedProcesses::cpu_seconds() const {
  double seconds = 0;
  for (auto const pid : find())
    seconds += cpu_seconds_of(pid);
  return seconds;
}

void MarkedProcesses::signal(int number) const noexcept {
  try {
    for (auto const pid : find())
      ::kill(pid, number);
  } catch (std::exception const&) {  // out of memory; the caller tries again or gives up
  }
}

}  // namespace torchwatch::suite_try
