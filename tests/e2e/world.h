#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/e2e/github_process.h"
#include "tests/e2e/proc.h"
#include "tests/e2e/process.h"

namespace torchwatch::e2e {

/// What a world is made of. Patches are JSON merge patches (RFC 7396).
struct WorldOptions {
  std::string scenario = "one-culprit";                ///< tests/lab/scenarios/NAME.json
  bool real = false;                                   ///< kernels and LibTorch in place of scripts
  std::uint64_t seed = 1;                              ///< draws the lab's history
  nlohmann::json script = nlohmann::json::object();    ///< of the lab's scripted.json
  nlohmann::json history = nlohmann::json::object();   ///< of the scenario's file
  nlohmann::json settings = nlohmann::json::object();  ///< of the lab's torchwatch.json
};

/// One benchmark, of which memory moves: a process each decides every question, so that nothing is
/// quicker judged.
WorldOptions quick_world();

/// A temporary directory with everything the service needs: a generated lab, a configuration, on
/// request a GitHub, and room for what it stores. Every process started here carries the
/// directory's name in its environment, so none is ever lost from sight. Gone with this object.
class World {
 public:
  explicit World(WorldOptions const& options = {});
  World(World const&) = delete;
  World& operator=(World const&) = delete;
  ~World();

  std::filesystem::path const& directory() const { return directory_; }

  std::filesystem::path state() const { return lab() / settings_.at("state_dir"); }

  std::filesystem::path lab() const { return directory_ / "lab"; }

  std::filesystem::path config_file() const { return lab() / "torchwatch.json"; }

  /// What the lab planted.
  nlohmann::json const& truth() const { return truth_; }

  /// Changes the configuration for whatever is started from now on.
  void configure(nlohmann::json const& patch);

  /// Has the service build by this shell script, which finds the lab's recipe beside it, as `real`.
  /// Returns their directory.
  std::filesystem::path wrap_recipe(std::string const& script);

  /// Starts a GitHub and has the service file its issues there.
  GithubProcess& add_github();

  GithubProcess& github() { return github_.value(); }

  /// The real torchwatch.
  static std::string program();

  /// Starts it on this world's configuration.
  Process start(std::vector<std::string> arguments);

  /// The same, to its end.
  Finished run(std::vector<std::string> arguments);

  /// Starts any program in this world, with more variables in its environment.
  Process start_program(std::vector<std::string> argv,
                        std::map<std::string, std::string> const& environment = {});

  /// What lives here, GitHub left out.
  std::vector<SeenProcess> processes() const;

 private:
  explicit World(std::filesystem::path directory) : directory_{std::move(directory)} {}

  void generate(WorldOptions const& options);

  std::filesystem::path directory_;
  nlohmann::json truth_;
  nlohmann::json settings_;
  std::optional<GithubProcess> github_;
  int outputs_ = 0;
};

}  // namespace torchwatch::e2e
