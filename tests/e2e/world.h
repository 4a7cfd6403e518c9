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

/// The settings of a world. Patches are JSON merge patches (RFC 7396).
struct WorldOptions {
  std::string scenario = "one-culprit";  ///< tests/lab/scenarios/NAME.json
  bool real = false;                     ///< compiled kernels and LibTorch instead of scripts
  std::uint64_t seed = 1;                ///< seed of the lab's random history
  nlohmann::json script = nlohmann::json::object();    ///< patch of the lab's scripted.json
  nlohmann::json history = nlohmann::json::object();   ///< patch of the scenario's file
  nlohmann::json settings = nlohmann::json::object();  ///< patch of the lab's torchwatch.json
};

/// Returns the options of the world with the fastest verdicts: one benchmark whose memory changes,
/// so one process of each build decides.
WorldOptions quick_world();

/// A temporary directory with everything the service needs: a generated lab, a configuration, its
/// state, and on request a fake GitHub. Every process started here has the directory's name in its
/// environment, so `processes` finds all of them. Removed when this object is destroyed.
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

  /// The content of the lab's truth.json: the culprits that the lab planted.
  nlohmann::json const& truth() const { return truth_; }

  /// Patches the configuration for processes that are started later.
  void configure(nlohmann::json const& patch);

  /// Makes this shell script the service's recipe. The lab's recipe is next to it, as `real`.
  /// Returns the directory of both.
  std::filesystem::path wrap_recipe(std::string const& script);

  /// Starts a fake GitHub and configures the service to file its issues there.
  GithubProcess& add_github();

  GithubProcess& github() { return github_.value(); }

  /// Returns the path of the torchwatch program.
  static std::string program();

  /// Starts torchwatch with this world's configuration.
  Process start(std::vector<std::string> arguments);

  /// Starts torchwatch with this world's configuration and waits for its end.
  Finished run(std::vector<std::string> arguments);

  /// Starts any program in this world, with `environment` added to its environment.
  Process start_program(std::vector<std::string> argv,
                        std::map<std::string, std::string> const& environment = {});

  /// Returns the running processes of this world, without the fake GitHub.
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
