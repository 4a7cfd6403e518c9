#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/builds/manifest.h"
#include "tests/recipes/miniature.h"

// Tests the recipe for PyTorch with real tools, on a project that is small enough to compile.
namespace torchwatch::recipes {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int temporary = 1;
constexpr int unbuildable = 125;
constexpr int last_ordinary_status = 127;
constexpr std::size_t sources_with_worker = 6;

void write_script(fs::path const& file, std::string const& text) {
  std::ofstream{file} << "#!/bin/sh\n" << text;
  fs::permissions(file, fs::perms::owner_all);
}

/// Links the programs of /usr/bin, except one.
void link_programs_but(std::string const& absent, fs::path const& folder) {
  fs::create_directory(folder);
  for (auto const& entry : fs::directory_iterator{"/usr/bin"}) {
    auto const name = entry.path().filename();
    if (name != absent) fs::create_symlink(entry.path(), folder / name);
  }
}

/// Waits until the recipe prints `text`. Throws when it ends before. The destructor of the process
/// kills it with all that it started.
void wait_for_output(e2e::Process& recipe, std::string const& text) {
  while ((recipe.out() + recipe.err()).find(text) == std::string::npos) {
    if (auto const ended = recipe.ended_within(2ms))
      throw std::runtime_error{"ended without \"" + text + "\":\n" + ended->out + ended->err};
  }
}

class Recipe : public testing::Test {
 protected:
  bool has_manifest() const { return fs::exists(torch_.prefix() / "build.json"); }

  Miniature torch_;
};

TEST_F(Recipe, BuildsLibTorchAndItsWorker) {
  auto const commit = torch_.head();
  auto const built = torch_.build(commit);
  ASSERT_EQ(built.status, 0) << built.out << built.err;
  EXPECT_THAT(compiled(built.out), SizeIs(sources_with_worker));
  EXPECT_THAT(built.out, HasSubstr("CUDA OFF, Kineto OFF"));

  auto const build = builds::read_build(torch_.prefix());
  ASSERT_TRUE(build) << build.error().message;
  EXPECT_EQ(build->manifest.commit, commit);
  EXPECT_EQ(build->manifest.version, "2.9.0a0+git" + commit.hex.substr(0, 7));
  EXPECT_EQ(build->manifest.date, "2023-11-14");
  EXPECT_EQ(build->manifest.variant, "cpu");
  EXPECT_EQ(build->manifest.kind, "libtorch");
  EXPECT_THAT(build->manifest.preload, IsEmpty());
  EXPECT_TRUE(fs::exists(torch_.prefix() / "include/torch/torch.h"));
  EXPECT_EQ(answer_of(torch_.prefix()), "2.9.0a0 5 6 2 7\n");
}

TEST_F(Recipe, BuildsForGpusOnRequest) {
  auto const nvcc = torch_.sibling("nvcc");
  torch_.environment["PYTORCH_RECIPE_CUDA"] = "1";
  torch_.environment["CUDACXX"] = nvcc.string();
  torch_.environment["TORCH_CUDA_ARCH_LIST"] = "8.0 9.0+PTX";
  auto const without = torch_.build(torch_.head());
  EXPECT_GT(without.status, last_ordinary_status);
  EXPECT_THAT(without.err, HasSubstr("missing on this host: " + nvcc.string()));

  write_script(nvcc, "echo 'Cuda compilation tools, release 12.6, V12.6.20'\n");
  auto const blind = torch_.build(torch_.head());
  EXPECT_GT(blind.status, last_ordinary_status);
  EXPECT_THAT(blind.err, HasSubstr("missing on this host: libcupti"));

  std::ofstream{torch_.sibling("libcupti.so")} << "only its name matters";
  auto const built = torch_.build(torch_.head());
  ASSERT_EQ(built.status, 0) << built.out << built.err;
  EXPECT_THAT(built.out, HasSubstr("CUDA ON, Kineto ON, for 8.0 9.0+PTX\n"));
  auto const build = builds::read_build(torch_.prefix());
  ASSERT_TRUE(build) << build.error().message;
  EXPECT_EQ(build->manifest.variant, "cu126");

  torch_.environment["PYTORCH_RECIPE_CMAKE_OPTIONS"] = "-DUSE_CUDA=OFF";
  auto const silently_without = torch_.build(torch_.head());
  EXPECT_GT(silently_without.status, last_ordinary_status);
  EXPECT_THAT(silently_without.err, HasSubstr("found no CUDA"));

  fs::remove(torch_.sibling("libcupti.so"));
  torch_.environment["PYTORCH_RECIPE_CMAKE_OPTIONS"] = "-DLIBKINETO_NOCUPTI=ON";
  EXPECT_EQ(torch_.build(torch_.head()).status, 0) << "the option permits it";
}

/// Builds PyTorch's Python packages.
class PythonRecipe : public Recipe {
 protected:
  PythonRecipe() {
    torch_.environment["TORCHWATCH_PYTHON"] = "1";
    torch_.environment.erase("PYTORCH_RECIPE_WORKER");
  }
};

TEST_F(PythonRecipe, InstallsPackagesAndNoWorker) {
  auto const commit = torch_.head();
  auto const built = torch_.build(commit);
  ASSERT_EQ(built.status, 0) << built.out << built.err;
  EXPECT_THAT(compiled(built.out), SizeIs(sources_with_worker - 1));

  auto const build = builds::read_build(torch_.prefix());
  ASSERT_TRUE(build) << build.error().message;
  EXPECT_EQ(build->manifest.commit, commit);
  EXPECT_EQ(build->manifest.kind, "python");
  EXPECT_EQ(python_answer_of(torch_.prefix()), "2.9.0a0 5 6 2 7\n");
  EXPECT_TRUE(fs::exists(torch_.prefix() / "torch-2.9.0a0.dist-info/METADATA"));
  EXPECT_TRUE(fs::exists(torch_.prefix() / "torch/include/torch/torch.h"));
  EXPECT_FALSE(fs::exists(torch_.prefix() / "bin/torchwatch-worker"));
}

TEST_F(PythonRecipe, CompilesOnlyWhatChangedAndKeepsNoModuleOfEarlierCommits) {
  auto const first = torch_.commit("torch/removed.py", "");
  ASSERT_EQ(torch_.build(first, "first").status, 0);
  torch_.repository().git("rm --quiet torch/removed.py");
  auto const second = torch_.build(torch_.replace("src/multiply.cpp", "a * b", "a * b * 10"));
  ASSERT_EQ(second.status, 0) << second.out << second.err;
  EXPECT_THAT(compiled(second.out), ElementsAre("multiply"));
  EXPECT_EQ(python_answer_of(torch_.prefix()), "2.9.0a0 5 60 2 7\n");
  EXPECT_TRUE(fs::exists(torch_.sibling("first") / "torch/removed.py"));
  EXPECT_FALSE(fs::exists(torch_.prefix() / "torch/removed.py"));
}

TEST_F(PythonRecipe, BuildsAWorkerThatIsNamed) {
  torch_.environment["PYTORCH_RECIPE_WORKER"] = fs::path{RECIPES_TEST_FOLDER} / "worker";
  auto const built = torch_.build(torch_.head());
  ASSERT_EQ(built.status, 0) << built.out << built.err;
  fs::rename(torch_.prefix(), torch_.sibling("moved"));
  EXPECT_EQ(answer_of(torch_.sibling("moved")), "2.9.0a0 5 6 2 7\n");
  EXPECT_EQ(python_answer_of(torch_.sibling("moved")), "2.9.0a0 5 6 2 7\n");
}

TEST_F(PythonRecipe, SkipsACommitThatDoesNotCompile) {
  ASSERT_EQ(torch_.build(torch_.head()).status, 0);
  auto const broken = torch_.build(torch_.replace("src/add.cpp", "a + b", "a + c"));
  EXPECT_EQ(broken.status, unbuildable) << broken.err;
  EXPECT_FALSE(has_manifest());
}

TEST_F(PythonRecipe, DoesNotBlameACommitForAMissingModule) {
  ASSERT_EQ(torch_.build(torch_.head()).status, 0);
  auto const other = torch_.build(
      torch_.replace("pyproject.toml", "setuptools.build_meta", "no_such_build_system.build"));
  EXPECT_EQ(other.status, temporary) << other.out;
  EXPECT_THAT(other.err, HasSubstr("a Python module that the build requires is missing"));
}

TEST_F(PythonRecipe, AllowsOnlyOptionsThatAreVariables) {
  torch_.environment["PYTORCH_RECIPE_CMAKE_OPTIONS"] = "-DSELECTED:BOOL=ON";
  ASSERT_EQ(torch_.build(torch_.head()).status, 0);
  EXPECT_EQ(python_answer_of(torch_.prefix()), "2.9.0a0 5 7 2 7\n");
  torch_.environment["PYTORCH_RECIPE_CMAKE_OPTIONS"] = "-C options.cmake";
  auto const ended = torch_.build(torch_.head());
  EXPECT_GT(ended.status, last_ordinary_status);
  EXPECT_THAT(ended.err, HasSubstr("found -C, with TORCHWATCH_PYTHON only -DNAME=VALUE"));
}

TEST_F(PythonRecipe, HasDependenciesOfItsOwn) {
  auto const with_packages = torch_.dependencies();
  ASSERT_EQ(with_packages.status, 0) << with_packages.err;
  EXPECT_THAT(with_packages.out,
              AllOf(HasSubstr("with Python packages\npip "), Not(HasSubstr("\nworker "))));
  EXPECT_EQ(torch_.dependencies().out, with_packages.out);
  torch_.environment.erase("TORCHWATCH_PYTHON");
  EXPECT_THAT(torch_.dependencies().out, Not(HasSubstr("with Python packages")));
}

TEST_F(Recipe, CompilesOnlyWhatChangedAndLeavesEarlierBuildsAlone) {
  ASSERT_EQ(torch_.build(torch_.head(), "first").status, 0);
  auto const second = torch_.build(torch_.replace("src/multiply.cpp", "a * b", "a * b * 10"));
  ASSERT_EQ(second.status, 0) << second.out << second.err;
  EXPECT_THAT(compiled(second.out), ElementsAre("multiply"));

  // The service moves the prefix after a successful build
  fs::rename(torch_.sibling("first"), torch_.sibling("moved"));
  EXPECT_EQ(answer_of(torch_.prefix()), "2.9.0a0 5 60 2 7\n");
  EXPECT_EQ(answer_of(torch_.sibling("moved")), "2.9.0a0 5 6 2 7\n");
}

TEST_F(Recipe, FollowsTheVersionGeneratedCodeNewSourcesAndSubmodules) {
  ASSERT_EQ(torch_.build(torch_.head()).status, 0);
  torch_.commit("version.txt", "2.10.0a0\n");
  torch_.commit("operators.yaml", "[add, multiply, tanh]\n");
  torch_.replace("src/add.cpp", "int add(int a, int b) {\n  return a + b;\n}", "");
  torch_.commit("src/sum.cpp", "int add(int a, int b) {\n  return a + b + 1;\n}\n");
  auto const last = torch_.move_submodule("7", "8");
  auto const built = torch_.build(last);
  ASSERT_EQ(built.status, 0) << built.out << built.err;
  EXPECT_EQ(answer_of(torch_.prefix()), "2.10.0a0 6 6 3 8\n");
}

TEST_F(Recipe, CommitThatDoesNotCompile_IsUnbuildable_AndLaterOnesBuild) {
  auto const good = torch_.head();
  ASSERT_EQ(torch_.build(good).status, 0);
  auto const broken = torch_.build(torch_.replace("src/add.cpp", "a + b", "a + c"));
  EXPECT_EQ(broken.status, unbuildable) << broken.err;
  EXPECT_FALSE(has_manifest());

  auto const unconfigurable =
      torch_.build(torch_.commit("CMakeLists.txt", "message(FATAL_ERROR no)\n"));
  EXPECT_EQ(unconfigurable.status, unbuildable) << unconfigurable.err;
  EXPECT_EQ(torch_.build(good).status, 0);
}

TEST_F(Recipe, FailureOfFirstBuild_IsTemporary) {
  auto const broken = torch_.build(torch_.replace("src/add.cpp", "a + b", "a + c"));
  EXPECT_EQ(broken.status, temporary);
  EXPECT_THAT(broken.err, HasSubstr("no build with these settings has succeeded on this host"));
}

class Stale : public Recipe, public testing::WithParamInterface<std::string> {
 protected:
  void spoil() const {
    auto const directory = torch_.kept() / "torch";
    if (GetParam() == "OfAnotherSource") {
      auto cache = e2e::text_of(directory / "CMakeCache.txt");
      std::string const name = "CMAKE_HOME_DIRECTORY:INTERNAL=";
      cache.insert(cache.find(name) + name.size(), "/elsewhere");
      std::ofstream{directory / "CMakeCache.txt"} << cache;
    } else {
      auto const object = directory / "CMakeFiles/torch.dir/src/add.cpp.o";
      auto const time = fs::last_write_time(object);
      std::ofstream{object} << "damaged";
      fs::last_write_time(object, time);
    }
  }
};

TEST_P(Stale, BuildDirectoryIsRebuilt) {
  ASSERT_EQ(torch_.build(torch_.head(), "first").status, 0);
  spoil();
  auto const second = torch_.build(torch_.replace("src/multiply.cpp", "a * b", "a * b * 10"));
  ASSERT_EQ(second.status, 0) << second.out << second.err;
  EXPECT_THAT(second.out, HasSubstr("building again in an empty directory"));
  EXPECT_EQ(answer_of(torch_.prefix()), "2.9.0a0 5 60 2 7\n");
}

INSTANTIATE_TEST_SUITE_P(Recipe,
                         Stale,
                         testing::Values("OfAnotherSource", "Damaged"),
                         [](auto const& test) { return test.param; });

TEST_F(Recipe, CompilesFromTheCacheInAnyCheckout) {
  ASSERT_EQ(torch_.build(torch_.head()).status, 0);
  auto const elsewhere = torch_.sibling("elsewhere");
  fs::create_directory(elsewhere);
  fs::rename(torch_.source(), elsewhere / "source");
  torch_.worktree = elsewhere;
  torch_.environment["CCACHE_LOGFILE"] = torch_.sibling("ccache.log").string();

  auto const again = torch_.build(torch_.head());
  ASSERT_EQ(again.status, 0) << again.out << again.err;
  EXPECT_THAT(compiled(again.out), SizeIs(sources_with_worker));
  EXPECT_THAT(e2e::text_of(torch_.sibling("ccache.log")),
              AllOf(HasSubstr("cache_hit"), Not(HasSubstr("cache_miss"))));
}

class Missing : public Recipe, public testing::WithParamInterface<std::string> {};

TEST_P(Missing, ToolsEndTheBisectionAndAreNamed) {
  link_programs_but(GetParam(), torch_.sibling("programs"));
  torch_.environment["PATH"] = torch_.sibling("programs").string();
  auto const ended = torch_.build(torch_.head());
  EXPECT_GT(ended.status, last_ordinary_status);
  EXPECT_THAT(ended.err, HasSubstr("missing on this host: " + GetParam() + "\n"));
  EXPECT_FALSE(fs::exists(torch_.kept()));
}

INSTANTIATE_TEST_SUITE_P(Recipe, Missing, testing::Values("ninja", "ccache"), [](auto const& test) {
  return test.param;
});

TEST_F(Recipe, NamesThePythonModulesThatAreMissing) {
  auto const python = torch_.sibling("python");
  write_script(python, "exec /usr/bin/python3 -I -S \"$@\"\n");
  torch_.environment["PYTORCH_RECIPE_PYTHON"] = python.string();
  auto const ended = torch_.build(torch_.head());
  EXPECT_GT(ended.status, last_ordinary_status);
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("module yaml of " + python.string()), HasSubstr("typing_extension")));
}

TEST_F(Recipe, EndsTheBisectionWhenToolsAreTooOld) {
  auto const ended = torch_.build(torch_.replace("CMakeLists.txt", "VERSION 3.18", "VERSION 99.1"));
  EXPECT_GT(ended.status, last_ordinary_status);
  EXPECT_THAT(ended.out, HasSubstr("CMake 99.1 or higher is required"));
}

TEST_F(Recipe, EndsTheBisectionInACheckoutOfAnotherCommit) {
  auto const one = torch_.head();
  torch_.environment["TORCHWATCH_COMMIT"] = one.hex;
  auto const ended = torch_.build(torch_.commit("version.txt", "2.10.0a0\n"));
  EXPECT_GT(ended.status, last_ordinary_status);
  EXPECT_THAT(ended.err, HasSubstr("not a checkout of " + one.hex));
}

TEST_F(Recipe, PrefixWithOtherFiles_IsLeftAlone) {
  fs::create_directory(torch_.prefix());
  std::ofstream{torch_.prefix() / "precious"};
  auto const ended = torch_.build(torch_.head());
  EXPECT_GT(ended.status, last_ordinary_status);
  EXPECT_THAT(ended.err, HasSubstr("neither empty nor a build"));
  EXPECT_TRUE(fs::exists(torch_.prefix() / "precious"));
}

TEST_F(Recipe, MissingSubmodule_IsTemporaryFailure) {
  auto const hidden = torch_.sibling("hidden");
  fs::rename(torch_.submodule(), hidden);
  auto const failed = torch_.build(torch_.head());
  EXPECT_EQ(failed.status, temporary);
  EXPECT_THAT(failed.err, HasSubstr("fetching the submodules failed"));

  fs::rename(hidden, torch_.submodule());
  EXPECT_EQ(torch_.build(torch_.head()).status, 0);
}

TEST_F(Recipe, BuildsAfterAKillDuringTheFetchOfSubmodules) {
  auto const usual = torch_.environment;
  torch_.environment["GIT_CONFIG_COUNT"] = "3";
  torch_.environment["GIT_CONFIG_KEY_1"] = "protocol.ext.allow";
  torch_.environment["GIT_CONFIG_VALUE_1"] = "always";
  torch_.environment["GIT_CONFIG_KEY_2"] = "url.ext::sleep 60 .insteadOf";
  torch_.environment["GIT_CONFIG_VALUE_2"] = torch_.submodule().string();
  {
    auto recipe = torch_.start(torch_.head());
    wait_for_output(recipe, "Cloning into");
  }
  torch_.environment = usual;
  auto const built = torch_.build(torch_.head());
  EXPECT_EQ(built.status, 0) << built.out << built.err;
}

TEST_F(Recipe, BuildsAfterAKillAtAnyTime) {
  for (auto const* moment : {"Detecting CXX compiler ABI info", "Building CXX", "Installing:"}) {
    auto recipe = torch_.start(torch_.head());
    wait_for_output(recipe, moment);
    EXPECT_FALSE(has_manifest()) << moment;
  }
  auto const built = torch_.build(torch_.head());
  ASSERT_EQ(built.status, 0) << built.out << built.err;
  EXPECT_TRUE(builds::read_build(torch_.prefix()));
  EXPECT_EQ(answer_of(torch_.prefix()), "2.9.0a0 5 6 2 7\n");
}

TEST_F(Recipe, FullDisk_IsTemporaryFailure) {
  ASSERT_EQ(torch_.build(torch_.head()).status, 0);
  auto const lists = e2e::text_of(torch_.repository().path() / "CMakeLists.txt");
  auto const full = torch_.build(torch_.commit(
      "CMakeLists.txt",
      lists +
          "add_custom_target(full ALL COMMAND cp ${PROJECT_SOURCE_DIR}/version.txt /dev/full)\n"));
  EXPECT_EQ(full.status, temporary);
  EXPECT_THAT(full.err, HasSubstr("the disk is full"));
}

TEST_F(Recipe, KilledCompiler_IsTemporaryFailure) {
  // The real driver finds this cc1plus, which kills itself like a system without memory
  auto const compilers = torch_.sibling("compilers");
  fs::create_directory(compilers);
  write_script(compilers / "cc1plus",
               "case \"$*\" in *src/add.cpp*) [ ! -e '" + torch_.sibling("hungry").string() +
                   "' ] || kill -KILL $$ ;; esac\n"
                   "exec \"$(c++ -print-prog-name=cc1plus)\" \"$@\"\n");
  torch_.environment["CXXFLAGS"] = "-B" + compilers.string();
  ASSERT_EQ(torch_.build(torch_.head()).status, 0);

  auto const second = torch_.replace("src/add.cpp", "a + b", "a + b + 1");
  std::ofstream{torch_.sibling("hungry")};
  auto const killed = torch_.build(second);
  EXPECT_EQ(killed.status, temporary) << killed.out;
  EXPECT_THAT(killed.err, HasSubstr("out of memory with 2 jobs"));

  fs::remove(torch_.sibling("hungry"));
  auto const built = torch_.build(second);
  EXPECT_EQ(built.status, 0);
  EXPECT_THAT(compiled(built.out), ElementsAre("add"));
}

TEST_F(Recipe, WorkerThatDoesNotCompile_IsTemporaryFailure) {
  auto const failed = torch_.build(torch_.commit("include/torch/torch.h", "#pragma once\n"));
  EXPECT_EQ(failed.status, temporary) << failed.out;
  EXPECT_THAT(failed.err, HasSubstr("the worker does not compile"));
  EXPECT_FALSE(has_manifest());
}

TEST_F(Recipe, OtherOptions_BuildFromNothing) {
  torch_.environment["PYTORCH_RECIPE_CMAKE_OPTIONS"] = "-DSELECTED=ON -DANOTHER=1";
  ASSERT_EQ(torch_.build(torch_.head()).status, 0);
  EXPECT_EQ(answer_of(torch_.prefix()), "2.9.0a0 5 7 2 7\n");
  torch_.environment.erase("PYTORCH_RECIPE_CMAKE_OPTIONS");
  ASSERT_EQ(torch_.build(torch_.head()).status, 0);
  EXPECT_EQ(answer_of(torch_.prefix()), "2.9.0a0 5 6 2 7\n");
}

TEST_F(Recipe, PrintsItsDependencies) {
  auto const usual = torch_.dependencies();
  ASSERT_EQ(usual.status, 0) << usual.err;
  for (auto const* const tool : {"pytorch recipe ", "cmake version ", "c++ ", "Python ", "glibc "})
    EXPECT_THAT(usual.out, HasSubstr(tool));
  EXPECT_THAT(usual.out, HasSubstr("worker "));
  EXPECT_EQ(torch_.dependencies().out, usual.out);

  auto const compiler = torch_.sibling("compiler");
  write_script(compiler, "[ \"$1\" != --version ] || exec echo 'c++ 99.1'\nexec c++ \"$@\"\n");
  torch_.environment["CXX"] = compiler.string();
  EXPECT_THAT(torch_.dependencies().out, HasSubstr("c++ 99.1\n"));
  torch_.environment["CXX"] = torch_.sibling("nothing").string();
  EXPECT_EQ(torch_.dependencies().status, 0) << "a missing tool is an error of builds only";
  torch_.environment.erase("CXX");

  torch_.environment["PYTORCH_RECIPE_CMAKE_OPTIONS"] = "-DBLAS=OpenBLAS";
  EXPECT_THAT(torch_.dependencies().out,
              HasSubstr("PYTORCH_RECIPE_CMAKE_OPTIONS=-DBLAS=OpenBLAS\n"));
  torch_.environment.erase("PYTORCH_RECIPE_CMAKE_OPTIONS");

  auto const worker = torch_.sibling("worker");
  fs::create_directory(worker);
  torch_.environment["PYTORCH_RECIPE_WORKER"] = worker.string();
  std::ofstream{worker / "main.cpp"} << "one";
  auto const before = torch_.dependencies().out;
  std::ofstream{worker / "main.cpp"} << "two";
  EXPECT_NE(torch_.dependencies().out, before);
}

}  // namespace
}  // namespace torchwatch::recipes
