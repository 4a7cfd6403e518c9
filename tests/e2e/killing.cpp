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

/// Nothing while that part of `check` does not live.
std::optional<pid_t> living(World const& world, Process const& check, std::string_view part) {
  auto const processes = world.processes();
  auto const is_runner = [&](SeenProcess const& process) {
    return process.parent == check.pid() && process.argv.size() > 1 && process.argv[1] == "runner";
  };
  // But for what a runner tries its sandboxes out with.
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

class Executioner {
 public:
  Executioner(World& world, Ordeal const& ordeal)
      : world_{world},
        random_{ordeal.seed},
        pause_{ordeal.shortest_pause.count(), ordeal.longest_pause.count()} {}

  Milliseconds pause() { return Milliseconds{pause_(random_)}; }

  /// Kills a part, waiting for it if need be; each is as likely as the others. Nothing when it does
  /// not come, because the check is nearly over.
  std::optional<std::string> kill_one(Process const& check) {
    auto const part = victims.at(part_(random_));
    std::optional<pid_t> victim;
    auto const lives = [&] {
      victim = living(world_, check, part);
      return victim.has_value();
    };
    eventually(lives, std::chrono::seconds{5}, Milliseconds{2});
    if (!victim) return std::nullopt;
    ::kill(*victim, SIGKILL);
    return std::string{part};
  }

  void expect_nothing_lost() {
    auto now = stored_results(world_.state());
    EXPECT_TRUE(std::ranges::includes(now, stored_)) << "a stored measurement is gone, or another";
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

Survived check_under_fire(World& world, Ordeal const& ordeal) {
  Executioner executioner{world, ordeal};
  Survived survived;
  while (true) {
    auto check = world.start({"check", "--json"});
    std::optional<Finished> finished;
    while (survived.total < ordeal.kills) {
      finished = check.ended_within(executioner.pause());
      if (finished) break;
      auto const killed = executioner.kill_one(check);
      if (!killed) continue;
      ++survived.kills[*killed];
      ++survived.total;
      executioner.expect_nothing_lost();
    }
    if (!finished) finished = check.wait(ordeal.limit);
    executioner.expect_nothing_lost();
    // As systemd does: what the dead service has started goes before the next one comes.
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
