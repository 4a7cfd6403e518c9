#include "processes.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>

#include "runner/process/sandbox.h"

namespace torchwatch::tests {

namespace {

using namespace std::chrono_literals;

struct Stat {
  char state = 'X';
  pid_t parent = 0;
};

/// Returns nothing when the process does not exist.
std::optional<Stat> stat_of(std::string const& pid) {
  std::ifstream file{"/proc/" + pid + "/stat"};
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The name before it may contain any character, such as parentheses and blanks.
  auto const after_name = line.rfind(')') + 2;
  Stat stat;
  stat.state = line[after_name];
  stat.parent = std::stoi(line.substr(after_name + 2));
  return stat;
}

bool eventually(std::function<bool()> const& holds) {
  auto const deadline = std::chrono::steady_clock::now() + 5s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

std::vector<pid_t> children_now(pid_t parent) {
  std::vector<pid_t> children;
  for (auto const& entry : std::filesystem::directory_iterator{"/proc"}) {
    auto const name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    auto const stat = stat_of(name);
    if (stat && stat->parent == parent) children.push_back(std::stoi(name));
  }
  return children;
}

bool ended(pid_t pid) {
  auto const stat = stat_of(std::to_string(pid));
  return !stat || stat->state == 'Z' || stat->state == 'X';
}

}  // namespace

bool has_ended(pid_t pid) {
  return eventually([&] { return ended(pid); });
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  eventually([&] {
    children = children_now(parent);
    return !children.empty();
  });
  return children;
}

bool have_children_ended(pid_t parent) {
  return eventually([&] { return std::ranges::all_of(children_now(parent), ended); });
}

std::string our_identity() {
  auto const arguments = process::sandboxed(process::Isolation::bubblewrap, {}, {});
  return *std::next(std::ranges::find(arguments, "TORCHWATCH_STARTER"));
}

std::vector<std::string> pretended_sandbox(std::string const& starter) {
  return {"bash",
          "-c",
          R"(exec -a bwrap sh -c 'echo $$; sleep 100; :' "$@")",
          "bash",
          "bwrap",
          "--setenv",
          "TORCHWATCH_STARTER",
          starter};
}

}  // namespace torchwatch::tests
