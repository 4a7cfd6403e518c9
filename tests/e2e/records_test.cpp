#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/service.h"

// What is known, as tables: from the store, and from a service that runs beside it.
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

  /// Of the store, and the same of a service.
  static std::string told(std::vector<std::string> arguments) {
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

void expect_mistake(World& world, std::vector<std::string> const& typed, std::string const& said) {
  auto const told = world.run(typed);
  EXPECT_EQ(told.status, 2) << typed.front();
  EXPECT_THAT(told.err, HasSubstr(said));
  EXPECT_EQ(told.out, "");
}

TEST_F(Records, ListIncidentsAndTellOneAsItsReport) {
  auto const list = told({"incidents"});
  EXPECT_THAT(list, StartsWith("id  nightly"));
  EXPECT_THAT(list, HasSubstr("test_train[dcgan-cpu-eager]"));
  auto const report = told({"incidents", "1"});
  EXPECT_THAT(report, StartsWith("# "));
  EXPECT_THAT(report, HasSubstr("| "));
  EXPECT_EQ(json::parse(told({"incidents", "1", "--json"})).at("id"), 1);
}

TEST_F(Records, ListNightliesAndTellTheVerdictsOnOne) {
  EXPECT_THAT(told({"nightlies"}), HasSubstr("done"));
  EXPECT_THAT(told({"nightlies", "2"}), HasSubstr("regression"));
  EXPECT_EQ(json::parse(told({"nightlies", "--json"})).size(), 2U);
}

TEST_F(Records, ListSeriesAndTellTheNightsOfOne) {
  EXPECT_THAT(told({"series"}), HasSubstr("test_train[dcgan-cpu-eager]_latency"));
  auto const nights = told({"series", "test_train[dcgan-cpu-eager]_latency"});
  EXPECT_THAT(nights, StartsWith("test_train[dcgan-cpu-eager]_latency on local\n"));
  EXPECT_THAT(nights, HasSubstr(" ms"));
}

TEST_F(Records, ListAlarms) {
  EXPECT_THAT(told({"alarms"}), StartsWith("id  state  kind"));
}

TEST_F(Records, SayWhatIsNotThere) {
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
