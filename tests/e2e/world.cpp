#include "tests/e2e/world.h"

#include <fstream>
#include <stdexcept>
#include <utility>

#include <stdlib.h>

namespace torchwatch::e2e {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

fs::path make_directory() {
  auto path = (fs::temp_directory_path() / "torchwatch-e2e-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
  return path;
}

json read_json(fs::path const& file) {
  return json::parse(text_of(file));
}

void write_json(fs::path const& file, json const& content) {
  std::ofstream stream{file};
  stream << content.dump(2) << '\n';
  stream.close();
  if (!stream) throw std::runtime_error("cannot write " + file.string());
}

void patch_file(fs::path const& file, json const& patch) {
  auto content = read_json(file);
  content.merge_patch(patch);
  write_json(file, content);
}

}  // namespace

WorldOptions quick_world() {
  WorldOptions options;
  options.scenario = "memory";
  options.history = {{"suite", {{"models", {"dcgan"}}}}};
  return options;
}

World::World(WorldOptions const& options) : World(make_directory()) {
  fs::create_directories(directory_ / "tmp");
  fs::create_directories(directory_ / "output");
  generate(options);
  truth_ = read_json(lab() / "truth.json");
  settings_ = read_json(config_file());
  configure({{"source", {{"writable", {LAB_CACHE_FOLDER}}}}});
  configure(options.settings);
}

World::~World() {
  github_.reset();
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

/// The lab reads all files of the folder that contains its scenarios. So the patches apply to a
/// copy of that folder.
void World::generate(WorldOptions const& options) {
  auto const material = directory_ / "material";
  fs::copy(LAB_FOLDER, material, fs::copy_options::recursive);
  auto const scenario = material / "scenarios" / (options.scenario + ".json");
  patch_file(material / "scripted.json", options.script);
  patch_file(scenario, options.history);
  std::vector<std::string> argv{LAB_PROGRAM,
                                "generate",
                                "--scenario",
                                scenario.string(),
                                "--out",
                                lab().string(),
                                "--seed",
                                std::to_string(options.seed)};
  if (!options.real) argv.insert(argv.end(), {"--scripted", "--worker", SCRIPTED_WORKER_PROGRAM});
  auto const generated = start_program(std::move(argv)).wait();
  if (generated.status != 0 || generated.signal != 0)
    throw std::runtime_error("torchwatch-lab: " + generated.err);
}

void World::configure(json const& patch) {
  settings_.merge_patch(patch);
  write_json(config_file(), settings_);
}

fs::path World::wrap_recipe(std::string const& script) {
  auto const folder = directory_ / "recipe";
  fs::create_directories(folder);
  fs::create_symlink(lab() / settings_.at("source").at("recipe").get<std::string>(),
                     folder / "real");
  std::ofstream{folder / "recipe"} << script;
  fs::permissions(folder / "recipe", fs::perms::owner_all);
  configure({{"source",
              {{"recipe", (folder / "recipe").string()},
               {"writable", {LAB_CACHE_FOLDER, folder.string()}}}}});
  return folder;
}

GithubProcess& World::add_github() {
  github_.emplace(directory_ / "github");
  configure({{"github", github_->settings()}});
  return *github_;
}

std::string World::program() {
  return TORCHWATCH_PROGRAM;
}

Process World::start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program());
  return start_program(std::move(arguments));
}

Finished World::run(std::vector<std::string> arguments) {
  return start(std::move(arguments)).wait();
}

Process World::start_program(std::vector<std::string> argv,
                             std::map<std::string, std::string> const& environment) {
  process::Command command;
  command.argv = std::move(argv);
  command.env = {{"TORCHWATCH_CONFIG", config_file().string()},
                 {"TMPDIR", (directory_ / "tmp").string()},
                 {"LAB_CACHE", LAB_CACHE_FOLDER}};
  command.env.insert(environment.begin(), environment.end());
  command.inherits = {"*"};
  return Process{std::move(command), directory_ / "output" / std::to_string(++outputs_)};
}

std::vector<SeenProcess> World::processes() const {
  auto found = processes_with(directory_.string());
  std::erase_if(found, [this](SeenProcess const& process) {
    return github_ && process.pid == github_->pid();
  });
  return found;
}

}  // namespace torchwatch::e2e
