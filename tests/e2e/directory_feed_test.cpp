#include <stdexcept>

#include <gtest/gtest.h>

#include "bisect/git_history.h"
#include "tests/e2e/expect.h"

// Nightlies that somebody else built, a directory each.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;

/// Builds a nightly of the lab by its recipe into `prefix`.
void build(World& world, nlohmann::json const& nightly, fs::path const& prefix) {
  auto const settings = nlohmann::json::parse(text_of(world.config_file())).at("source");
  auto const commit = nightly.at("commit").get<std::string>();
  auto const source = world.directory() / ("source-" + commit);
  auto const history = bisect::GitHistory::open((world.lab() / "repository").string());
  history.value().export_tree(CommitSha{commit}, source.string()).value();
  auto const built = world
                         .start_program({settings.at("recipe"), source.string(), prefix.string()},
                                        {{"TORCHWATCH_COMMIT", commit},
                                         {"TORCHWATCH_BUILD_DATE", nightly.at("date")}})
                         .wait();
  if (built.status != 0) throw std::runtime_error("recipe: " + built.err);
}

class DirectoryFeed : public testing::Test {
 protected:
  DirectoryFeed() {
    auto const nightlies = world_.directory() / "nightlies";
    for (auto const& nightly : world_.truth().at("nightlies"))
      build(world_, nightly, nightlies / nightly.at("date"));
    world_.configure({{"feed", {{"kind", "directory"}, {"path", nightlies.string()}}}});
  }

  World world_;
};

TEST_F(DirectoryFeed, LeadsToTheSameCulprit) {
  expect_truth(world_, world_.run({"check", "--json"}));
}

TEST_F(DirectoryFeed, GivesTheIncidentWithoutCulpritWhenNothingCanBeBuilt) {
  world_.configure({{"source", nullptr}});
  auto const check = world_.run({"check", "--json"});
  EXPECT_EQ(check.status, 1) << check.err;
  auto const answer = expect_answer(check);
  EXPECT_EQ(answer.moved, planted_series(world_.truth()));
  EXPECT_TRUE(answer.searches.empty());
  auto const incident = nlohmann::json::parse(check.out).at("incidents").at(0);
  auto const report = text_of(incident.at("report").get<std::string>());
  EXPECT_NE(report.find("No search for the culprit was made."), std::string::npos) << report;
}

}  // namespace
}  // namespace torchwatch::e2e
