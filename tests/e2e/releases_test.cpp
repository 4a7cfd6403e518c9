#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/e2e/expect.h"
#include "tests/e2e/stored.h"
#include "tests/e2e/world.h"

// One service compares two releases of PyTorch that are years apart: this host's, and that of
// Debian 13 in another root directory.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::Pair;
using testing::StartsWith;

constexpr auto models = {"resnet18", "dcgan", "dlrm"};

class Releases : public testing::Test {
 protected:
  static WorldOptions with_kernels() {
    WorldOptions options;
    options.real = true;
    return options;
  }

  /// Makes the root. Returns false when it cannot be made on this host; then the test is skipped.
  bool make_root() {
    auto const made = world_.start_program({MAKE_DEBIAN_13_PROGRAM, root_.string()})
                          .wait(std::chrono::seconds{1200});
    constexpr int skipped = 77;
    if (made.status != 0 && made.status != skipped)
      throw std::runtime_error("make-debian-13: " + made.err);
    why_skipped_ = made.out;
    return made.status == 0;
  }

  std::vector<std::string> in_root(std::vector<std::string> const& argv) const {
    std::vector<std::string> words{
        "unshare", "--mount-proc=" + (root_ / "proc").string(), "--root=" + root_.string()};
    words.insert(words.end(), argv.begin(), argv.end());
    return words;
  }

  void run_in_root(std::vector<std::string> const& argv) {
    auto const done =
        world_
            .start_program(in_root(argv),
                           {{"HOME", "/root"}, {"CCACHE_SLOPPINESS", "pch_defines,time_macros"}})
            .wait(std::chrono::seconds{1200});
    if (done.status != 0) throw std::runtime_error(argv.front() + ": " + done.out + done.err);
  }

  /// Compiles the worker inside the root, with the root's LibTorch, into `prefix`.
  void make_worker(fs::path const& prefix) {
    for (auto const* const folder : {"runner", "deploy"}) {
      fs::remove_all(root_ / "opt/sources" / folder);
      fs::create_directories(root_ / "opt/sources");
      fs::copy(
          fs::path{SOURCES} / folder, root_ / "opt/sources" / folder, fs::copy_options::recursive);
    }
    std::string wanted;
    for (auto const* const model : models)
      wanted += (wanted.empty() ? "" : ";") + std::string{model};
    run_in_root({"cmake",
                 "-S",
                 "/opt/sources/runner/worker",
                 "-B",
                 "/opt/worker",
                 "-G",
                 "Ninja",
                 "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
                 "-DTORCHWATCH_WERROR=OFF",
                 "-DTORCHWATCH_MODELS=" + wanted});
    run_in_root({"cmake", "--build", "/opt/worker", "--parallel", "2"});
    fs::create_directories(prefix / "bin");
    fs::copy_file(root_ / "opt/worker/bin/torchwatch-worker",
                  prefix / "bin/torchwatch-worker",
                  fs::copy_options::overwrite_existing);
  }

  static void write_build(fs::path const& prefix, json const& build) {
    fs::create_directories(prefix);
    std::ofstream{prefix / "build.json"} << build.dump();
  }

  World world_{with_kernels()};
  fs::path const root_ = fs::path{DEBIAN_13_ROOT};
  std::string why_skipped_;
};

TEST_F(Releases, OfTwoDebiansAreCompared) {
  if (!make_root()) GTEST_SKIP() << why_skipped_;
  auto const nightlies = root_ / "opt/nightlies";
  fs::remove_all(nightlies);
  write_build(nightlies / "old", {{"commit", std::string(40, 'a')}, {"date", "2026-01-01"}});
  make_worker(nightlies / "new");
  write_build(
      nightlies / "new",
      {{"commit", std::string(40, 'b')}, {"date", "2026-01-02"}, {"launcher", in_root({})}});
  world_.configure({{"feed", {{"kind", "directory"}, {"path", nightlies.string()}}},
                    // The build's launcher changes the root, so the runner needs no sandbox.
                    {"fleets", {{{"name", "local"}, {"isolation", "none"}}}},
                    {"source", {{"repository", ""}, {"recipe", ""}}},
                    {"suite", {{"models", models}, {"tests", {"eval"}}, {"scale", "smoke"}}},
                    {"decide", {{"anchor_nights", 0}, {"aa_benchmarks", 0}, {"max_pairs", 13}}}});

  auto const check = world_.start({"check", "--json"}).wait(std::chrono::seconds{1150});

  ASSERT_THAT(check.status, testing::AnyOf(0, 1)) << check.err;
  std::set<std::string> expected;
  for (auto const* const model : models)
    expected.insert(fmt::format("test_eval[{}-cpu-eager]", model));
  auto const measured = measured_by_version(world_.state());
  ASSERT_THAT(measured,
              ElementsAre(Pair(StartsWith("1.13"), expected), Pair(StartsWith("2.6"), expected)));
  std::cout << world_.run({"check"}).out;
  expect_no_process_left(world_);
}

}  // namespace
}  // namespace torchwatch::e2e
