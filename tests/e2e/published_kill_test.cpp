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

// kill -9 while nightlies are fetched, unpacked, prepared and removed.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::IsEmpty;

constexpr auto page_target = "/libtorch/nightly/cpu/";
constexpr int kills_wanted = 25;

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

  /// Packs this host's LibTorch as the nightly of a day.
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

  Process check() { return world_.start({"check", "--json"}); }

  /// Asked for with GET, so far, by target.
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

  /// What a kill finds: in which stage of its life each nightly is.
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

  void expect_nothing_half() const {
    for (auto const& name : names_in(builds()))
      EXPECT_TRUE(name.ends_with(".part") || name.ends_with(".removed") ||
                  fs::exists(builds() / name / "libtorch/build-hash"))
          << name << " is half there";
  }

  /// Keeps how often a file was asked for by the time that it was unpacked.
  void note_whole_ones() {
    for (std::size_t night = 0; night < targets_.size(); ++night)
      if (fs::exists(builds() / fmt::format("nightly-{}", night + 1)))
        whole_.try_emplace(targets_[night], downloads()[targets_[night]]);
  }

  World world_{with_kernels()};
  fakes::ServerIdentity identity_ = fakes::make_identity(world_.directory(), {"127.0.0.1"});
  fakes::DownloadHost host_{identity_};
  std::string page_;
  std::vector<std::string> targets_;  // by night
  std::map<std::string, int> whole_;
};

TEST_F(PublishedKill, AtRandomMomentsOfFetchUnpackPrepareAndPrune) {
  std::mt19937_64 dice{1};
  std::uniform_int_distribution<int> pause{100, 5000};
  std::map<std::string, int> stages;
  int kills = 0;
  std::int64_t size_mib = 0;
  for (int day = 1; day <= 4; ++day) {
    publish(day);
    bool is_over = false;
    while (!is_over) {
      auto run = check();
      // The nights share the kills; the last of each night is undisturbed.
      bool const is_killed = kills < kills_wanted * day / 4 &&
                             !run.ended_within(std::chrono::milliseconds{pause(dice)});
      if (!is_killed) {
        auto const ended = run.wait(std::chrono::seconds{600});
        ASSERT_EQ(ended.status, 0) << ended.err;
        is_over = true;
        continue;
      }
      run.send(SIGKILL);
      run.wait();
      ++kills;
      ++stages[stage()];
      expect_nothing_half();
      note_whole_ones();
    }
    if (day == 1) {
      ASSERT_EQ(world_.run({"builds", "pin", "nightly-1", "--who", "ada", "--why", "test"}).status,
                0);
      auto const listed = json::parse(world_.run({"builds", "--json"}).out);
      size_mib = listed.at(0).at("bytes").get<std::int64_t>() >> 20;
      // Room for the pinned one, the baseline and one more.
      world_.configure({{"builds", {{"quota_mib", 3 * size_mib + size_mib / 2}}}});
    }
    EXPECT_THAT(names_in(builds()), Contains("nightly-1")) << "it is pinned";
  }
  note_whole_ones();
  for (auto const& [target, gets] : whole_)
    EXPECT_EQ(downloads()[target], gets) << target << " was whole and came again";
  for (auto const& [stage, count] : stages)
    std::cout << count << " kills in " << stage << '\n';
  EXPECT_GE(kills, 20);
  EXPECT_GE(stages.size(), 3U);
  EXPECT_LE(names_in(builds()).size(), 3U);
  for (auto const& name : names_in(builds()))
    EXPECT_TRUE(fs::exists(builds() / name / "libtorch/build.json")) << name;
  EXPECT_THAT(names_in(world_.state() / "downloads"), IsEmpty());
  EXPECT_EQ(integrity(world_.state()), "ok");
  expect_no_process_left(world_);
}

}  // namespace
}  // namespace torchwatch::e2e
