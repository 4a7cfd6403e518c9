#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/e2e/expect.h"
#include "tests/e2e/stored.h"
#include "tests/fakes/downloads/download_host.h"

// kill -9 while nightlies are fetched, unpacked, prepared and removed: no nightly is downloaded
// again after it was unpacked.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr auto page_target = "/libtorch/nightly/cpu/";
constexpr int nights = 4;
constexpr int kills_a_night = 7;

class PublishedKill : public testing::Test {
 protected:
  PublishedKill() {
    host_.host(page_target, {.content = "<html><body></body></html>", .etag = "\"0\""});
    world_.configure(
        {{"feed",
          {{"kind", "libtorch"},
           {"path", ""},
           {"backlog", 10},
           {"url", host_.url()},
           {"ca_file", identity_.ca.string()}}},
         {"source", {{"repository", ""}, {"recipe", ""}}},
         {"suite", {{"models", {"lennard_jones"}}, {"tests", {"eval"}}, {"scale", "smoke"}}},
         {"decide", {{"anchor_nights", 0}, {"aa_benchmarks", 0}}},
         {"builds", {{"keep_free_mib", 0}}}});
  }

  static WorldOptions with_kernels() {
    WorldOptions options;
    options.real = true;
    return options;
  }

  /// Packs this host's LibTorch as the nightly of a day and publishes it.
  void publish(int day) {
    auto const version = fmt::format("2.9.0.dev202601{:02}+cpu", day);
    auto const name = "libtorch-shared-with-deps-" + version + ".zip";
    auto const file = world_.directory() / name;
    auto const release = std::string(40, static_cast<char>('a' + day));
    auto const packed =
        world_.start_program({MAKE_PACKAGE_PROGRAM, "libtorch", version, release, file.string()})
            .wait();
    if (packed.status != 0) throw std::runtime_error("make-package: " + packed.err);
    auto escaped = name;
    escaped.replace(escaped.find('+'), 1, "%2B");
    fakes::HostedFile hosted;
    hosted.path = file;
    hosted.etag = fmt::format("\"{}\"", day);
    hosted.pause = std::chrono::milliseconds{5};
    host_.host(page_target + escaped, hosted);
    targets_.push_back(page_target + escaped);
    page_ += "<a href=\"" + escaped + "\">" + name + "</a><br/>\n";
    host_.host(page_target, {.content = page_, .etag = fmt::format("\"page {}\"", day)});
  }

  /// Returns the number of GET requests so far, by target.
  std::map<std::string, int> downloads() const {
    std::map<std::string, int> gets;
    for (auto const& request : host_.requests())
      if (request.method == "GET" && request.target.ends_with(".zip")) ++gets[request.target];
    return gets;
  }

  fs::path builds() const { return world_.state() / "builds"; }

  std::set<std::string> names_in(fs::path const& folder) const {
    std::set<std::string> names;
    std::error_code ignored;
    for (auto const& entry : fs::directory_iterator{folder, ignored})
      names.insert(entry.path().filename());
    return names;
  }

  /// Returns the stage that a kill interrupted: "fetch", "unpack", "prepare", "prune" or
  /// "elsewhere".
  std::string stage() const {
    std::string stage = "elsewhere";
    for (auto const& name : names_in(world_.state() / "downloads"))
      if (name.ends_with(".part")) stage = "fetch";
    for (auto const& name : names_in(builds())) {
      if (name.ends_with(".part")) stage = "unpack";
      if (name.ends_with(".removed")) stage = "prune";
      if (name.find('.') == std::string::npos &&
          !fs::exists(builds() / name / "libtorch/build.json"))
        stage = "prepare";
    }
    return stage;
  }

  void expect_no_incomplete_build() const {
    for (auto const& name : names_in(builds()))
      EXPECT_TRUE(name.ends_with(".part") || name.ends_with(".removed") ||
                  fs::exists(builds() / name / "libtorch/build-hash"))
          << name << " is incomplete";
  }

  /// Stores how often each unpacked nightly was requested until it was unpacked.
  void note_unpacked() {
    for (std::size_t night = 0; night < targets_.size(); ++night)
      if (fs::exists(builds() / fmt::format("nightly-{}", night + 1)))
        unpacked_.try_emplace(targets_[night], downloads()[targets_[night]]);
  }

  /// Returns a pause from 0.1 to 12 seconds. Its logarithm is uniform, because some stages are
  /// short.
  std::chrono::milliseconds random_pause() {
    std::uniform_real_distribution<double> digits{2, 4.08};
    return std::chrono::milliseconds{static_cast<int>(std::pow(10, digits(dice_)))};
  }

  void kill_within(std::chrono::milliseconds pause) {
    auto check = world_.start({"check"});
    if (!check.ended_within(pause)) kill(check);
  }

  /// Runs a command and kills it while it removes a build, if it removes one.
  void kill_when_it_prunes(std::vector<std::string> const& command) {
    auto process = world_.start(command);
    while (!process.ended_within(std::chrono::milliseconds{0}))
      if (stage() == "prune") {
        kill(process);
        return;
      }
  }

  void kill(Process& process) {
    process.send(SIGKILL);
    process.wait();
    ++stages_[stage()];
    expect_no_incomplete_build();
    note_unpacked();
  }

  void pin_the_first() {
    EXPECT_EQ(world_.run({"builds", "pin", "nightly-1", "--who", "ada", "--why", "test"}).status,
              0);
    auto const listed = json::parse(world_.run({"builds", "--json"}).out);
    size_mib_ = listed.at(0).at("bytes").get<std::int64_t>() >> 20;
    // Disk space for this build, the baseline and one more.
    world_.configure({{"builds", {{"quota_mib", 3 * size_mib_ + size_mib_ / 2}}}});
  }

  World world_{with_kernels()};
  fakes::ServerIdentity identity_ = fakes::make_identity(world_.directory(), {"127.0.0.1"});
  fakes::DownloadHost host_{identity_};
  std::string page_;
  std::vector<std::string> targets_;     // by night
  std::map<std::string, int> unpacked_;  // number of requests, by target
  std::map<std::string, int> stages_;    // number of kills, by stage
  std::int64_t size_mib_ = 0;
  std::mt19937_64 dice_{1};
};

TEST_F(PublishedKill, InFetchUnpackPrepareAndPruneLosesAndRepeatsNothing) {
  for (int night = 1; night <= nights; ++night) {
    publish(night);
    for (int kill = 0; kill < kills_a_night; ++kill)
      kill_within(random_pause());
    if (night == nights) kill_when_it_prunes({"check"});
    auto const complete = world_.start({"check"}).wait(std::chrono::seconds{600});
    ASSERT_EQ(complete.status, 0) << complete.err;
    if (night == 1) pin_the_first();
    EXPECT_THAT(names_in(builds()), Contains("nightly-1")) << "it is pinned";
    let_builds_age(world_.state(), std::chrono::hours{24});
  }
  // Disk space for the pinned build and the next baseline.
  world_.configure({{"builds", {{"quota_mib", 2 * size_mib_ + size_mib_ / 2}}}});
  kill_when_it_prunes({"builds", "prune"});
  EXPECT_EQ(world_.run({"builds", "prune"}).status, 0);

  for (auto const& [stage, count] : stages_)
    std::cout << count << " kills in " << stage << '\n';
  EXPECT_GE(stages_["fetch"], 1);
  EXPECT_GE(stages_["unpack"], 1);
  EXPECT_GE(stages_["prepare"], 1);
  EXPECT_GE(stages_["prune"], 1);
  note_unpacked();
  auto const gets = downloads();
  for (auto const& [target, count] : unpacked_)
    EXPECT_EQ(gets.at(target), count) << target << " was downloaded again after it was unpacked";
  EXPECT_THAT(names_in(builds()), UnorderedElementsAre("nightly-1", "nightly-4"));
  for (auto const& name : names_in(builds()))
    EXPECT_TRUE(fs::exists(builds() / name / "libtorch/build.json")) << name;
  EXPECT_THAT(names_in(world_.state() / "downloads"), IsEmpty());
  EXPECT_EQ(integrity(world_.state()), "ok");
  expect_no_process_left(world_);
}

}  // namespace
}  // namespace torchwatch::e2e
