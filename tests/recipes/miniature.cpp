#include "tests/recipes/miniature.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <utility>

namespace torchwatch::recipes {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds patience{120};

void replace_in(bisect::GitRepository const& repository,
                std::string const& file,
                std::string const& from,
                std::string const& to) {
  auto text = e2e::text_of(repository.path() / file);
  auto const at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error{file + " does not hold " + from};
  repository.write(file, text.replace(at, from.size(), to));
}

}  // namespace

Miniature::Miniature() {
  fs::path const folder{RECIPES_TEST_FOLDER};
  fs::copy(folder / "part", part_.path());
  part_.commit("Part");
  fs::copy(folder / "tree", repository_.path(), fs::copy_options::recursive);
  repository_.git("-c protocol.file.allow=always submodule --quiet add '" + part_.path().string() +
                  "' third_party/part");
  repository_.commit("Torch");
  worktree = sibling("worktree");
  repository_.git("clone --quiet --shared --no-checkout . '" + source().string() + "'");
  environment = {{"TORCHWATCH_CORES", "2"},
                 {"PYTORCH_RECIPE_WORKER", (folder / "worker").string()},
                 {"PYTORCH_RECIPE_PYTHON", "/usr/bin/python3"},
                 {"CCACHE_DIR", sibling("ccache").string()},
                 {"GIT_CONFIG_GLOBAL", "/dev/null"},
                 {"GIT_CONFIG_NOSYSTEM", "1"},
                 {"GIT_CONFIG_COUNT", "1"},
                 {"GIT_CONFIG_KEY_0", "protocol.file.allow"},
                 {"GIT_CONFIG_VALUE_0", "always"}};
}

CommitSha Miniature::commit(std::string const& file, std::string const& text) const {
  repository_.write(file, text);
  return repository_.commit(file);
}

CommitSha Miniature::replace(std::string const& file,
                             std::string const& from,
                             std::string const& to) const {
  replace_in(repository_, file, from, to);
  return repository_.commit(file);
}

CommitSha Miniature::move_submodule(std::string const& from, std::string const& to) const {
  replace_in(part_, "part.cpp", from, to);
  auto const moved = part_.commit("Part");
  repository_.git("-C third_party/part fetch --quiet");
  repository_.git("-C third_party/part checkout --quiet " + moved.hex);
  return repository_.commit("Pin");
}

CommitSha Miniature::head() const {
  return {repository_.git("rev-parse HEAD")};
}

e2e::Process Miniature::start(CommitSha const& commit, std::string const& prefix_name) {
  repository_.git("-C '" + source().string() + "' checkout --quiet --force --detach " + commit.hex);
  std::map<std::string, std::string> const given{{"TORCHWATCH_COMMIT", commit.hex},
                                                 {"TORCHWATCH_BUILD_DIR", kept().string()}};
  return run({source().string(), sibling(prefix_name).string()}, given);
}

e2e::Process Miniature::run(std::vector<std::string> arguments,
                            std::map<std::string, std::string> const& given) {
  process::Command command;
  command.argv = std::move(arguments);
  command.argv.insert(command.argv.begin(), PYTORCH_RECIPE);
  command.env = environment;
  command.env.insert(given.begin(), given.end());
  for (auto const* name : {"CC",
                           "CXX",
                           "CFLAGS",
                           "CXXFLAGS",
                           "LDFLAGS",
                           "CCACHE_BASEDIR",
                           "CCACHE_SLOPPINESS",
                           "CCACHE_RECACHE",
                           "CCACHE_DISABLE",
                           "CMAKE_PREFIX_PATH",
                           "CUDACXX",
                           "TORCH_CUDA_ARCH_LIST",
                           "PYTORCH_RECIPE_CUDA",
                           "PYTORCH_RECIPE_CMAKE_OPTIONS",
                           "PYTORCH_RECIPE_WORKER",
                           "TORCHWATCH_PYTHON"}) {
    if (!environment.contains(name)) command.withholds.emplace_back(name);
  }
  return {std::move(command), sibling("run" + std::to_string(++runs_))};
}

e2e::Finished Miniature::dependencies() {
  return run({"--dependencies"}, {}).wait(patience);
}

e2e::Finished Miniature::build(CommitSha const& commit, std::string const& prefix_name) {
  return start(commit, prefix_name).wait(patience);
}

namespace {

std::string output_of(std::string const& command) {
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error{"popen " + command};
  std::string said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    said.push_back(static_cast<char>(c));
  pclose(pipe);
  return said;
}

}  // namespace

std::string answer_of(fs::path const& prefix) {
  return output_of("'" + (prefix / "bin/torchwatch-worker").string() + "'");
}

std::string python_answer_of(fs::path const& prefix) {
  return output_of(
      "PYTHONPATH='" + prefix.string() +
      "' /usr/bin/python3 -c 'import torch; print(torch.__version__, *torch.answer())'");
}

std::vector<std::string> compiled(std::string const& log) {
  static std::regex const line{R"(Building CXX object \S*/(\w+)\.cpp\.o)"};
  std::vector<std::string> sources;
  for (std::sregex_iterator match{log.begin(), log.end(), line}, end; match != end; ++match)
    sources.push_back((*match)[1]);
  return sources;
}

}  // namespace torchwatch::recipes
