#include "daemon/service/changed_configuration.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/captured_log.h"
#include "tests/storage/samples.h"

namespace torchwatch::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

config::Options small_options() {
  config::Options options;
  options.fleets = {config::FleetOptions{}};
  options.suite.models = {"resnet18", "dlrm"};
  options.suite.tests = {Test::eval};
  return options;
}

/// A program that starts with one configuration after another.
class ChangedConfigurationTest : public testing::Test {
 protected:
  ChangedConfigurationTest() { start(); }

  void start() { ASSERT_TRUE(adopt_configuration(store, options, tests::early)); }

  /// Returns the keys of all stored changes, newest first.
  std::vector<std::string> keys() {
    std::vector<std::string> all;
    for (auto const& change : store.configurations().newest(100))
      all.push_back(change.key);
    return all;
  }

  std::string effect() { return store.configurations().newest(1).at(0).effect; }

  tests::TemporaryFolder folder;
  storage::Store store = storage::Store::open(folder.database()).value();
  config::Options options = small_options();
  tests::CapturedLog log;
};

TEST_F(ChangedConfigurationTest, TheFirstStartAndAnEqualOneHaveNoChange) {
  start();
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(ChangedConfigurationTest, AnotherThresholdIsSaidOnce) {
  options.decide.threshold = 0.05;
  start();
  start();
  EXPECT_THAT(keys(), ElementsAre("decide.threshold"));
  EXPECT_THAT(effect(), HasSubstr("counts from the next comparison on"));
  EXPECT_THAT(
      log.lines_with("configuration_changed key=\"decide.threshold\" before=0.07 after=0.05"),
      SizeIs(1));
}

TEST_F(ChangedConfigurationTest, ARemovedModelKeepsItsHistory) {
  options.suite.models = {"dlrm"};
  start();
  EXPECT_THAT(keys(), ElementsAre("benchmarks of local"));
  EXPECT_THAT(effect(), HasSubstr("no longer measured"));
}

TEST_F(ChangedConfigurationTest, AnotherFeedIsSaid) {
  options.feed.path = "/srv/nightlies";
  start();
  EXPECT_THAT(keys(), ElementsAre("feed.path"));
  EXPECT_THAT(effect(), HasSubstr("compared with the newest judged one"));
}

TEST_F(ChangedConfigurationTest, AFleetWithoutItsEarlierNameIsNew) {
  options.fleets.front().name = "epyc";
  start();
  EXPECT_THAT(keys(), ElementsAre("fleets", "fleets"));
  EXPECT_THAT(log.text(), HasSubstr("fleets[].formerly"));
}

TEST_F(ChangedConfigurationTest, ARenamedFleetTakesItsRulingsAlong) {
  Ruling mute;
  mute.kind = RulingKind::mute;
  mute.series.fleet = "local";
  mute.given_at = tests::early;
  store.rulings().give(mute);
  options.fleets.front().name = "epyc";
  options.fleets.front().formerly = {"local"};
  start();
  start();

  auto series = tests::latency_of("dlrm");
  series.fleet = "epyc";
  EXPECT_TRUE(store.rulings().is_muted(series, tests::early));
  EXPECT_THAT(keys(), IsEmpty()) << "it is the same fleet";
  EXPECT_THAT(log.lines_with("fleet_renamed before=local after=epyc"), SizeIs(1));
}

TEST_F(ChangedConfigurationTest, KeysThatDoNotMatterForTheHistoryAreNotSaid) {
  options.http.port = 1;
  options.builds.quota_mib = 1;
  options.measure.timeout = std::chrono::seconds{1};
  start();
  EXPECT_THAT(keys(), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::service
