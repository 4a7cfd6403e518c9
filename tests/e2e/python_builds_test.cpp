#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/world.h"

// Builds that are Python packages, with the system's torch, measured by torchwatch-python-worker.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto directory_of_torch =
    "/usr/bin/python3 -P -c 'import os, torch; print(os.path.dirname(torch.__file__))'";

/// Returns the first line that a shell command prints; empty when it fails.
std::string output_of(char const* command) {
  std::string line;
  auto* const pipe = popen(command, "r");
  for (int byte = fgetc(pipe); byte != EOF && byte != '\n'; byte = fgetc(pipe))
    line += static_cast<char>(byte);
  return pclose(pipe) == 0 ? line : "";
}

class PythonBuilds : public testing::Test {
 protected:
  void SetUp() override {
    torch_ = output_of(directory_of_torch);
    if (torch_.empty()) GTEST_SKIP() << "/usr/bin/python3 has no torch";
    fs::create_directories(world_.directory() / "models");
    std::ofstream{world_.directory() / "models/wide.py"}
        << "import torch\nfrom nightly_width import WIDTH\n\n"
           "def make(setup):\n"
           "    return torch.nn.Linear(WIDTH, WIDTH), (torch.ones(1, WIDTH),)\n";
    json suite{{"name", "python"},
               {"worker", PYTHON_WORKER},
               {"needs", "python"},
               {"files", (world_.directory() / "models").string()},
               {"models", {"wide"}},
               {"tests", {"eval"}},
               {"environment", {{"PATH", "/usr/bin:/bin"}}},
               {"metrics", {{"cmem", {{"unit", "bytes"}, {"kind", "exact"}}}}}};
    world_.configure({{"suites", {std::move(suite)}},
                      {"fleets", {{{"name", "local"}, {"suites", {"python"}}}}}});
  }

  /// Returns the cmem of the model on a site-packages with torch, and with a module that makes the
  /// model `width` wide.
  double cmem_of(int width) {
    auto const build = world_.directory() / ("width-" + std::to_string(width));
    fs::create_directories(build);
    fs::create_directory_symlink(torch_, build / "torch");
    std::ofstream{build / "nightly_width.py"} << "WIDTH = " << width << '\n';
    std::ofstream{build / "build.json"}
        << json{{"commit", std::string(40, 'a')}, {"kind", "python"}};
    auto const bench =
        world_.run({"bench", "--suite", "python", "--prefix", build.string(), "--json"});
    EXPECT_EQ(bench.status, 0) << bench.err;
    return json::parse(bench.out).at(0).at("metrics").at("cmem").at("value");
  }

  World world_;
  std::string torch_;
};

TEST_F(PythonBuilds, AreWhatTheWorkerImports) {
  auto const bytes_of_weights = [](double width) {
    return 4 * width * width;
  };
  EXPECT_NEAR(cmem_of(1000), bytes_of_weights(1000), 20000);
  EXPECT_NEAR(cmem_of(1200), bytes_of_weights(1200), 20000);
}

TEST_F(PythonBuilds, WithoutTorchAreNotMeasuredWithTheSystems) {
  auto const build = world_.directory() / "empty";
  fs::create_directories(build);
  std::ofstream{build / "build.json"} << json{{"commit", std::string(40, 'a')}};

  auto const bench = world_.run({"bench", "--suite", "python", "--prefix", build.string()});

  EXPECT_EQ(bench.status, 2);
  EXPECT_THAT(bench.err + bench.out, testing::HasSubstr("not from the build"));
}

}  // namespace
}  // namespace torchwatch::e2e
