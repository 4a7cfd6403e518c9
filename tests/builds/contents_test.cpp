#include "daemon/builds/contents.h"

#include <fstream>

#include <gmock/gmock.h>

#include "tests/storage/samples.h"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(Packaging, IsTheRecipeTheManifestAndTheLibraries) {
  tests::TemporaryFolder const folder;
  auto const prefix = folder.path() / "torch";
  fs::create_directories(prefix / "lib");
  std::ofstream{folder.path() / "companions"} << "nvidia-cudnn-cu13 9.15.1.9\n";
  std::ofstream{prefix / "lib" / "libtorch_cpu.so"};
  std::ofstream{prefix / "lib" / "libgomp-a34b3233.so.1"};
  Build build;
  build.prefix = prefix.string();
  build.manifest.commit = tests::sha_of('a');
  build.manifest.version = "2.9.0";
  build.manifest.date = "2026-01-02";
  build.manifest.variant = "cu126";
  build.manifest.env = {{"MKL_THREADING_LAYER", "GNU"}};
  build.manifest.preload = {(prefix / "lib/liblab.so").string(), "/opt/other.so"};
  build.manifest.launcher = {"chroot", "/root13"};

  EXPECT_THAT(packaging_of(build, {RecipeId{1}, RecipeKind::program, "recipe aaa\n\ngcc 12\n"}),
              UnorderedElementsAre("recipe aaa",
                                   "gcc 12",
                                   "kind libtorch",
                                   "variant cu126",
                                   "variable MKL_THREADING_LAYER=GNU",
                                   "preloads lib/liblab.so",
                                   "preloads /opt/other.so",
                                   "launcher chroot /root13",
                                   "holds lib/libtorch_cpu.so",
                                   "holds lib/libgomp-a34b3233.so.1",
                                   "companion nvidia-cudnn-cu13 9.15.1.9"));
}

TEST(Packaging, OfABuildOfWhichNothingIsKnownIsItsKind) {
  Build build;
  build.prefix = "/nowhere";
  EXPECT_THAT(packaging_of(build, Recipe{}), ElementsAre("kind libtorch"));
}

TEST(Packaging, KeepsEachThingOnALineAndArtifactsPlacesToItself) {
  Build build;
  build.prefix = "/nowhere";
  build.manifest.env = {{"X", "one\n\ntwo\t"}};
  EXPECT_THAT(
      packaging_of(build, {RecipeId{1}, RecipeKind::artifacts, "https://ci/{commit}?token=secret"}),
      ElementsAre("built elsewhere", "kind libtorch", "variable X=one  two "));
}

TEST(Packaging, DiffersByTheLinesThatOnlyOneHas) {
  EXPECT_THAT(differences("gcc 12\nglibc 2.36\nzlib\n"sv, "zlib\ngcc 13\nglibc 2.36\n"sv),
              ElementsAre("- gcc 12", "+ gcc 13"));
  EXPECT_THAT(differences("gcc 12\n"sv, "gcc 12\n"sv), IsEmpty());
  EXPECT_THAT(differences(""sv, "a\na\nb"sv), ElementsAre("+ a", "+ a", "+ b"));
}

}  // namespace
}  // namespace torchwatch::builds
