#include <algorithm>
#include <csignal>

#include <gmock/gmock.h>

#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"

// The service as people run it: it watches, answers, is stopped and is killed.
namespace torchwatch::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::SizeIs;

/// Jobs that leave time to interfere.
WorldOptions slow() {
  auto options = quick_world();
  options.script["benchmarks"]["test_train[dcgan-cpu-eager]"] = {{"seconds", 0.1}};
  return options;
}

json request_for_a_search(World const& world) {
  auto const& truth = world.truth();
  auto const& effect = truth.at("culprits").at(0).at("effects").at(0);
  return {{"start", truth.at("nightlies").at(0).at("commit")},
          {"end", truth.at("nightlies").at(1).at("commit")},
          {"benchmarks", {effect.at("benchmark")}},
          {"metric", effect.at("metric")}};
}

std::vector<std::string> bisect_arguments(World const& world) {
  auto const request = request_for_a_search(world);
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

/// The newest nightly is judged and told.
bool is_at_rest(Service const& service) {
  auto const nightlies = service.get("/api/v1/nightlies").at("items");
  return nightlies.size() == 2 && nightlies.at(0).at("state") == "done";
}

/// The search at `url` once it has ended.
json ended_search(Service const& service, std::string const& url) {
  json search;
  auto const ended = eventually([&] {
    search = service.get(url);
    return search.at("state") == "done" || search.at("state") == "failed";
  });
  EXPECT_TRUE(ended) << search.dump(1);
  return search;
}

/// How many of a search's steps are done.
std::ptrdiff_t done_in(json const& search) {
  auto const& steps = search.at("steps");
  return std::count_if(
      steps.begin(), steps.end(), [](json const& step) { return step.at("done") == true; });
}

/// Asks for a search and returns where it will be found.
std::string ask(World const& world, Service const& service) {
  auto const accepted = service.post("/api/v1/bisections", request_for_a_search(world));
  EXPECT_EQ(accepted.status, 202) << accepted.body;
  return json::parse(accepted.body).at("url");
}

void expect_quiet_end(World const& world, Process& process) {
  process.send(SIGTERM);
  auto const ended = process.ended_within(std::chrono::seconds{5});
  ASSERT_TRUE(ended) << "still running 5 s after SIGTERM";
  EXPECT_EQ(ended->signal, 0);
  EXPECT_EQ(ended->status, 0) << ended->err;
  expect_no_process_left(world);
}

TEST(Serve, FindsTheIncidentByItself) {
  World world;
  Service service{world};
  ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();

  auto const incidents = service.get("/api/v1/incidents").at("items");
  ASSERT_THAT(incidents, SizeIs(1));
  auto const incident = service.get(incidents.at(0).at("url"));
  expect_culprit(world, search_of(incident.at("bisections").at(0)));
  EXPECT_EQ(service.get("/healthz").at("last_nightly").at("state"), "done");
  expect_quiet_end(world, service.process());

  auto const check = world.run({"check", "--json"});
  expect_truth(world, check);
}

TEST(Serve, ComparesABuildWithItselfToKnowItsOwnPrecision) {
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

TEST(Serve, SearchesOnRequestAsTheCommandsDo) {
  World world{quick_world()};
  {
    Service service{world};
    ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();
    expect_culprit(world, search_of(ended_search(service, ask(world, service))));

    auto arguments = bisect_arguments(world);
    arguments.insert(arguments.end(),
                     {"--server", service.url(), "--token-file", service.token_file()});
    auto const there = world.run(arguments);
    EXPECT_EQ(there.status, 1) << there.err;
    EXPECT_THAT(there.err, HasSubstr("  turn ")) << "what is done is told meanwhile";
    expect_culprit(world, search_of(json::parse(there.out)));
    expect_quiet_end(world, service.process());
  }
  auto const here = world.run(bisect_arguments(world));
  EXPECT_EQ(here.status, 1) << here.err;
  expect_culprit(world, search_of(json::parse(here.out)));
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

TEST(Serve, GoesOnWithASearchAfterAKill) {
  World world{slow()};
  std::string search;
  {
    Service service{world};
    ASSERT_TRUE(eventually([&] { return is_at_rest(service); })) << service.process().err();
    search = ask(world, service);
    ASSERT_TRUE(eventually([&] { return done_in(service.get(search)) >= 2; }));
    service.process().send(SIGKILL);
    EXPECT_EQ(service.process().wait().signal, SIGKILL);
    expect_no_process_left(world);
  }
  Service service{world};
  auto const found = service.get(search);
  EXPECT_GE(done_in(found), 2) << "a step was forgotten";
  auto const ended = ended_search(service, search);
  expect_culprit(world, search_of(ended));
  auto const& steps = found.at("steps");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps.at(i).at("done") == false) continue;
    EXPECT_EQ(ended.at("steps").at(i), steps.at(i)) << "a step was made again, or another";
  }
  expect_quiet_end(world, service.process());
}

TEST(Serve, LetsNobodyElseWrite) {
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

TEST(Serve, LetsNobodyAskWithoutTheToken) {
  World world{slow()};
  Service service{world};
  auto const origin = net::parse_origin(service.url()).value();
  net::HttpRequest const request{"POST",
                                 "/api/v1/bisections",
                                 {{"content-type", "application/json"}},
                                 request_for_a_search(world).dump()};
  EXPECT_EQ(net::ask_http(origin, request).value().status, 401);
  EXPECT_THAT(service.get("/api/v1/bisections").at("items"), SizeIs(0));
}

}  // namespace
}  // namespace torchwatch::e2e
