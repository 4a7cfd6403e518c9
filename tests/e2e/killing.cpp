#include "tests/e2e/killing.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <iostream>
#include <optional>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/stored.h"

namespace torchwatch::e2e {

namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr std::array<std::string_view, 3> victims{"service", "runner", "worker"};

/// Returns the process of a part of `check`; nothing while it is not running.
std::optional<pid_t> process_of(World const& world, Process const& check, std::string_view part) {
  auto const processes = world.processes();
  auto const is_runner = [&](SeenProcess const& process) {
    return process.parent == check.pid() && process.argv.size() > 1 && process.argv[1] == "runner";
  };
  // The process with which a runner tests its sandbox is not a worker.
  auto const is_worker = [&](SeenProcess const& process) {
    if (!process.argv.empty() && process.argv.back() == "true") return false;
    return std::ranges::any_of(processes, [&](SeenProcess const& other) {
      return is_runner(other) && other.pid == process.parent;
    });
  };
  for (auto const& process : processes) {
    bool const is_service = part == "service" && process.pid == check.pid();
    bool const is_a_runner = part == "runner" && is_runner(process);
    if (is_service || is_a_runner || (part == "worker" && is_worker(process))) return process.pid;
  }
  return std::nullopt;
}

/// Kills the parts of a check at random moments.
class Killer {
 public:
  Killer(World& world, KillPlan const& plan)
      : world_{world},
        random_{plan.seed},
        pause_{plan.shortest_pause.count(), plan.longest_pause.count()} {}

  Milliseconds pause() { return Milliseconds{pause_(random_)}; }

  /// Kills a part, each with the same probability, and returns its name. Waits up to 5 s for the
  /// part to start. Returns nothing when it does not start, because the check is nearly over.
  std::optional<std::string> kill_one(Process const& check) {
    auto const part = victims.at(part_(random_));
    std::optional<pid_t> victim;
    auto const is_running = [&] {
      victim = process_of(world_, check, part);
      return victim.has_value();
    };
    eventually(is_running, std::chrono::seconds{5}, Milliseconds{2});
    if (!victim) return std::nullopt;
    ::kill(*victim, SIGKILL);
    return std::string{part};
  }

  void expect_nothing_lost() {
    auto now = stored_results(world_.state());
    EXPECT_TRUE(std::ranges::includes(now, stored_)) << "a stored measurement was lost or changed";
    stored_ = std::move(now);
  }

 private:
  World& world_;
  std::mt19937_64 random_;
  std::uniform_int_distribution<Milliseconds::rep> pause_;
  std::uniform_int_distribution<std::size_t> part_{0, victims.size() - 1};
  std::set<std::string> stored_;
};

}  // namespace

Survived check_with_kills(World& world, KillPlan const& plan) {
  Killer killer{world, plan};
  Survived survived;
  while (true) {
    auto check = world.start({"check", "--json"});
    std::optional<Finished> finished;
    while (survived.total < plan.kills) {
      finished = check.ended_within(killer.pause());
      if (finished) break;
      auto const killed = killer.kill_one(check);
      if (!killed) continue;
      ++survived.kills[*killed];
      ++survived.total;
      killer.expect_nothing_lost();
    }
    if (!finished) finished = check.wait(plan.limit);
    killer.expect_nothing_lost();
    // systemd also ends the processes of a dead service before it starts the next one.
    expect_no_process_left(world);
    if (finished->signal != SIGKILL) {
      survived.check = std::move(*finished);
      return survived;
    }
  }
}

void print_kills(Survived const& survived) {
  std::cout << survived.total << " kills:";
  for (auto const& [part, times] : survived.kills)
    std::cout << ' ' << part << ' ' << times;
  std::cout << '\n';
}

}  // namespace torchwatch::e2e
