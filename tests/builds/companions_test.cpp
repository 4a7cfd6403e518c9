/// Wheels whose libraries and Python packages come in wheels of their own.
#include "daemon/builds/companions.h"

#include <filesystem>
#include <fstream>

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

/// Nightlies of a suite that needs Python, with what PyTorch's index has for them.
class PythonCompanionsTest : public CompanionsTest {
 protected:
  PythonCompanionsTest() {
    world.options.suite.needs = config::BuildNeeds::python;
    auto const pure = std::string{"py3-none-any"};
    package("filelock", "3.20.0", pure, {});
    package("sympy", "1.14.0", pure, {"mpmath<1.4,>=1.1.0", "pytest>=7.1.0; extra == \"dev\""});
    package("mpmath", "1.3.0", pure, {"pytest>=4.6; extra == \"tests\""});
    package("mpmath", "1.4.0", pure, {});
    package("networkx", "3.6.1", pure, {"numpy>=1.25; extra == \"default\""});
    package("jinja2", "3.1.6", pure, {"MarkupSafe>=2.0", "Babel>=2.7; extra == \"i18n\""});
    package("fsspec", "2025.12.0", pure, {});
    package("typing-extensions", "4.15.0", pure, {});
    for (auto const* const python : {"cp311", "cp312", "cp313"}) {
      package("markupsafe", "3.0.3", compiled_for(python), {});
      package("triton", "3.6.0", compiled_for(python), {});
    }
  }

  static std::string compiled_for(std::string const& python) {
    return python + "-" + python + "-manylinux_2_27_x86_64.manylinux_2_28_x86_64";
  }

  /// Adds a wheel to the index with one module, NAME/__init__.py.
  fakes::FakeFetcher::CompanionWheel& package(std::string const& name,
                                              std::string const& version,
                                              std::string const& tag,
                                              std::vector<std::string> needs) {
    auto& wheel = offer({name, version, "", std::move(needs)}, tag);
    wheel.files = {name + "/__init__.py"};
    return wheel;
  }

  /// Adds the torchvision that was built with the torch of this date.
  fakes::FakeFetcher::CompanionWheel& torchvision(std::string const& date,
                                                  std::string const& torch) {
    return package("torchvision",
                   "0.26.0.dev" + date + "+cu130",
                   compiled_for("cp312"),
                   {"numpy", "torch==" + torch, "pillow!=8.3.*,>=5.3.0"});
  }

  /// Publishes a nightly with the requirements of a CUDA wheel.
  void publish(std::string const& date, std::size_t commit) {
    CompanionsTest::publish(date, commit);
    auto& needs = newest_file().needs;
    needs.insert(needs.end(),
                 {"filelock",
                  "typing-extensions>=4.10.0",
                  "setuptools<82; python_version >= \"3.12\"",
                  "networkx>=2.5.1",
                  "jinja2",
                  "fsspec>=0.8.5",
                  "opt-einsum>=3.3; extra == \"opt-einsum\""});
  }

  fakes::FakeFetcher::File& newest_file() { return world.index.files.rbegin()->second; }

  std::string error_of_pass() {
    auto const passed = world.pass();
    return passed ? "" : passed.error().message;
  }

  static std::vector<std::string> names_of(std::vector<Companion> const& companions) {
    std::vector<std::string> names;
    for (auto const& companion : companions)
      names.push_back(companion.name);
    return names;
  }
};

TEST_F(PythonCompanionsTest, MakeASitePackages) {
  publish("2026-01-01", 0);
  pass();

  EXPECT_EQ(world.newest().state, NightlyState::done);
  auto const directory = directory_of(world.newest());
  EXPECT_THAT(names_of(companions_listed_in(directory)),
              testing::UnorderedElementsAre("cuda-toolkit",
                                            "nvidia-cuda-runtime",
                                            "nvidia-cudnn-cu13",
                                            "filelock",
                                            "fsspec",
                                            "jinja2",
                                            "markupsafe",
                                            "mpmath",
                                            "networkx",
                                            "sympy",
                                            "triton",
                                            "typing-extensions"));
  for (auto const* const file : {"sympy/__init__.py",
                                 "mpmath/__init__.py",
                                 "triton/__init__.py",
                                 "markupsafe/__init__.py",
                                 "sympy.dist-info/METADATA",
                                 "nvidia/__init__.py",
                                 "nvidia/cudnn/lib/libcudnn.so.9"})
    EXPECT_TRUE(fs::exists(directory / file)) << file;
  EXPECT_FALSE(fs::exists(directory / "setuptools"));
}

TEST_F(PythonCompanionsTest, AreThoseOfThePythonOfTheWheel) {
  publish("2026-01-01", 0);
  pass();
  auto const directory = directory_of(world.newest());
  EXPECT_THAT(companions_listed_in(directory),
              testing::IsSupersetOf({Companion{"triton", "3.6.0", "cp312"},
                                     Companion{"markupsafe", "3.0.3", "cp312"},
                                     Companion{"sympy", "1.14.0"},
                                     Companion{"mpmath", "1.3.0"}}));
  EXPECT_TRUE(fs::exists(builds() / "companion-triton-3_6_0-cp312/triton/__init__.py"));
  EXPECT_TRUE(fs::exists(builds() / "companion-sympy-1_14_0"));
}

TEST_F(PythonCompanionsTest, AreOnlyLibrariesWhereNoSuiteNeedsPython) {
  world.options.suite.needs = config::BuildNeeds::libtorch;
  publish("2026-01-01", 0);
  pass();
  EXPECT_THAT(names_of(companions_listed_in(directory_of(world.newest()))),
              ElementsAre("cuda-toolkit", "nvidia-cudnn-cu13", "nvidia-cuda-runtime"));
  EXPECT_FALSE(fs::exists(directory_of(world.newest()) / "cuda-toolkit.dist-info"));
}

TEST_F(PythonCompanionsTest, AreKeptOnceAndStayTheSameWhenTheIndexHasNewerOnes) {
  publish("2026-01-01", 0);
  pass();
  package("sympy", "1.15.0", "py3-none-any", {"mpmath<1.4,>=1.1.0"});
  publish("2026-01-02", 1);
  pass();
  auto const nightlies = world.nightlies();
  EXPECT_EQ(companion("sympy", "1.14.0").downloads, 1);
  EXPECT_EQ(companion("sympy", "1.15.0").downloads, 0);
  EXPECT_TRUE(fs::equivalent(directory_of(nightlies[0]) / "sympy/__init__.py",
                             directory_of(nightlies[1]) / "sympy/__init__.py"));
}

TEST_F(PythonCompanionsTest, OfABuildDoNotChangeWhenOthersGetNewerOnes) {
  publish("2026-01-01", 0);
  companion("nvidia-cudnn-cu13", "9.15.1").trouble = Error{ErrorCode::unavailable, "503"};
  EXPECT_FALSE(world.pass());
  auto const directory = directory_of(world.newest());
  ASSERT_THAT(names_of(companions_listed_in(directory)), Contains("sympy"));
  package("sympy", "1.15.0", "py3-none-any", {"mpmath<1.4,>=1.1.0"});
  fs::create_directories(builds() / "companion-sympy-1_15_0/sympy.dist-info");
  std::ofstream{builds() / "companion-sympy-1_15_0/sympy.dist-info/METADATA"}
      << "Name: sympy\nVersion: 1.15.0\n";
  std::ofstream{builds() / "companion-sympy-1_15_0/sympy.dist-info/WHEEL"} << "Tag: py3-none-any\n";

  companion("nvidia-cudnn-cu13", "9.15.1").trouble.reset();
  pass();
  EXPECT_THAT(companions_listed_in(directory), Contains(Companion{"sympy", "1.14.0"}));
}

TEST_F(PythonCompanionsTest, AreLinkedAsTheyAreInstalled) {
  auto& wheel = companion("sympy", "1.14.0");
  wheel.files = {"sympy-1.14.0.data/purelib/sympy/__init__.py",
                 "sympy-1.14.0.data/platlib/sympy/fast.so",
                 "sympy-1.14.0.data/data/share/man/man1/isympy.1",
                 "sympy-1.14.0.data/scripts/isympy",
                 ".torchwatch-bytecode",
                 "torch/_sympy.py"};
  publish("2026-01-01", 0);
  pass();
  auto const directory = directory_of(world.newest());
  EXPECT_TRUE(fs::exists(directory / "sympy/__init__.py"));
  EXPECT_TRUE(fs::exists(directory / "sympy/fast.so"));
  EXPECT_FALSE(fs::exists(directory / "sympy-1.14.0.data"));
  EXPECT_FALSE(fs::exists(directory / "share"));
  EXPECT_FALSE(fs::exists(directory / ".torchwatch-bytecode"));
  EXPECT_FALSE(fs::exists(directory / "torch/_sympy.py")) << "torch is the nightly's own";
}

TEST_F(PythonCompanionsTest, OfTheSameDateAreAddedWhereThereAreAny) {
  publish("2026-01-01", 0);
  torchvision("20251231", "2.9.0.dev20251231");
  torchvision("20260101", newest_file().version);
  pass();
  auto const directory = directory_of(world.newest());
  EXPECT_THAT(companions_listed_in(directory),
              Contains(Companion{"torchvision", "0.26.0.dev20260101+cu130", "cp312"}));
  EXPECT_TRUE(fs::exists(directory / "torchvision/__init__.py"));
  EXPECT_THAT(names_of(companions_listed_in(directory)), Not(Contains("numpy")));
  EXPECT_THAT(names_of(companions_listed_in(directory)), Not(Contains("torchaudio")));
}

TEST_F(PythonCompanionsTest, OfAnotherDateAreLeftOut) {
  publish("2026-01-01", 0);
  torchvision("20251231", "2.9.0.dev20251231");
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_THAT(names_of(companions_listed_in(directory_of(world.newest()))),
              Not(Contains("torchvision")));
}

TEST_F(PythonCompanionsTest, OfTheSameDateForAnotherTorchAreLeftOut) {
  publish("2026-01-01", 0);
  torchvision("20260101", "2.9.0.dev20251231");
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
  auto const directory = directory_of(world.newest());
  EXPECT_THAT(names_of(companions_listed_in(directory)), Not(Contains("torchvision")));
  EXPECT_FALSE(fs::exists(directory / "torchvision"));
}

TEST_F(PythonCompanionsTest, OfTheSameDateThatAreDamagedAreLeftOut) {
  publish("2026-01-01", 0);
  torchvision("20260101", newest_file().version).trouble =
      Error{ErrorCode::corrupt, "not a zip archive"};
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
}

TEST_F(PythonCompanionsTest, OfTheSameDateAreAskedForAgainWhenTheServerFails) {
  publish("2026-01-01", 0);
  auto& wheel = torchvision("20260101", newest_file().version);
  wheel.trouble = Error{ErrorCode::unavailable, "503"};
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::announced);
  wheel.trouble.reset();
  pass();
  EXPECT_THAT(names_of(companions_listed_in(directory_of(world.newest()))),
              Contains("torchvision"));
}

TEST_F(PythonCompanionsTest, ThatTheIndexLacksAreNamedWithThePackageThatRequiresThem) {
  publish("2026-01-01", 0);
  newest_file().needs.emplace_back("triton-next==3.7.0+git282c8251");
  EXPECT_THAT(error_of_pass(),
              testing::AllOf(HasSubstr("/whl/nightly/cu130/triton-next/: has no "
                                       "triton-next==3.7.0+git282c8251 for cp312 on x86_64"),
                             HasSubstr("; torch " + newest_file().version + " requires it")));
  EXPECT_EQ(world.newest().state, NightlyState::announced) << "the index may get it later";
}

TEST_F(PythonCompanionsTest, ThatTheIndexHasForOtherPythonsAreNamed) {
  package("triton-next", "3.7.0", compiled_for("cp313"), {});
  publish("2026-01-01", 0);
  newest_file().needs.emplace_back("triton-next");
  EXPECT_THAT(error_of_pass(),
              HasSubstr("has no triton-next for cp312 on x86_64; found it for "
                        "cp313-cp313-manylinux_2_27_x86_64"));
}

TEST_F(PythonCompanionsTest, OfWhichTheIndexHasTwoAreNamed) {
  package("triton-next", "3.7", "py3-none-any", {});
  package("triton-next", "3.7.0", "py3-none-any", {});
  publish("2026-01-01", 0);
  newest_file().needs.emplace_back("triton-next");
  EXPECT_THAT(error_of_pass(),
              HasSubstr("two files are equally good for triton-next for cp312 on x86_64: "
                        "triton_next-3.7-py3-none-any.whl and triton_next-3.7.0-py3-none-any.whl"));
}

TEST_F(PythonCompanionsTest, OfConflictingVersionsAreNamed) {
  package("triton-next", "3.7.0", "py3-none-any", {"sympy<1.14"});
  publish("2026-01-01", 0);
  newest_file().needs.emplace_back("triton-next");
  EXPECT_THAT(error_of_pass(),
              HasSubstr("triton-next 3.7.0 requires sympy<1.14, but sympy 1.14.0 was chosen "
                        "because torch " +
                        newest_file().version + " requires sympy"));
}

TEST_F(PythonCompanionsTest, ForAnotherTorchAreNamed) {
  package("triton-next", "3.7.0", "py3-none-any", {"torch<2"});
  publish("2026-01-01", 0);
  newest_file().needs.emplace_back("triton-next");
  EXPECT_THAT(
      error_of_pass(),
      HasSubstr("triton-next 3.7.0 requires torch<2, found torch " + newest_file().version));
}

TEST_F(PythonCompanionsTest, OfVersionsForOtherPythonsAreReplacedByOlderOnes) {
  package("networkx", "3.7", "py3-none-any", {}).requires_python = ">=3.13";
  publish("2026-01-01", 0);
  pass();
  EXPECT_THAT(companions_listed_in(directory_of(world.newest())),
              Contains(Companion{"networkx", "3.6.1"}));
  EXPECT_EQ(companion("networkx", "3.7").downloads, 1);
}

TEST_F(PythonCompanionsTest, GetBytecodeAndNoWorkerWithTheirBuild) {
  publish("2026-01-01", 0);
  pass();
  EXPECT_THAT(world.workers.compiled, ElementsAre("nightly-1"));
  EXPECT_TRUE(world.workers.made.empty());
}

TEST_F(PythonCompanionsTest, GetAWorkerWhereAnotherSuiteNeedsOne) {
  config::SuiteOptions suite;
  suite.name = "inductor";
  suite.worker = "/opt/worker";
  suite.needs = config::BuildNeeds::python;
  world.options.suite.needs = config::BuildNeeds::libtorch;
  world.options.suites = {suite};
  world.options.fleets[0].suites = {"native"};
  publish("2026-01-01", 0);
  pass();
  EXPECT_FALSE(world.workers.made.empty());
  EXPECT_TRUE(world.workers.compiled.empty()) << "no fleet runs the suite that needs Python";
}

TEST_F(PythonCompanionsTest, FailTheirNightlyWithoutASandboxForBytecode) {
  publish("2026-01-01", 0);
  world.workers.bytecode_trouble = Error{ErrorCode::unavailable, "no sandboxes"};
  EXPECT_THAT(error_of_pass(), HasSubstr("no sandboxes"));
  world.workers.bytecode_trouble.reset();
  pass();
  EXPECT_EQ(world.newest().state, NightlyState::done);
}

TEST(CompanionFolder, NamesThePythonOfACompiledWheel) {
  EXPECT_EQ(folder_of({"nvidia-cudnn-cu13", "9.15.1.9"}), "companion-nvidia-cudnn-cu13-9_15_1_9");
  EXPECT_EQ(folder_of({"triton", "3.7.0+git282c8251", "cp312"}),
            "companion-triton-3_7_0_git282c8251-cp312");
}

}  // namespace
}  // namespace torchwatch::builds
