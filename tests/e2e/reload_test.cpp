#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>

#include "tests/e2e/bisections.h"
#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"

// SIGHUP, and the end of the service by SIGTERM.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

bool has_logged(Service& service, std::string const& text) {
  return eventually([&] { return service.process().err().find(text) != std::string::npos; });
}

/// Returns the options of a world in which one process takes long enough to be interrupted.
WorldOptions slow_process(double seconds) {
  auto options = quick_world();
  options.script["benchmarks"]["test_train[dcgan-cpu-eager]"] = {{"seconds", seconds}};
  return options;
}

bool is_measuring(World const& world) {
  for (auto const& process : world.processes())
    if (!process.argv.empty() && process.argv.front().ends_with("scripted-worker")) return true;
  return false;
}

TEST(Reload, UsesAChangedConfigurationAndKeepsTheAddress) {
  World world{quick_world()};
  Service service{world};
  ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();

  auto const fleets = json::array({json::object({{"name", "renamed"}, {"device", "cpu"}})});
  world.configure({{"fleets", fleets}});
  service.process().send(SIGHUP);

  ASSERT_TRUE(has_logged(service, "service_reloaded")) << service.process().err();
  EXPECT_TRUE(eventually([&] {
    return answers(service.url(), "/healthz") &&
           service.get("/healthz").at("slots").contains("renamed");
  })) << service.get("/healthz").dump();
  expect_quiet_end(world, service.process());
}

TEST(Reload, GoesOnWithTheOldConfigurationWhenTheNewOneHasAnError) {
  World world{quick_world()};
  Service service{world};
  ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();

  world.configure({{"decide", {{"threshold", "seven"}}}});
  service.process().send(SIGHUP);

  ASSERT_TRUE(has_logged(service, "reload_refused")) << service.process().err();
  EXPECT_THAT(service.process().err(), HasSubstr("decide.threshold"));
  EXPECT_THAT(service.process().err(), Not(HasSubstr("service_draining")));
  EXPECT_TRUE(answers(service.url(), "/healthz"));
  expect_quiet_end(world, service.process());
}

TEST(Reload, RefusesAnotherStateDirectory) {
  World world{quick_world()};
  Service service{world};
  world.configure({{"state_dir", "another"}});
  service.process().send(SIGHUP);
  ASSERT_TRUE(has_logged(service, "reload_refused reason=\"state_dir changed: restart"))
      << service.process().err();
  expect_quiet_end(world, service.process());
}

TEST(Reload, ContinuesASweepWithoutLosingAMeasurement) {
  World world{slow_process(0.1)};
  Service service{world};
  ASSERT_TRUE(has_logged(service, " measured ")) << service.process().err();
  service.process().send(SIGHUP);
  ASSERT_TRUE(has_logged(service, "service_reloaded")) << service.process().err();
  ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();
  expect_quiet_end(world, service.process());
  expect_truth(world, world.run({"check", "--json"}));
}

TEST(Stop, FinishesTheRunningRoundAndChecksTheLogIntoTheDatabase) {
  World world{slow_process(2)};
  Service service{world};
  ASSERT_TRUE(eventually([&] { return is_measuring(world); })) << service.process().err();

  service.process().send(SIGTERM);
  auto const ended = service.process().ended_within(std::chrono::seconds{30});

  ASSERT_TRUE(ended) << service.process().err();
  EXPECT_EQ(ended->status, 0);
  EXPECT_EQ(ended->signal, 0);
  EXPECT_THAT(ended->err, HasSubstr("service_draining reason=stop steps=1"));
  EXPECT_THAT(ended->err, HasSubstr(" measured ")) << "the round was not stored";
  EXPECT_THAT(ended->err, HasSubstr("service_stopped"));
  EXPECT_FALSE(fs::exists(world.state() / "torchwatch.sqlite-wal"));
  EXPECT_TRUE(fs::exists(world.state() / "torchwatch.sqlite.seal"));
  expect_no_process_left(world);
}

TEST(Stop, EndsAtOnceAtTheSecondSigterm) {
  World world{slow_process(300)};
  Service service{world};
  ASSERT_TRUE(eventually([&] { return is_measuring(world); })) << service.process().err();

  service.process().send(SIGTERM);
  ASSERT_TRUE(has_logged(service, "service_draining reason=stop")) << service.process().err();
  service.process().send(SIGTERM);
  auto const ended = service.process().ended_within(std::chrono::seconds{5});

  ASSERT_TRUE(ended) << "still running after the second SIGTERM";
  EXPECT_EQ(ended->status, 128 + SIGTERM);
  expect_no_process_left(world);
}

}  // namespace
}  // namespace torchwatch::e2e
