#include "tests/e2e/proc.h"

#include <filesystem>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

#include "tests/e2e/process.h"

namespace torchwatch::e2e {

namespace fs = std::filesystem;

namespace {

std::string file_of(pid_t pid, char const* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

/// Returns the fields of /proc/PID/stat from the third on, which is the state. Empty when the
/// process does not exist.
std::vector<std::string> stat_fields(pid_t pid) {
  auto const text = text_of(file_of(pid, "stat"));
  // The name before them may contain any character, even blanks and parentheses.
  auto const after_name = text.rfind(')');
  if (after_name == std::string::npos) return {};
  std::istringstream words{text.substr(after_name + 1)};
  std::vector<std::string> fields;
  for (std::string word; words >> word;)
    fields.push_back(word);
  return fields;
}

std::vector<std::string> split_at_nul(std::string const& text) {
  std::vector<std::string> parts;
  std::istringstream stream{text};
  for (std::string part; std::getline(stream, part, '\0');)
    parts.push_back(part);
  return parts;
}

std::vector<std::string> living_fields(pid_t pid) {
  auto fields = stat_fields(pid);
  if (fields.empty()) throw std::runtime_error("no process " + std::to_string(pid));
  return fields;
}

/// True when the process is in a sandbox that mounts a path with `mark`. A sandbox hides its
/// working directory and environment, but its mounts name the build.
bool is_in_a_sandbox_with(pid_t pid, std::string const& mark) {
  std::error_code ignored;
  auto const theirs = fs::read_symlink(file_of(pid, "ns/mnt"), ignored);
  return !theirs.empty() && theirs != fs::read_symlink("/proc/self/ns/mnt", ignored) &&
         text_of(file_of(pid, "mountinfo")).find(mark) != std::string::npos;
}

}  // namespace

std::vector<SeenProcess> processes_with(std::string const& mark) {
  std::vector<SeenProcess> found;
  for (auto const& entry : fs::directory_iterator{"/proc"}) {
    auto const name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    auto const pid = static_cast<pid_t>(std::stol(name));
    auto const command = text_of(file_of(pid, "cmdline"));
    auto const marked = command.find(mark) != std::string::npos ||
                        text_of(file_of(pid, "environ")).find(mark) != std::string::npos ||
                        is_in_a_sandbox_with(pid, mark);
    auto const fields = stat_fields(pid);
    if (!marked || fields.size() < 2 || fields[0] == "Z" || fields[0] == "X") continue;
    found.push_back({pid, static_cast<pid_t>(std::stol(fields[1])), split_at_nul(command)});
  }
  return found;
}

double cpu_seconds(pid_t pid) {
  auto const fields = living_fields(pid);
  constexpr std::size_t user = 11;
  constexpr std::size_t system = 12;
  return (std::stod(fields.at(user)) + std::stod(fields.at(system))) /
         static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double resident_mib(pid_t pid) {
  constexpr std::size_t resident_pages = 21;
  constexpr double mib = 1 << 20;
  return std::stod(living_fields(pid).at(resident_pages)) *
         static_cast<double>(::sysconf(_SC_PAGESIZE)) / mib;
}

}  // namespace torchwatch::e2e
