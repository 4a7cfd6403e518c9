#include "tests/lab/history.h"

#include <map>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "tests/lab/message.h"
#include "tests/lab/repository.h"

namespace torchwatch::lab {

namespace {

/// Returns the trees of the import and of each step.
Result<std::vector<Tree>> grow(Repository& repository,
                               Material const& material,
                               std::vector<Step> const& steps) {
  auto const root = repository.import(material.tree);
  if (!root) return root.error();
  std::vector<Tree> trees{*root};
  for (auto const& step : steps) {
    auto const changed = repository.apply(*root, material.changes.at(step.change).diff);
    if (!changed) return within(step.change, changed.error());
    auto const next = step.reverts ? repository.replay(trees.back(), *changed, *root)
                                   : repository.replay(trees.back(), *root, *changed);
    if (!next) return within(step.change, next.error());
    trees.push_back(*next);
  }
  return trees;
}

/// Returns the script of the scripted worker: the numbers with the effects of all culprits in the
/// commit at `position`, and a key that changes with the sources.
std::string script_of(Scenario const& scenario,
                      Material const& material,
                      int position,
                      Tree const& sources) {
  auto script = nlohmann::ordered_json::parse(material.script);
  script["sources"] = sources.hex;
  for (auto const& culprit : scenario.culprits) {
    if (!is_in(culprit, position)) continue;
    for (auto const& effect : culprit.effects) {
      auto& value = script["benchmarks"][effect.benchmark][std::string{to_string(effect.metric)}];
      auto const before = value.is_null() ? 0.0 : value.get<double>();
      value = before * effect.ratio + static_cast<double>(effect.bytes);
    }
  }
  return script.dump(2) + "\n";
}

/// Returns `tree` with a script instead of sources.
Result<Tree> scripted(Repository& repository,
                      Scenario const& scenario,
                      Material const& material,
                      int position,
                      Tree const& tree) {
  auto sources = repository.subtree(tree, "csrc");
  if (!sources) return sources;
  std::map<std::string, std::string> files;
  files["script.json"] = script_of(scenario, material, position, *sources);
  if (is_broken(scenario, position)) files["BROKEN"] = "This commit does not compile.\n";
  return repository.rewrite(tree, "csrc", files);
}

Result<Release> release(Repository& repository,
                        Person const& bot,
                        std::chrono::sys_days day,
                        std::pair<Tree, CommitSha> const& trunk,
                        CommitSha const* previous) {
  auto const time = release_time(day);
  CommitText const text{nightly_message(day, trunk.second), bot, time, bot, time};
  auto const commit = repository.commit(trunk.first, previous, text);
  if (!commit) return commit.error();
  return Release{text_of(day), trunk.second, *commit};
}

/// The trees of a trunk, from that of the import, and its commits.
struct Grown {
  std::vector<Tree> const& trees;
  std::vector<Landed> const& landed;
};

/// Releases a nightly a day: at the end of the base history, and after each day of commits.
Result<std::vector<Release>> release_all(Repository& repository,
                                         Scenario const& scenario,
                                         Person const& bot,
                                         Grown const& trunk) {
  std::vector<int> ends{scenario.base_commits};
  for (auto const position : later_nightlies(scenario))
    ends.push_back(scenario.base_commits + position);
  std::vector<Release> releases;
  auto day = scenario.first_nightly;
  for (auto const end : ends) {
    auto const at = static_cast<std::size_t>(end);
    auto const* const previous = releases.empty() ? nullptr : &releases.back().commit;
    auto const made =
        release(repository, bot, day, {trunk.trees[at], trunk.landed[at - 1].sha}, previous);
    if (!made) return made.error();
    releases.push_back(*made);
    day += std::chrono::days{1};
  }
  return releases;
}

/// Returns the metadata of the first commit, which imports tree/.
CommitText import_text(Step const& first, Person const& bot) {
  auto const time = first.committed - std::chrono::hours{24};
  return {"Import the kernels\n", first.author, time, bot, time};
}

Result<std::vector<Landed>> commit_all(Repository& repository,
                                       Material const& material,
                                       std::vector<Step> const& steps,
                                       std::vector<Tree> const& trees) {
  auto const root =
      repository.commit(trees.front(), nullptr, import_text(steps.front(), material.bot));
  if (!root) return root.error();
  std::vector<Landed> landed;
  auto parent = *root;
  for (std::size_t index = 0; index < steps.size(); ++index) {
    auto const& step = steps[index];
    auto const& change = material.changes.at(step.change);
    auto const reverted = step.reverts ? landed[*step.reverts].sha : CommitSha{};
    CommitText const text{message_of(step, change, reverted),
                          step.author,
                          step.authored,
                          material.bot,
                          step.committed};
    auto const commit = repository.commit(trees[index + 1], &parent, text);
    if (!commit) return commit.error();
    landed.push_back({step, subject_of(step, change), *commit});
    parent = *commit;
  }
  return landed;
}

}  // namespace

Result<History> write_history(std::filesystem::path const& path,
                              Scenario const& scenario,
                              Material const& material,
                              std::vector<Step> const& steps,
                              Contents contents) {
  auto repository = Repository::create(path);
  if (!repository) return repository.error();
  auto trees = grow(*repository, material, steps);
  if (!trees) return trees.error();
  if (contents == Contents::scripted) {
    for (std::size_t index = 0; index < trees->size(); ++index) {
      auto const position = static_cast<int>(index) - scenario.base_commits;
      auto tree = scripted(*repository, scenario, material, position, (*trees)[index]);
      if (!tree) return tree.error();
      (*trees)[index] = *tree;
    }
  }
  auto landed = commit_all(*repository, material, steps, *trees);
  if (!landed) return landed.error();

  auto releases = release_all(*repository, scenario, material.bot, {*trees, *landed});
  if (!releases) return releases.error();
  auto const main = repository->set_branch("main", landed->back().sha);
  if (!main) return main.error();
  auto const nightly = repository->set_branch("nightly", releases->back().commit);
  if (!nightly) return nightly.error();
  return History{std::move(*landed), std::move(*releases)};
}

}  // namespace torchwatch::lab
