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
    EXPECT_EQ(there.out, here.out);
    return here.out;
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

TEST_F(Records, ListIncidentsAndShowOneAsItsReport) {
  auto const list = printed({"incidents"});
  EXPECT_THAT(list, StartsWith("id  nightly"));
  EXPECT_THAT(list, HasSubstr("test_train[dcgan-cpu-eager]"));
  auto const report = printed({"incidents", "1"});
  EXPECT_THAT(report, StartsWith("# "));
  EXPECT_THAT(report, HasSubstr("| "));
  EXPECT_EQ(json::parse(printed({"incidents", "1", "--json"})).at("id"), 1);
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
