#include <filesystem>

#include <gmock/gmock.h>

#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"

// Keeping and removing builds, by command and by HTTP.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

json list(World& world) {
  auto const listed = world.run({"builds", "list", "--json"});
  EXPECT_EQ(listed.status, 0) << listed.err;
  return json::parse(listed.out);
}

/// Returns a build that is not in use: a commit of the bisection, which has ended.
std::string name_of_unused(json const& builds) {
  for (auto const& build : builds)
    if (build.at("in_use_by").empty()) return build.at("name");
  return {};
}

TEST(Builds, AreListedPinnedAndRemoved) {
  World world{quick_world()};
  ASSERT_EQ(world.run({"check"}).status, 1);
  auto const builds = list(world);
  ASSERT_GE(builds.size(), 3U) << builds;
  auto const name = name_of_unused(builds);
  ASSERT_NE(name, "") << builds;
  EXPECT_THAT(world.run({"builds"}).out, HasSubstr("incident 1"));

  auto const pinned = world.run({"builds", "pin", name, "--who", "ada", "--why", "for the paper"});
  EXPECT_EQ(pinned.status, 0) << pinned.err;
  auto const refused = world.run({"builds", "remove", name});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr(name + " is in use by ada: for the paper"));

  EXPECT_EQ(world.run({"builds", "unpin", name}).status, 0);
  auto const removed = world.run({"builds", "remove", name});
  EXPECT_EQ(removed.status, 0) << removed.err;
  EXPECT_FALSE(fs::exists(world.state() / "builds" / name));
  EXPECT_EQ(list(world).size(), builds.size() - 1);
  EXPECT_EQ(world.run({"builds", "remove", name}).status, 2);
}

TEST(Builds, OverTheQuotaArePrunedAndTheAnswerStays) {
  World world{quick_world()};
  world.configure({{"builds", {{"quota_mib", 1}, {"keep_free_mib", 0}}}});
  auto const first = world.run({"check", "--json"});
  expect_truth(world, first);
  auto const pruned = world.run({"builds", "prune"});
  EXPECT_EQ(pruned.status, 0) << pruned.err;
  auto const again = world.run({"check", "--json"});
  EXPECT_EQ(expect_answer(again), expect_answer(first));
}

TEST(Builds, CommandsUseARunningService) {
  World world{quick_world()};
  Service const service{world};
  ASSERT_TRUE(eventually([&] { return service.get("/api/v1/incidents").at("items").size() == 1; }));
  std::vector<std::string> const server_options{
      "--server", service.url(), "--token-file", service.token_file(), "--json"};
  auto const ask = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "builds");
    arguments.insert(arguments.end(), server_options.begin(), server_options.end());
    return world.run(arguments);
  };
  auto const listed = ask({"list"});
  ASSERT_EQ(listed.status, 0) << listed.err;
  auto const name = json::parse(listed.out).at(0).at("name").get<std::string>();

  auto const here = world.run({"builds", "unpin", name});
  EXPECT_EQ(here.status, 2);
  EXPECT_THAT(here.err, HasSubstr("--server"));
  EXPECT_EQ(list(world).size(), json::parse(listed.out).size()) << "a list needs no service";

  auto const pinned = ask({"pin", name, "--who", "ada", "--why", "for the paper"});
  ASSERT_EQ(pinned.status, 0) << pinned.err;
  EXPECT_THAT(service.get("/api/v1/builds/" + name).at("in_use_by").get<std::vector<std::string>>(),
              Contains("ada: for the paper"));
  auto const unknown = ask({"fetch", "1999-01-01", "--who", "ada", "--why", "for the paper"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("1999-01-01"));
}

}  // namespace
}  // namespace torchwatch::e2e
