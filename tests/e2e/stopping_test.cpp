#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "tests/e2e/bisections.h"
#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"

// Paused or cancelled bisections stop at once, in builds and in measurements.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::seconds at_once{5};

constexpr auto hanging_recipe = R"(#!/bin/sh
# Hangs at every commit that is not in the file "spared", while the file "hang" exists.
cd "${0%/*}" || exit 129
[ "$1" != --dependencies ] || exec ./real "$@"
echo "$TORCHWATCH_COMMIT" >> begun
if [ -e hang ] && ! grep -q "$TORCHWATCH_COMMIT" spared; then sleep 600; fi
./real "$@" || exit
echo "$TORCHWATCH_COMMIT" >> built
)";

/// A world whose recipe hangs at the commits between the nightlies.
class HangingWorld : public World {
 public:
  HangingWorld() : World{quick_world()} {
    for (auto const& nightly : truth().at("nightlies"))
      std::ofstream{folder_ / "spared", std::ios::app} << nightly.at("commit").get<std::string>()
                                                       << '\n';
    std::ofstream{folder_ / "hang"};
  }

  /// Makes recipes that start from now on not hang.
  void stop_hanging() const { fs::remove(folder_ / "hang"); }

  bool is_hanging() const {
    auto const living = processes();
    return std::ranges::any_of(living, [](SeenProcess const& process) {
      return process.argv == std::vector<std::string>{"sleep", "600"};
    });
  }

  /// Returns the commits for which recipes were started, in order.
  std::vector<std::string> begun() const { return lines_of("begun"); }

  /// Returns the commits whose recipes ended, in order.
  std::vector<std::string> built() const { return lines_of("built"); }

 private:
  std::vector<std::string> lines_of(char const* file) const {
    std::istringstream stream{text_of(folder_ / file)};
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
      lines.push_back(line);
    return lines;
  }

  fs::path folder_ = wrap_recipe(hanging_recipe);
};

/// Configures a feed without nightlies, so that the service only runs requested bisections.
void watch_empty_feed(World& world) {
  auto const empty = world.directory() / "no-nightlies";
  fs::create_directories(empty);
  world.configure({{"feed", {{"kind", "directory"}, {"path", empty.string()}}}});
}

void expect_nothing_built_twice(HangingWorld const& world) {
  auto const built = world.built();
  std::set<std::string> const commits{built.begin(), built.end()};
  EXPECT_EQ(built.size(), commits.size()) << testing::PrintToString(built);
}

void steer(Service const& service, std::string const& bisection, std::string const& state) {
  auto const answer = service.post(bisection, {{"state", state}});
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json::parse(answer.body).at("state"), state);
}

/// True when the bisection's current step needs a build that another bisection is making.
bool waits_for_a_build(World const& world, json const& bisection) {
  auto const& steps = bisection.at("steps");
  if (steps.empty() || steps.back().at("done") == true) return false;
  auto const& nightlies = world.truth().at("nightlies");
  auto const& commits = steps.back().at("commits");
  return std::ranges::any_of(commits, [&](json const& commit) {
    return commit != nightlies.at(0).at("commit") && commit != nightlies.at(1).at("commit");
  });
}

/// Requests a bisection with another threshold. Waits until it waits for a build.
std::string ask_and_wait(World const& world, Service& service, double threshold) {
  auto bisection = ask(world, service, {{"threshold", threshold}});
  EXPECT_TRUE(eventually([&] { return waits_for_a_build(world, service.get(bisection)); }))
      << service.process().err();
  return bisection;
}

TEST(Stopping, CancelsTheBuildOfAnIncidentsBisection) {
  HangingWorld world;
  Service service{world};
  ASSERT_TRUE(eventually([&] { return world.is_hanging(); })) << service.process().err();

  expect_steered(bisections(world, service, {"1", "--cancel"}), "1", "cancelled");

  EXPECT_TRUE(eventually([&] { return !world.is_hanging(); }, at_once))
      << "the recipe is still running";
  ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();
  auto const cancelled = service.get("/api/v1/bisections/1");
  EXPECT_EQ(cancelled.at("state"), "cancelled");
  EXPECT_EQ(cancelled.at("outcome"), nullptr);
  EXPECT_EQ(cancelled.at("failure"), nullptr);

  world.stop_hanging();
  expect_culprit(world, bisection_of(ended_bisection(service, ask(world, service))));
  EXPECT_EQ(service.get("/api/v1/bisections/1"), cancelled);
  expect_nothing_built_twice(world);
  expect_quiet_end(world, service.process());
}

TEST(Stopping, PausesABuildThatIsRepeatedWhenItsBisectionIsResumed) {
  HangingWorld world;
  watch_empty_feed(world);
  Service service{world};
  auto const bisection = ask(world, service);
  ASSERT_TRUE(eventually([&] { return world.is_hanging(); })) << service.process().err();
  auto const id = service.get(bisection).at("id").dump();

  expect_steered(bisections(world, service, {id, "--pause"}), id, "paused");

  EXPECT_TRUE(eventually([&] { return !world.is_hanging(); }, at_once))
      << "the recipe is still running";
  auto const paused = service.get(bisection);
  EXPECT_EQ(paused.at("state"), "paused");
  auto const interrupted = world.begun().back();
  EXPECT_THAT(world.built(), Not(testing::Contains(interrupted)));

  world.stop_hanging();
  expect_steered(bisections(world, service, {id, "--resume"}), id, "queued");
  auto const ended = ended_bisection(service, bisection);

  expect_culprit(world, bisection_of(ended));
  expect_resumed(paused, ended);
  EXPECT_THAT(world.built(), testing::Contains(interrupted));
  expect_nothing_built_twice(world);
  expect_quiet_end(world, service.process());
}

TEST(Stopping, ResumesABisectionThatIsPausedAndResumedQuickly) {
  HangingWorld world;
  watch_empty_feed(world);
  Service service{world};
  auto const bisection = ask(world, service);
  for (int times = 0; times < 10; ++times) {
    steer(service, bisection, "paused");
    steer(service, bisection, "queued");
  }
  ASSERT_TRUE(eventually([&] { return world.is_hanging(); })) << service.process().err();

  world.stop_hanging();
  steer(service, bisection, "paused");
  steer(service, bisection, "queued");

  expect_culprit(world, bisection_of(ended_bisection(service, bisection)));
  expect_quiet_end(world, service.process());
}

TEST(Stopping, OfOneBisectionKeepsTheOthersRunning) {
  HangingWorld world;
  watch_empty_feed(world);
  Service service{world};
  auto const first = ask(world, service);
  ASSERT_TRUE(eventually([&] { return world.is_hanging(); })) << service.process().err();
  auto const second = ask_and_wait(world, service, 0.06);
  auto const third = ask_and_wait(world, service, 0.05);

  steer(service, second, "cancelled");
  auto const cancelled = service.get(second);
  EXPECT_TRUE(world.is_hanging()) << "cancelling the second bisection stopped the first";
  world.stop_hanging();
  steer(service, first, "cancelled");

  expect_culprit(world, bisection_of(ended_bisection(service, third)));
  EXPECT_EQ(service.get(first).at("state"), "cancelled");
  EXPECT_EQ(service.get(second), cancelled) << "the cancelled bisection was continued";
  expect_nothing_built_twice(world);
  expect_quiet_end(world, service.process());
}

TEST(Stopping, CancelsAMeasurementAndFreesItsSlot) {
  WorldOptions options;
  options.scenario = "memory";
  options.script["benchmarks"]["test_train[lennard_jones-cpu-eager]"] = {{"seconds", 300}};
  World world{options};
  watch_empty_feed(world);
  Service service{world};
  json const of_slow_benchmark = {{"benchmarks", {"test_train[lennard_jones-cpu-eager]"}}};
  auto const is_measuring = [&] {
    auto const living = world.processes();
    return std::ranges::any_of(living, [](SeenProcess const& process) {
      return !process.argv.empty() && process.argv.front().ends_with("scripted-worker");
    });
  };
  auto const bisection = ask(world, service, of_slow_benchmark);
  ASSERT_TRUE(eventually(is_measuring)) << service.process().err();

  steer(service, bisection, "cancelled");

  EXPECT_TRUE(eventually([&] { return !is_measuring(); }, at_once))
      << "the worker is still running";
  expect_culprit(world, bisection_of(ended_bisection(service, ask(world, service))));
  EXPECT_EQ(done_in(service.get(bisection)), 0);
  EXPECT_THAT(service.process().err(), Not(HasSubstr("job_failed")));
  expect_quiet_end(world, service.process());
}

TEST(Stopping, TheServiceInABuildEndsAtOnceAndLosesNothing) {
  HangingWorld world;
  Service service{world};
  ASSERT_TRUE(eventually([&] { return world.is_hanging(); })) << service.process().err();
  ask_and_wait(world, service, 0.05);

  expect_quiet_end(world, service.process());

  world.stop_hanging();
  expect_truth(world, world.run({"check", "--json"}));
}

}  // namespace
}  // namespace torchwatch::e2e
