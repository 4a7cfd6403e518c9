#pragma once

// A lab that is generated for a test, and helpers that read it.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "tests/lab/generate.h"
#include "tests/lab/repository_reader.h"

namespace torchwatch::lab {

namespace fs = std::filesystem;
using nlohmann::json;

inline fs::path const lab_folder{TORCHWATCH_LAB};

/// A temporary directory. It is removed when this object is destroyed.
class Scratch {
 public:
  Scratch() {
    auto name = (fs::temp_directory_path() / "torchwatch-lab-XXXXXX").string();
    path = mkdtemp(name.data());
  }

  ~Scratch() { fs::remove_all(path); }

  Scratch(Scratch const&) = delete;
  Scratch& operator=(Scratch const&) = delete;

  fs::path path;
};

inline json read_json(fs::path const& file) {
  std::ifstream stream{file};
  return json::parse(stream);
}

/// A generated lab in a temporary directory, with its truth and its commits.
struct Lab {
  explicit Lab(std::string const& name,
               Contents contents = Contents::kernels,
               std::uint64_t seed = 1) {
    Request request;
    request.scenario = lab_folder / "scenarios" / (name + ".json");
    request.out = scratch.path / "lab";
    request.seed = seed;
    request.contents = contents;
    auto const done = generate(request);
    if (!done) throw std::runtime_error(done.error().message);
    truth = read_json(request.out / "truth.json");
    configuration = read_json(request.out / "torchwatch.json");
    Reader const reader{request.out / "repository"};
    trunk = reader.branch("main");
    nightly = reader.branch("nightly");
  }

  fs::path repository() const { return scratch.path / "lab/repository"; }

  /// Returns the commits after the first nightly up to the last, oldest first.
  std::vector<Seen> between() const {
    auto const first = truth["nightlies"][0]["commit"].get<std::string>();
    auto after = std::ranges::find_if(trunk, [&](auto const& c) { return c.sha == first; });
    return {after + 1, trunk.end()};
  }

  /// Builds a commit into scratch/prefix. Returns the exit status of the recipe.
  int build(std::string const& sha) const {
    Reader{repository()}.check_out(sha, scratch.path / "source");
    fs::remove_all(scratch.path / "prefix");
    auto const command =
        "LAB_CACHE='" TORCHWATCH_LAB_CACHE "' TORCHWATCH_BUILD_DATE=2025-09-02 TORCHWATCH_COMMIT=" +
        sha + " '" + (lab_folder / "recipe").string() + "' '" + (scratch.path / "source").string() +
        "' '" + (scratch.path / "prefix").string() + "' 2> /dev/null";
    return WEXITSTATUS(std::system(command.c_str()));
  }

  Scratch scratch;
  json truth;
  json configuration;
  std::vector<Seen> trunk;
  std::vector<Seen> nightly;
};

}  // namespace torchwatch::lab
