#include <regex>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/service.h"

// Tables of records, read from the store and from a running service.
namespace torchwatch::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// A world in which one incident was found.
class Records : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = std::make_unique<World>(quick_world());
    ASSERT_EQ(world_->run({"check"}).status, 1);
  }

  static void TearDownTestSuite() { world_.reset(); }

  /// Runs a command on the store and with a service. Expects equal output and returns it.
  static std::string printed(std::vector<std::string> arguments) {
    auto const here = world_->run(arguments);
    EXPECT_EQ(here.status, 0) << here.err;
    Service const service{*world_};
    arguments.insert(arguments.end(), {"--server", service.url()});
    auto const there = world_->run(arguments);
    EXPECT_EQ(there.status, 0) << there.err;
    EXPECT_EQ(without_ages(there.out), without_ages(here.out));
    return here.out;
  }

  /// The second command may run in the next minute.
  static std::string without_ages(std::string const& text) {
    return std::regex_replace(text, std::regex{"[0-9]+ min *"}, "AGE ");
  }

  static std::unique_ptr<World> world_;
};

std::unique_ptr<World> Records::world_;

void expect_mistake(World& world, std::vector<std::string> const& typed, std::string const& error) {
  auto const failed = world.run(typed);
  EXPECT_EQ(failed.status, 2) << typed.front();
  EXPECT_THAT(failed.err, HasSubstr(error));
  EXPECT_EQ(failed.out, "");
}

TEST_F(Records, ListIncidentsAndShowOneWithItsTimeline) {
  auto const list = printed({"incidents"});
  EXPECT_THAT(list, StartsWith("id  nightly"));
  EXPECT_THAT(list, HasSubstr("test_train[dcgan-cpu-eager]"));
  auto const one = printed({"incidents", "1"});
  EXPECT_THAT(one, StartsWith("incident 1: test_train[dcgan-cpu-eager]"));
  EXPECT_THAT(one, HasSubstr("opened in nightly "));
  EXPECT_THAT(one, HasSubstr("file: report"));
  EXPECT_EQ(json::parse(printed({"incidents", "1", "--json"})).at("id"), 1);
}

TEST_F(Records, SelectIncidentsByState) {
  auto const all = json::parse(printed({"incidents", "--json"}));
  auto const state = all.at(0).at("state").get<std::string>();
  EXPECT_EQ(json::parse(printed({"incidents", "--state", state, "--json"})), all);
  EXPECT_EQ(printed({"incidents", "--state", "false_alarm"}), "No incident is in such a state.\n");
  expect_mistake(*world_, {"incidents", "--state", "closed"}, R"(state: found "closed")");
}

TEST_F(Records, PrintTheReportOnAnIncidentAsItsFile) {
  auto const report = json::parse(printed({"incidents", "1", "--json"})).at("report");
  auto const written = text_of(report.get<std::string>());
  EXPECT_THAT(written, StartsWith("# "));
  EXPECT_EQ(printed({"incidents", "1", "--markdown"}), written);
  EXPECT_NE(world_->run({"incidents", "--markdown"}).status, 0) << "it needs an incident";
}

TEST_F(Records, ListNightliesAndShowTheVerdictsOnOne) {
  EXPECT_THAT(printed({"nightlies"}), HasSubstr("done"));
  EXPECT_THAT(printed({"nightlies", "2"}), HasSubstr("regression"));
  EXPECT_EQ(json::parse(printed({"nightlies", "--json"})).size(), 2U);
}

TEST_F(Records, ListSeriesAndShowTheNightliesOfOne) {
  EXPECT_THAT(printed({"series"}), HasSubstr("test_train[dcgan-cpu-eager]_latency"));
  auto const nightlies = printed({"series", "test_train[dcgan-cpu-eager]_latency"});
  EXPECT_THAT(nightlies, StartsWith("test_train[dcgan-cpu-eager]_latency on local\n"));
  EXPECT_THAT(nightlies, HasSubstr(" ms"));
}

TEST_F(Records, ListAlarms) {
  EXPECT_THAT(printed({"alarms"}), StartsWith("id  state  kind"));
}

TEST_F(Records, ListSlots) {
  EXPECT_THAT(printed({"slots"}), StartsWith("fleet  slot  use"));
  EXPECT_EQ(json::parse(printed({"slots", "local", "--json"})), json::array());
}

TEST_F(Records, PrintAnErrorForAnUnknownRecord) {
  expect_mistake(*world_, {"incidents", "7"}, R"(id "7": not found)");
  expect_mistake(*world_, {"nightlies", "../incidents"}, R"(id "../incidents": not found)");
  expect_mistake(*world_, {"series", "resnet"}, "allowed is a series like");
  expect_mistake(*world_,
                 {"series", "test_eval[dlrm-cpu-eager]_latency"},
                 R"(series "test_eval[dlrm-cpu-eager]_latency" has no measurements)");
  expect_mistake(*world_, {"incidents", "--server", "http://127.0.0.1:1"}, "http://127.0.0.1:1");
}

}  // namespace
}  // namespace torchwatch::e2e
