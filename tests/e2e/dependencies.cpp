#include "tests/e2e/dependencies.h"

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/e2e/expect.h"

namespace torchwatch::e2e {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

/// Runs git. Returns the first line of its output.
std::string run_git(World& world, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "git");
  auto const done = world.start_program(std::move(arguments)).wait();
  if (done.status != 0) throw std::runtime_error("git: " + done.err);
  return done.out.substr(0, done.out.find('\n'));
}

std::set<std::string> moved_by_the_dependency(json const& truth) {
  std::set<std::string> moved;
  for (auto const& effect : truth.at("dependency").at("effects"))
    moved.insert(effect.at("benchmark").get<std::string>() + "_" +
                 effect.at("metric").get<std::string>());
  return moved;
}

}  // namespace

WorldOptions world_with_dependency(bool real) {
  WorldOptions options;
  options.scenario = "dependency";
  options.real = real;
  return options;
}

void release_up_to(World& world, std::size_t nightly) {
  auto const commit =
      world.truth().at("nightlies").at(nightly).at("release_commit").get<std::string>();
  auto const repository = (world.lab() / "repository").string();
  run_git(world, {"-C", repository, "update-ref", "refs/heads/nightly", commit});
}

void land_up_to(World& world, std::string const& commit) {
  auto const repository = (world.lab() / "repository").string();
  run_git(world, {"-C", repository, "update-ref", "refs/heads/main", commit});
}

void release_again(World& world, json const& nightly, std::string const& date) {
  auto const trunk = nightly.at("commit").get<std::string>();
  auto const repository = (world.lab() / "repository").string();
  auto const commit = run_git(world,
                              {"-C",
                               repository,
                               "-c",
                               "user.name=bot",
                               "-c",
                               "user.email=bot@example.org",
                               "commit-tree",
                               trunk + "^{tree}",
                               "-p",
                               "nightly",
                               "-m",
                               date + " nightly release (" + trunk + ")"});
  run_git(world, {"-C", repository, "update-ref", "refs/heads/nightly", commit});
}

void pack_with_dependency(World const& world, bool with) {
  auto const now = world.lab() / "dependencies" / "now";
  fs::remove(now);
  fs::create_symlink(with ? "after" : "before", now);
}

void build(World& world, json const& nightly, fs::path const& prefix) {
  auto const settings = json::parse(text_of(world.config_file())).at("source");
  auto const recipe = world.lab() / settings.at("recipe").get<std::string>();
  auto const commit = nightly.at("commit").get<std::string>();
  auto const source = world.directory() / ("source-" + commit);
  auto const repository = (world.lab() / "repository").string();
  run_git(world, {"clone", "--quiet", "--no-checkout", repository, source.string()});
  run_git(world, {"-C", source.string(), "checkout", "--quiet", commit});
  auto const built = world
                         .start_program({recipe.string(), source.string(), prefix.string()},
                                        {{"TORCHWATCH_COMMIT", commit},
                                         {"TORCHWATCH_BUILD_DATE", nightly.at("date")}})
                         .wait();
  if (built.status != 0) throw std::runtime_error("recipe: " + built.err);
  fs::remove_all(source);
}

void expect_environment(World const& world, Finished const& check) {
  EXPECT_EQ(check.status, 1) << check.err;
  auto const answer = expect_answer(check);
  EXPECT_EQ(answer.moved, moved_by_the_dependency(world.truth()));
  ASSERT_THAT(answer.bisections, SizeIs(1)) << check.err;
  EXPECT_EQ(answer.bisections.front().outcome, "environment") << check.err;
  EXPECT_THAT(answer.bisections.front().findings, IsEmpty());
  auto const incident = json::parse(check.out).at("incidents").at(0);
  auto const packages = incident.at("bisections").at(0).at("packages");
  auto const dependency = world.truth().at("dependency").at("name").get<std::string>();
  EXPECT_THAT(packages.at("differences").get<std::vector<std::string>>(),
              Contains(HasSubstr(dependency)));
  ASSERT_THAT(packages.at("changes"), SizeIs(1));
  EXPECT_EQ(packages.at("changes").at(0).at("verdict"), "regression");
  auto const report = text_of(incident.at("report").get<std::string>());
  EXPECT_THAT(report, HasSubstr("**No commit is to blame (environment):**"));
  EXPECT_THAT(report, HasSubstr(dependency));
}

}  // namespace torchwatch::e2e
