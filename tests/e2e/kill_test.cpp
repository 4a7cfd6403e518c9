#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/e2e/dependencies.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/killing.h"
#include "tests/e2e/stored.h"

// kill -9 at random moments: no result is lost, and no finished step is repeated.
namespace torchwatch::e2e {
namespace {

/// Returns the options of a world whose jobs last long enough to be killed, with little noise. With
/// more noise, chance would decide which series are confirmed, and two runs would differ.
WorldOptions slow_and_quiet() {
  WorldOptions options;
  for (auto const* const name : {"test_train[dcgan-cpu-eager]",
                                 "test_eval[dcgan-cpu-eager]",
                                 "test_train[lennard_jones-cpu-eager]",
                                 "test_eval[lennard_jones-cpu-eager]"})
    options.script["benchmarks"][name] = {{"seconds", 0.06}, {"noise", 0.0002}};
  // A job that is killed several times must not fail.
  options.settings = {{"measure", {{"attempts", 20}}}};
  return options;
}

class Kill : public testing::TestWithParam<int> {};

TEST_P(Kill, AtRandomMomentsChangesNothing) {
  World undisturbed{slow_and_quiet()};
  auto const expected = expect_answer(undisturbed.run({"check", "--json"}));
  ASSERT_EQ(expected.bisections.size(), 1U);

  World world{slow_and_quiet()};
  world.add_github();
  KillPlan plan;
  plan.seed = static_cast<std::uint64_t>(GetParam());
  auto const survived = check_with_kills(world, plan);

  print_kills(survived);
  EXPECT_GE(survived.total, 25) << "the check ended too early";
  EXPECT_EQ(survived.kills.size(), 3U) << "a part was never killed";
  EXPECT_EQ(survived.check.status, 1) << survived.check.err;
  EXPECT_EQ(expect_answer(survived.check), expected);
  expect_culprit(world, expected.bisections.front());
  EXPECT_EQ(keys_stored_twice(world.state()), 0);
  EXPECT_EQ(integrity(world.state()), "ok");
  EXPECT_EQ(world.github().state().at("issues").size(), 1U);
}

/// Returns the steps and builds that a bisection has logged.
std::vector<std::string> events_in(std::string const& log) {
  std::vector<std::string> events;
  std::istringstream lines{log};
  for (std::string line; std::getline(lines, line);)
    for (auto const* const event : {" bisection_step ", " build_finished "})
      if (auto const at = line.find(event); at != std::string::npos)
        events.push_back(line.substr(at + 1));
  return events;
}

/// Returns commit and recipe of "build_finished commit=..."; empty for other events.
std::string built_in(std::string const& event) {
  constexpr std::string_view start = "build_finished commit=";
  if (!event.starts_with(start)) return {};
  return event.substr(start.size(), event.find(" seconds=") - start.size());
}

/// Counts the builds of an attempt and adds its steps to `steps`. Fails the test when a step was
/// done before.
void note_events(Finished const& attempt,
                 std::map<std::string, int>& builds,
                 std::set<std::string>& steps) {
  for (auto const& event : events_in(attempt.err)) {
    if (auto const built = built_in(event); !built.empty())
      ++builds[built];
    else
      EXPECT_TRUE(steps.insert(event).second) << "a step was repeated: " << event;
  }
}

/// Runs `check --json` again and again, and kills it after each build or step, until one run ends
/// by itself. Returns that run. Fails the test when a build or step was repeated.
Finished killed_at_every_step(World& world) {
  std::map<std::string, int> builds;
  std::set<std::string> steps;
  int kills = 0;
  Finished last;
  while (true) {
    auto check = world.start({"check", "--json"});
    std::optional<Finished> ended;
    while (events_in(check.err()).empty() && !ended)
      ended = check.ended_within(std::chrono::milliseconds{2});
    if (!ended) {
      check.send(SIGKILL);
      ++kills;
    }
    last = ended ? *ended : check.wait();
    note_events(last, builds, steps);
    if (ended) break;
    if (kills == 200) throw std::runtime_error("no run ended after 200 kills");
  }
  std::cout << kills << " kills, " << steps.size() << " steps, " << builds.size() << " builds\n";
  EXPECT_GE(kills, 5);
  for (auto const& [commit, times] : builds)
    EXPECT_EQ(times, 1) << commit << " was built again";
  EXPECT_EQ(keys_stored_twice(world.state()), 0);
  expect_no_process_left(world);
  return last;
}

TEST(KillAtEveryStep, OfABisectionLosesNoBuildAndNoAnswer) {
  World undisturbed{slow_and_quiet()};
  auto const expected = expect_answer(undisturbed.run({"check", "--json"}));
  World world{slow_and_quiet()};

  auto const last = killed_at_every_step(world);

  EXPECT_EQ(expect_answer(last), expected);
  expect_culprit(world, expected.bisections.front());
}

TEST(KillAtEveryStep, OfABisectionThatBlamesADependencyChangesNothing) {
  auto options = world_with_dependency(false);
  options.script["benchmarks"]["test_eval[nvidia_deeprecommender-cpu-eager]"] = {{"seconds", 0.04}};
  World world{options};
  release_up_to(world, 0);
  ASSERT_EQ(world.run({"check"}).status, 0);
  pack_with_dependency(world);
  release_up_to(world, 1);

  expect_environment(world, killed_at_every_step(world));
}

INSTANTIATE_TEST_SUITE_P(Seed, Kill, testing::Values(1, 2), testing::PrintToStringParamName());

}  // namespace
}  // namespace torchwatch::e2e
