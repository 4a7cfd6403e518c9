#include "tests/e2e/killing.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <iostream>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "tests/e2e/stored.h"

namespace torchwatch::e2e {

namespace {

using Milliseconds = std::chrono::milliseconds;

struct Victim {
  std::string part;
  pid_t pid = 0;
};

/// What `check` consists of at this moment.
std::vector<Victim> parts_of(World const& world, Process const& check) {
  std::vector<Victim> parts{{"service", check.pid()}};
  auto const processes = world.processes();
  for (auto const& runner : processes) {
    bool const is_runner = runner.argv.size() == 2 && runner.argv[1] == "runner";
    if (!is_runner || runner.parent != check.pid()) continue;
    parts.push_back({"runner", runner.pid});
    for (auto const& worker : processes)
      if (worker.parent == runner.pid) parts.push_back({"worker", worker.pid});
  }
  return parts;
}

class Executioner {
 public:
  Executioner(World& world, Ordeal const& ordeal)
      : world_{world},
        random_{ordeal.seed},
        pause_{ordeal.shortest_pause.count(), ordeal.longest_pause.count()} {}

  Milliseconds pause() { return Milliseconds{pause_(random_)}; }

  /// Each part is as likely as the others, whichever of them live now.
  std::string kill_one(Process const& check) {
    auto const parts = parts_of(world_, check);
    std::uniform_int_distribution<std::size_t> choice{0, parts.size() - 1};
    auto const& victim = parts[choice(random_)];
    ::kill(victim.pid, SIGKILL);
    return victim.part;
  }

  void expect_nothing_lost() {
    auto now = stored_results(world_.state());
    EXPECT_TRUE(std::includes(now.begin(), now.end(), stored_.begin(), stored_.end()))
        << "a stored measurement is gone, or another";
    stored_ = std::move(now);
  }

 private:
  World& world_;
  std::mt19937_64 random_;
  std::uniform_int_distribution<Milliseconds::rep> pause_;
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
      ++survived.kills[executioner.kill_one(check)];
      ++survived.total;
      executioner.expect_nothing_lost();
    }
    if (!finished) finished = check.wait(ordeal.limit);
    executioner.expect_nothing_lost();
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
