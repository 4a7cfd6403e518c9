#include <algorithm>
#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/e2e/bisections.h"
#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"

// `torchwatch serve`: it watches, answers, is stopped and is killed.
namespace torchwatch::e2e {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::SizeIs;

/// Returns the options of a world whose jobs are long enough to interrupt.
WorldOptions slow() {
  auto options = quick_world();
  options.script["benchmarks"]["test_train[dcgan-cpu-eager]"] = {{"seconds", 0.1}};
  return options;
}

std::vector<std::string> bisect_arguments(World const& world) {
  auto const request = request_for_a_bisection(world);
  return {"bisect",
          "--json",
          "--start",
          request.at("start"),
          "--end",
          request.at("end"),
          "--benchmark",
          request.at("benchmarks").at(0),
          "--metric",
          request.at("metric")};
}

TEST(Serve, FindsTheIncidentByItself) {
  World world;
  Service service{world};
  ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();

  auto const incidents = service.get("/api/v1/incidents").at("items");
  ASSERT_THAT(incidents, SizeIs(1));
  auto const incident = service.get(incidents.at(0).at("url"));
  expect_culprit(world, bisection_of(incident.at("bisections").at(0)));
  EXPECT_EQ(service.get("/healthz").at("last_nightly").at("state"), "done");
  expect_quiet_end(world, service.process());

  auto const check = world.run({"check", "--json"});
  expect_truth(world, check);
}

/// Drops the capabilities of root, with which it could read any process. Without them, root has
/// only the rights of any other user.
std::vector<std::string> without_privileges(std::vector<std::string> argv) {
  if (::geteuid() == 0)
    argv.insert(argv.begin(), {"setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"});
  return argv;
}

std::string environ_of(Process const& process) {
  return "/proc/" + std::to_string(process.pid()) + "/environ";
}

TEST(Serve, HidesItsEnvironmentFromProgramsOfItsUser) {
  World world{quick_world()};
  auto const service = world.start_program(without_privileges({World::program(), "serve"}));
  auto const other = world.start_program(without_privileges({"sh", "-c", "echo up; sleep 100"}));
  ASSERT_TRUE(eventually([&] { return !listening_url(service.err()).empty(); })) << service.err();
  ASSERT_TRUE(eventually([&] { return other.out() == "up\n"; }));

  auto read_environment = [&](Process const& process) {
    return world.start_program(without_privileges({"cat", environ_of(process)})).wait();
  };

  EXPECT_EQ(read_environment(other).status, 0) << "other processes are readable";
  EXPECT_THAT(read_environment(service).err, HasSubstr("Permission denied"));
}

TEST(Serve, ComparesABuildWithItselfAndReportsItsPrecision) {
  auto options = quick_world();
  options.settings = {{"decide", {{"aa_benchmarks", 1}}}};
  World world{options};
  Service service{world};
  ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();

  auto const precision = service.get("/api/v1/precision");

  EXPECT_EQ(precision.at("builds_against_themselves").at("of"), 3) << "latency, cmem, leak";
  EXPECT_EQ(precision.at("builds_against_themselves").at("false_alarms"), 0);
  EXPECT_EQ(precision.at("incidents").at("of"), 1);
  EXPECT_EQ(precision.at("incidents").at("false_alarms"), 0);
}

TEST(Serve, BisectsOnRequestWithTheResultOfTheCommand) {
  World world{quick_world()};
  {
    Service service{world};
    ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();
    expect_culprit(world, bisection_of(ended_bisection(service, ask(world, service))));

    auto arguments = bisect_arguments(world);
    arguments.insert(arguments.end(),
                     {"--server", service.url(), "--token-file", service.token_file()});
    auto const there = world.run(arguments);
    EXPECT_EQ(there.status, 1) << there.err;
    EXPECT_THAT(there.err, HasSubstr("  wave ")) << "progress is printed";
    expect_culprit(world, bisection_of(json::parse(there.out)));
    expect_quiet_end(world, service.process());
  }
  auto const here = world.run(bisect_arguments(world));
  EXPECT_EQ(here.status, 1) << here.err;
  expect_culprit(world, bisection_of(json::parse(here.out)));
  expect_no_process_left(world);
}

TEST(Serve, EndsOnSigtermWhileItMeasures) {
  World world{slow()};
  Service service{world};
  auto const is_measuring = [&] {
    return service.process().err().find(" measured ") != std::string::npos;
  };
  ASSERT_TRUE(eventually(is_measuring)) << service.process().err();
  expect_quiet_end(world, service.process());
}

TEST(Serve, ResumesABisectionAfterAKill) {
  World world{slow()};
  std::string bisection;
  {
    Service service{world};
    ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();
    bisection = ask(world, service);
    ASSERT_TRUE(eventually([&] { return done_in(service.get(bisection)) >= 2; }));
    service.process().send(SIGKILL);
    EXPECT_EQ(service.process().wait().signal, SIGKILL);
    expect_no_process_left(world);
  }
  Service service{world};
  auto const found = service.get(bisection);
  EXPECT_GE(done_in(found), 2) << "a step was lost";
  auto const ended = ended_bisection(service, bisection);
  expect_culprit(world, bisection_of(ended));
  expect_resumed(found, ended);
  expect_quiet_end(world, service.process());
}

TEST(Serve, KeepsABisectionPausedOverAKillUntilItIsResumed) {
  World world{slow()};
  std::string bisection;
  std::string id;
  {
    Service service{world};
    ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();
    bisection = ask(world, service);
    ASSERT_TRUE(eventually([&] { return done_in(service.get(bisection)) >= 1; }));
    id = service.get(bisection).at("id").dump();
    expect_steered(bisections(world, service, {id, "--pause"}), id, "paused");
    expect_steered(bisections(world, service, {id, "--pause"}), id, "paused");
    EXPECT_EQ(ask(world, service), bisection) << "the request created a second bisection";
    service.process().send(SIGKILL);
    EXPECT_EQ(service.process().wait().signal, SIGKILL);
    expect_no_process_left(world);
  }
  Service service{world};
  auto const paused = service.get(bisection);
  EXPECT_EQ(paused.at("state"), "paused");
  EXPECT_GE(done_in(paused), 1) << "a step was lost";
  auto const accepted =
      service.post("/api/v1/bisections", {{"again", paused.at("id")}, {"threshold", 0.05}});
  std::string const other = json::parse(accepted.body).at("url");
  ASSERT_TRUE(eventually([&] { return done_in(service.get(other)) >= 1; }))
      << "another bisection does not run";
  EXPECT_EQ(service.get(bisection), paused) << "the paused bisection changed";
  EXPECT_EQ(service.post(other, {{"state", "cancelled"}}).status, 200);

  expect_steered(bisections(world, service, {id, "--resume"}), id, "queued");
  auto const ended = ended_bisection(service, bisection);

  expect_culprit(world, bisection_of(ended));
  expect_resumed(paused, ended);
  auto const cancelled = service.get(other);
  EXPECT_EQ(cancelled.at("state"), "cancelled");
  EXPECT_EQ(cancelled.at("outcome"), nullptr);
  expect_quiet_end(world, service.process());
}

TEST(Serve, RefusesToResumeOrPauseBisectionsThatHaveEnded) {
  World world{quick_world()};
  Service service{world};
  ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();

  auto const late = service.post("/api/v1/bisections/1", {{"state", "queued"}});
  auto const unknown = service.post("/api/v1/bisections/99", {{"state", "paused"}});
  auto const command = bisections(world, service, {"1", "--pause"});

  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(json::parse(late.body).at("detail"),
            "bisection 1 is done: only one that has not ended can be resumed");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(json::parse(unknown.body).at("detail"), "bisection 99 is not known");
  EXPECT_EQ(command.status, 2);
  EXPECT_THAT(command.err, HasSubstr("only one that has not ended can be paused"));
}

TEST(Serve, ShowsItsBisectionsAndBisectsAgainWithAnotherEnd) {
  World world{quick_world()};
  Service service{world};
  ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();
  auto const first = service.get("/api/v1/bisections/1");
  std::string const culprit = world.truth().at("culprits").at(0).at("commit");

  auto const again = world.run({"bisect",
                                "--json",
                                "--again",
                                "1",
                                "--end",
                                culprit,
                                "--server",
                                service.url(),
                                "--token-file",
                                service.token_file()});

  ASSERT_EQ(again.status, 1) << again.err;
  auto const second = json::parse(again.out);
  auto wanted = first.at("request");
  wanted["end"] = culprit;
  EXPECT_EQ(second.at("id"), 2);
  EXPECT_EQ(second.at("request"), wanted);
  expect_culprit(world, bisection_of(second));

  auto const list = bisections(world, service, {});
  EXPECT_EQ(std::count(list.out.begin(), list.out.end(), '\n'), 3) << list.out;
  EXPECT_THAT(list.out, ContainsRegex("\n2 +done +culprit "));
  auto const shown = bisections(world, service, {"2"});
  EXPECT_THAT(
      shown.out,
      HasSubstr("bisection 2: Culprit proved\n  Culprit (proved against its parent): " + culprit));
  EXPECT_THAT(shown.out, HasSubstr("\nwave  benchmark"));
  EXPECT_THAT(shown.out, HasSubstr(" MiB, ")) << "measured levels";
  EXPECT_EQ(json::parse(bisections(world, service, {"2", "--json"}).out), second);
}

TEST(Serve, IsNotEndedBySigusr1) {
  World world{slow()};
  Service service{world};
  service.process().send(SIGUSR1);
  EXPECT_TRUE(answers(service.url(), "/healthz"));
  expect_quiet_end(world, service.process());
}

TEST(Serve, KeepsOtherCommandsFromWritingItsState) {
  World world{slow()};
  Service service{world};
  for (auto const& arguments :
       {std::vector<std::string>{"check"}, {"serve"}, bisect_arguments(world)}) {
    auto const refused = world.run(arguments);
    EXPECT_EQ(refused.status, 2) << arguments.front();
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("is in use by another torchwatch"));
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  }
}

TEST(Serve, RefusesATokenFileWithSeveralWords) {
  World world{quick_world()};
  auto const file = world.directory() / "token";
  std::ofstream{file} << "my token\n";
  world.configure({{"http", {{"token_file", file.string()}}}});
  auto const served = world.run({"serve"});
  EXPECT_EQ(served.status, 2);
  EXPECT_THAT(served.err,
              HasSubstr("token in file " + file.string() +
                        ": contains blanks or characters other than visible ASCII"));
}

TEST(Serve, RefusesABisectionWithoutTheToken) {
  World world{slow()};
  Service service{world};
  auto const origin = http::parse_origin(service.url()).value();
  http::HttpRequest const request{"POST",
                                  "/api/v1/bisections",
                                  {{"content-type", "application/json"}},
                                  request_for_a_bisection(world).dump()};
  for (int guess = 0; guess < 3; ++guess)
    EXPECT_EQ(http::ask_http(origin, request).value().status, 401);
  EXPECT_THAT(service.get("/api/v1/bisections").at("items"), SizeIs(0));
  EXPECT_THAT(service.process().err(),
              ContainsRegex("token_refused path=/api/v1/bisections times=1"));
  EXPECT_THAT(service.process().err(), testing::Not(ContainsRegex("token_refused.*token_refused")));
}

}  // namespace
}  // namespace torchwatch::e2e
