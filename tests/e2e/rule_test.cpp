#include <gmock/gmock.h>

#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"

// Rulings of users, by command and by HTTP, and their effect on the service.
namespace torchwatch::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> rule(std::vector<std::string> more) {
  more.insert(more.begin(), "rule");
  more.insert(more.end(), {"--who", "ada", "--why", "known"});
  return more;
}

TEST(Rule, MutedRegressionsAreRecordedButNotReported) {
  World world{quick_world()};
  auto const muted = world.run(rule({"mute", "--fleet", "local"}));
  ASSERT_EQ(muted.status, 0) << muted.err;
  EXPECT_EQ(muted.out, "ruling 1: mute\n");

  auto const check = world.run({"check", "--json"});

  EXPECT_EQ(check.status, 0) << check.err;
  EXPECT_THAT(json::parse(check.out).at("incidents"), IsEmpty());
  Service const service{world};
  auto const nightly = service.get("/api/v1/nightlies/2");
  int regressions = 0;
  for (auto const& verdict : nightly.at("verdicts")) {
    EXPECT_EQ(verdict.at("muted"), true) << verdict;
    regressions += verdict.at("verdict") == "regression" ? 1 : 0;
  }
  EXPECT_GT(regressions, 0);
  EXPECT_THAT(service.get("/api/v1/incidents").at("items"), IsEmpty());
}

TEST(Rule, SentToARunningServiceIsStoredWithItsIncident) {
  World world{quick_world()};
  Service const service{world};
  ASSERT_TRUE(eventually([&] { return service.get("/api/v1/incidents").at("items").size() == 1; }));
  std::vector<std::string> const server_options{
      "--json", "--server", service.url(), "--token-file", service.token_file()};
  auto arguments = rule({"accept", "--incident", "1"});
  arguments.insert(arguments.end(), server_options.begin(), server_options.end());

  auto const given = world.run(arguments);

  ASSERT_EQ(given.status, 0) << given.err;
  auto const incident = service.get("/api/v1/incidents/1");
  ASSERT_THAT(incident.at("rulings"), SizeIs(1));
  EXPECT_EQ(incident.at("rulings").at(0), json::parse(given.out));

  arguments.at(3) = "99";
  auto const refused = world.run(arguments);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("found 99, allowed the id of an incident"));
}

TEST(Rule, WithAWrongFieldIsRefusedWithTheReason) {
  World world;
  auto const refused = world.run(rule({"mute", "--metric", "speed", "--incident", "1"}));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("metric: found \"speed\""));
  EXPECT_THAT(refused.err, HasSubstr("incident: found a field of other kinds"));
  auto const late = world.run(rule({"mute", "--fleet", "local", "--until", "2001-01-01"}));
  EXPECT_EQ(late.status, 2);
  EXPECT_THAT(late.err, HasSubstr("until: found a time in the past"));
}

}  // namespace
}  // namespace torchwatch::e2e
