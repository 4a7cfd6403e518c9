#include "tests/lab/generate.h"

#include <fstream>

#include <nlohmann/json.hpp>

namespace torchwatch::lab {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Landed const& at(History const& history, Scenario const& scenario, int position) {
  return history.steps[static_cast<std::size_t>(scenario.base_commits + position - 1)];
}

Json json_of(Release const& release) {
  return {{"date", release.date},
          {"commit", release.trunk.hex},
          {"release_commit", release.commit.hex}};
}

Json json_of(Effect const& effect) {
  Json json{{"benchmark", effect.benchmark}, {"metric", to_string(effect.metric)}};
  if (effect.ratio != 1) json["ratio"] = effect.ratio;
  if (effect.bytes != 0) json["bytes"] = effect.bytes;
  return json;
}

Json json_of(Culprit const& culprit, Landed const& landed) {
  auto effects = Json::array();
  for (auto const& effect : culprit.effects)
    effects.push_back(json_of(effect));
  return {{"commit", landed.sha.hex},
          {"pull_request", landed.step.pull_request},
          {"subject", landed.subject},
          {"position", culprit.at},
          {"effects", std::move(effects)}};
}

/// Returns the suspects of a correct bisection: the culprit. If the culprit does not build, the
/// suspects are all commits of the broken span and the next one, which builds.
Json suspects(Scenario const& scenario, History const& history, Culprit const& culprit) {
  auto first = culprit.at;
  auto last = culprit.at;
  if (is_broken(scenario, culprit.at)) {
    first = scenario.broken->from;
    last = scenario.broken->until;
  }
  auto shas = Json::array();
  for (int position = first; position <= last; ++position) {
    shas.push_back(at(history, scenario, position).sha.hex);
  }
  return shas;
}

Json truth(Scenario const& scenario, History const& history, std::uint64_t seed) {
  auto culprits = Json::array();
  for (auto const& culprit : scenario.culprits) {
    if (!is_released(scenario, culprit)) continue;
    auto json = json_of(culprit, at(history, scenario, culprit.at));
    json["suspects"] = suspects(scenario, history, culprit);
    if (culprit.reverted_at)
      json["reverted_by"] = at(history, scenario, *culprit.reverted_at).sha.hex;
    culprits.push_back(std::move(json));
  }
  auto broken = Json::array();
  for (int position = 1; position <= scenario.commits; ++position) {
    if (is_broken(scenario, position)) broken.push_back(at(history, scenario, position).sha.hex);
  }
  auto nightlies = Json::array();
  for (auto const& release : history.releases)
    nightlies.push_back(json_of(release));
  Json truth{{"scenario", scenario.name},
             {"about", scenario.about},
             {"seed", seed},
             {"commits", scenario.commits},
             {"nightlies", std::move(nightlies)},
             {"culprits", std::move(culprits)},
             {"broken", std::move(broken)}};
  if (scenario.dependency) {
    truth["dependency"] = {{"name", scenario.dependency->name}, {"effects", Json::array()}};
    for (auto const& effect : scenario.dependency->effects)
      truth["dependency"]["effects"].push_back(json_of(effect));
  }
  return truth;
}

Result<> write(fs::path const& file, Json const& json) {
  std::ofstream stream{file};
  stream << json.dump(2) << '\n';
  stream.close();
  if (!stream) return Error{ErrorCode::internal, file.string() + ": cannot be written"};
  return {};
}

/// Writes the recipe and the directories of dependencies: `before` is empty, `after` has the
/// dependency. `now` links to `before`. A scripted dependency consists only of its ratios.
Result<> write_dependency(Request const& request,
                          Dependency const& dependency,
                          Material const& material) {
  auto const folder = request.out / "dependencies";
  auto const source = material.dependencies / (dependency.name + ".cpp");
  fs::create_directories(folder / "before");
  fs::create_directories(folder / "after");
  fs::create_symlink("before", folder / "now");
  if (request.contents == Contents::kernels) {
    fs::copy_file(source, folder / "after" / source.filename());
  } else {
    Json factors;
    for (auto const& effect : dependency.effects)
      factors[effect.benchmark][std::string{to_string(effect.metric)}] = effect.ratio;
    auto const written = write(folder / "after" / (dependency.name + ".json"), factors);
    if (!written) return written;
  }
  auto const recipe = request.out / "recipe";
  std::ofstream{recipe}
      << "#!/bin/sh\n"
         "# Runs the lab's recipe with the dependencies that builds are packed with now.\n"
         "LAB_DEPENDENCIES=$(dirname \"$(readlink -f \"$0\")\")/dependencies/now \\\n"
         "  exec '"
      << material.recipe.string() << "' \"$@\"\n";
  fs::permissions(recipe, fs::perms::owner_all);
  return {};
}

/// Returns the configuration. Paths inside the lab are relative to it, so the lab can be moved.
Json configuration(Request const& request, Scenario const& scenario, Material const& material) {
  Json json{
      {"state_dir", "state"},
      {"feed",
       {{"kind", "git"}, {"path", "repository"}, {"stale_days", 0}}},  // its days are in the past
      {"source",
       {{"repository", "repository"},
        {"recipe", scenario.dependency ? "recipe" : material.recipe.string()},
        // The lab can be in /tmp, which sandboxes hide.
        {"readable", {".", material.recipe.parent_path().string()}}}},
      // The lab's effects are large, so short tests matter more than a smaller error rate.
      {"decide", {{"error", 0.001}, {"miss", 0.05}, {"aa_benchmarks", 0}}},
      {"suite", {{"models", scenario.models}, {"tests", scenario.tests}, {"scale", "smoke"}}},
      {"http", {{"port", 0}}}};
  // A new database starts with two nightlies.
  if (!scenario.later_commits.empty())
    json["feed"]["backlog"] = 1 + later_nightlies(scenario).size();
  if (!request.worker.empty()) {
    json["measure"]["worker"] = fs::absolute(request.worker).string();
  }
  return json;
}

}  // namespace

Result<> generate(Request const& request) {
  auto const scenario = load_scenario(request.scenario);
  if (!scenario) return scenario.error();
  auto const lab = fs::absolute(request.scenario).parent_path().parent_path();
  auto const material = load_material(lab);
  if (!material) return material.error();
  auto const steps = plan_history(*scenario, *material, request.seed);
  if (!steps) return steps.error();
  auto const history =
      write_history(request.out / "repository", *scenario, *material, *steps, request.contents);
  if (!history) return history.error();
  auto written = write(request.out / "truth.json", truth(*scenario, *history, request.seed));
  if (!written) return written;
  if (scenario->dependency) {
    auto const packed = write_dependency(request, *scenario->dependency, *material);
    if (!packed) return packed;
  }
  return write(request.out / "torchwatch.json", configuration(request, *scenario, *material));
}

}  // namespace torchwatch::lab
