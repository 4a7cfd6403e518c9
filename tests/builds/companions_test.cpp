/// CUDA wheels, whose libraries come in wheels of their own.
#include "daemon/builds/companions.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "daemon/builds/build_references.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using std::chrono::days;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t one_mib = 1 << 20;

class CompanionsTest : public testing::Test {
 protected:
  /// A toolkit that holds nothing, and what it names.
  CompanionsTest() {
    offer({"cuda-toolkit",
           "13.0.2",
           "",
           {"nvidia-cuda-runtime==13.0.96.*; extra == \"cudart\"",
            "nvidia-nvjpeg==13.0.1; extra == \"nvjpeg\""}},
          "py2.py3-none-any");
    offer({"nvidia-cuda-runtime", "13.0.96", "nvidia/cu13/lib/libcudart.so.13"});
    offer({"nvidia-cudnn-cu13", "9.15.1", "nvidia/cudnn/lib/libcudnn.so.9"});
  }

  fakes::FakeFetcher::CompanionWheel& offer(
      fakes::FakeFetcher::CompanionWheel wheel,
      std::string const& tag = "py3-none-manylinux_2_27_x86_64") {
    auto name = wheel.name;
    std::ranges::replace(name, '-', '_');
    auto const url = "https://pypi.nvidia.com/" + wheel.name + "/" + name + "-" + wheel.version +
                     "-" + tag + ".whl";
    wheel.bytes = wheel.library.empty() ? 0 : 100 * one_mib;
    return world.index.companions[url] = std::move(wheel);
  }

  fakes::FakeFetcher::CompanionWheel& companion(std::string const& name,
                                                std::string const& version) {
    for (auto& [url, wheel] : world.index.companions)
      if (wheel.name == name && wheel.version == version) return wheel;
    throw std::invalid_argument(name);
  }

  void publish(std::string const& date, std::size_t commit, std::string const& cudnn = "9.15.1") {
    world.clock.time += days{1};
    auto& file = world.publish_wheel(date, commit);
    file.bytes = one_mib;
    file.needs = {"sympy",
                  "triton==3.6.0; platform_system == \"Linux\"",
                  "cuda-toolkit[cudart]==13.0.2; platform_system == \"Linux\"",
                  "nvidia-cudnn-cu13==" + cudnn + "; platform_system == \"Linux\""};
  }

  void pass() {
    auto const passed = world.pass();
    ASSERT_TRUE(passed) << passed.error().message;
  }

  fs::path builds() const { return retention_policy_of(world.options).folder; }

  fs::path directory_of(Nightly const& nightly) const {
    return builds() / ("nightly-" + std::to_string(nightly.id.value));
  }

  std::vector<BuildWithUsers> kept() {
    return builds_with_users(
        world.parts->store, retention_policy_of(world.options), world.clock.now());
  }

  std::map<std::string, std::vector<std::string>> users() {
    std::map<std::string, std::vector<std::string>> users;
    for (auto const& [build, list] : kept())
      users[build.name] = list;
    return users;
  }

  fakes::World world;
};

TEST_F(CompanionsTest, LieWhereLibrariesOfAWheelLookForThem) {
  publish("2026-01-01", 0);
  pass();

  auto const nightly = world.newest();
  EXPECT_EQ(nightly.state, NightlyState::done);
  auto const directory = directory_of(nightly);
  EXPECT_TRUE(fs::exists(directory / "nvidia/cu13/lib/libcudart.so.13"));
  EXPECT_TRUE(fs::exists(directory / "nvidia/cudnn/lib/libcudnn.so.9"));
  EXPECT_THAT(companions_listed_in(directory),
              ElementsAre(Companion{"cuda-toolkit", "13.0.2"},
                          Companion{"nvidia-cudnn-cu13", "9.15.1"},
                          Companion{"nvidia-cuda-runtime", "13.0.96"}));
}

TEST_F(CompanionsTest, AreKeptOnceForAllBuilds) {
  publish("2026-01-01", 0);
  pass();
  publish("2026-01-02", 1);
  pass();

  auto const file = fs::path{"nvidia/cu13/lib/libcudart.so.13"};
  auto const nightlies = world.nightlies();
  EXPECT_TRUE(fs::equivalent(directory_of(nightlies[0]) / file, directory_of(nightlies[1]) / file));
  EXPECT_EQ(companion("nvidia-cuda-runtime", "13.0.96").downloads, 1);
  EXPECT_EQ(companion("nvidia-cuda-runtime", "13.0.96").lookups, 1);
  for (auto const& [build, list] : kept()) {
    auto const is_library = build.name == "companion-nvidia-cuda-runtime-13_0_96" ||
                            build.name == "companion-nvidia-cudnn-cu13-9_15_1";
    EXPECT_EQ(build.bytes > 50 * one_mib, is_library) << build.name << " " << build.bytes;
  }
}

TEST_F(CompanionsTest, AreInUseByTheBuildsThatListThem) {
  publish("2026-01-01", 0);
  pass();
  offer({"nvidia-cudnn-cu13", "9.16", "nvidia/cudnn/lib/libcudnn.so.9"});
  publish("2026-01-02", 1, "9.16");
  pass();

  auto const used = users();
  EXPECT_THAT(used.at("companion-nvidia-cudnn-cu13-9_15_1"), ElementsAre("nightly-1"));
  EXPECT_THAT(used.at("companion-nvidia-cudnn-cu13-9_16"), ElementsAre("nightly-2"));
  EXPECT_THAT(used.at("companion-nvidia-cuda-runtime-13_0_96"),
              ElementsAre("nightly-1", "nightly-2"));
  EXPECT_THAT(world.parts->kept.remove("companion-nvidia-cudnn-cu13-9_15_1").error().message,
              HasSubstr("is in use by nightly-1"));

  world.clock.time += days{1};
  ASSERT_TRUE(world.parts->kept.remove("nightly-1"));
  world.options.builds.quota_mib = 250;
  world.parts->kept.make_space();
  EXPECT_THAT(users(), Not(Contains(testing::Key("companion-nvidia-cudnn-cu13-9_15_1"))));
  EXPECT_TRUE(fs::exists(directory_of(world.newest()) / "nvidia/cudnn/lib/libcudnn.so.9"));
}

TEST_F(CompanionsTest, ThatDoNotComeAreAskedForAgainAndNothingElseIs) {
  publish("2026-01-01", 0);
  companion("nvidia-cudnn-cu13", "9.15.1").trouble = Error{ErrorCode::unavailable, "503"};
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::announced);
  EXPECT_THAT(users().at("companion-cuda-toolkit-13_0_2"), ElementsAre("nightly-1"));

  companion("nvidia-cudnn-cu13", "9.15.1").trouble.reset();
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(world.index.files.begin()->second.downloads, 1);
  EXPECT_EQ(companion("cuda-toolkit", "13.0.2").downloads, 1);
}

TEST_F(CompanionsTest, ThatTheIndexLacksAreNamed) {
  publish("2026-01-01", 0, "9.17");
  auto const passed = world.pass();
  ASSERT_FALSE(passed);
  EXPECT_THAT(passed.error().message,
              HasSubstr("/whl/nightly/cu130/nvidia-cudnn-cu13/: has no nvidia-cudnn-cu13==9.17"));
}

TEST_F(CompanionsTest, ComeFromAllowedHostsAlone) {
  world.options.feed.hosts.clear();
  publish("2026-01-01", 0);
  auto const passed = world.pass();
  ASSERT_FALSE(passed);
  EXPECT_THAT(passed.error().message, HasSubstr("feed.hosts does not allow its host"));
  EXPECT_EQ(companion("cuda-toolkit", "13.0.2").downloads, 0);
}

TEST_F(CompanionsTest, ThatAreHalfThereAreGoneOnWith) {
  publish("2026-01-01", 0);
  companion("nvidia-cudnn-cu13", "9.15.1").trouble = Error{ErrorCode::unavailable, "503"};
  EXPECT_FALSE(world.pass());
  auto const half = builds() / "companion-nvidia-cudnn-cu13-9_15_1.part";
  auto const nobodys = builds() / "companion-nvidia-nccl-cu13-2_27.part";
  fs::create_directories(half);
  fs::create_directories(nobodys);
  world.parts->kept.make_space();
  EXPECT_TRUE(fs::exists(half));
  EXPECT_FALSE(fs::exists(nobodys));
}

TEST_F(CompanionsTest, AreNotReadFromAPipeThatARecipeLeft) {
  auto const made = builds() / (world.sha(0).hex + "-1");
  fs::create_directories(made);
  ASSERT_EQ(::mkfifo((made / "companions").c_str(), 0600), 0);
  publish("2026-01-01", 0);
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
}

TEST_F(CompanionsTest, AWheelThatCannotBeUnderstoodFailsItsNightAlone) {
  publish("2026-01-01", 0);
  world.publish_wheel("2026-01-02", 1).needs = {"nvidia-cudnn-cu13==9.15.1; moon == \"full\""};
  pass();
  EXPECT_EQ(world.nightlies()[0].state, NightlyState::done);
  EXPECT_EQ(world.newest().state, NightlyState::failed);
}

}  // namespace
}  // namespace torchwatch::builds
