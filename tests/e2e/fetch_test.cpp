#include <stdexcept>

#include <gmock/gmock.h>

#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"

// A watched repository that torchwatch updates with git fetch.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Fetch : public testing::Test {
 protected:
  /// Watches an empty bare repository, whose remote is the lab's.
  Fetch() {
    git({"init", "--quiet", "--bare", watched_.string()});
    git({"-C", watched_.string(), "config", "remote.origin.url", upstream_.string()});
    world_.configure({{"feed", {{"path", watched_.string()}}},
                      {"source", {{"repository", watched_.string()}, {"remote", "origin"}}}});
  }

  void git(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "git");
    auto const done = world_.start_program(arguments).wait();
    if (done.status != 0) throw std::runtime_error("git: " + done.err);
  }

  World world_{quick_world()};
  fs::path const watched_ = world_.directory() / "watched.git";
  fs::path const upstream_ = world_.lab() / "repository";
};

TEST_F(Fetch, BringsTheNightliesAndTheCommitsBetween) {
  auto const first = world_.run({"check", "--json"});
  expect_truth(world_, first);
  EXPECT_THAT(first.err, HasSubstr("fetch_finished repository=" + watched_.string()));

  fs::rename(upstream_, world_.lab() / "gone");
  auto const second = world_.run({"check", "--json"});
  expect_truth(world_, second);
  EXPECT_THAT(second.err, HasSubstr("fetch_failed repository=" + watched_.string()));
}

TEST_F(Fetch, BringsTheCommitsOfARequestedBisection) {
  auto const nightlies = world_.directory() / "nightlies";
  fs::create_directories(nightlies);
  world_.configure({{"feed", {{"kind", "directory"}, {"path", nightlies.string()}}}});
  Service service{world_};
  auto const& truth = world_.truth();
  json request = {{"start", truth.at("nightlies").at(0).at("commit")},
                  {"end", truth.at("nightlies").at(1).at("commit")},
                  {"benchmarks", {"test_train[dcgan-cpu-eager]"}}};

  EXPECT_THAT(service.process().err(), Not(HasSubstr("fetch_started")));
  auto const accepted = service.post("/api/v1/bisections", request);
  request["end"] = std::string(40, 'f');
  auto const refused = service.post("/api/v1/bisections", request);
  fs::rename(upstream_, world_.lab() / "gone");
  auto const unavailable = service.post("/api/v1/bisections", request);

  EXPECT_EQ(accepted.status, 202) << accepted.body;
  EXPECT_EQ(refused.status, 400) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr(std::string(40, 'f')));
  EXPECT_EQ(unavailable.status, 503) << unavailable.body;
  EXPECT_THAT(unavailable.body, HasSubstr("fetch origin into " + watched_.string()));
}

TEST_F(Fetch, BringsTheCommitsOfTheBisectCommand) {
  auto const& nightlies = world_.truth().at("nightlies");
  auto const start = nightlies.at(0).at("commit").get<std::string>();
  auto const end = nightlies.at(1).at("commit").get<std::string>();
  std::vector<std::string> arguments{"bisect", "--json", "--start", start, "--end", end};
  arguments.insert(arguments.end(),
                   {"--benchmark", "test_train[dcgan-cpu-eager]", "--metric", "cmem"});

  auto const bisected = world_.run(arguments);
  arguments.at(3) = "no-such-branch";
  auto const unknown = world_.run(arguments);
  fs::rename(upstream_, world_.lab() / "gone");
  auto const unavailable = world_.run(arguments);

  EXPECT_EQ(bisected.status, 1) << bisected.err;
  expect_culprit(world_, bisection_of(json::parse(bisected.out)));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("resolve \"no-such-branch\""));
  EXPECT_EQ(unavailable.status, 2);
  EXPECT_THAT(unavailable.err, HasSubstr("fetch origin into " + watched_.string()));
}

}  // namespace
}  // namespace torchwatch::e2e
