#include "fetch/package.h"

#include <gtest/gtest.h>

namespace torchwatch::fetch {
namespace {

TEST(Package, IsReadFromAWheelsName) {
  auto const package =
      parse_package("torch-2.9.0.dev20250902+cu126-cp313-cp313t-manylinux_2_28_x86_64.whl");
  ASSERT_TRUE(package);
  EXPECT_EQ(package->kind, PackageKind::wheel);
  EXPECT_EQ(package->version, "2.9.0.dev20250902+cu126");
  EXPECT_EQ(package->date, "2025-09-02");
  EXPECT_EQ(package->variant, "cu126");
  EXPECT_EQ(package->python, "cp313");
  EXPECT_EQ(package->abi, "cp313t");
  EXPECT_EQ(package->platform, "manylinux_2_28_x86_64");
}

TEST(Package, MayHaveNoVariantAndABuildNumber) {
  auto const package = parse_package("torch-1.13.0.dev20220817-1-cp37-cp37m-linux_x86_64.whl");
  ASSERT_TRUE(package);
  EXPECT_EQ(package->version, "1.13.0.dev20220817");
  EXPECT_EQ(package->variant, "");
  EXPECT_EQ(package->python, "cp37");
  EXPECT_EQ(package->abi, "cp37m");
  EXPECT_EQ(package->platform, "linux_x86_64");
}

TEST(Package, IsReadFromALibTorchsName) {
  auto const package = parse_package("libtorch-shared-with-deps-2.9.0.dev20250902+cpu.zip");
  ASSERT_TRUE(package);
  EXPECT_EQ(package->kind, PackageKind::libtorch);
  EXPECT_EQ(package->version, "2.9.0.dev20250902+cpu");
  EXPECT_EQ(package->date, "2025-09-02");
  EXPECT_EQ(package->variant, "cpu");
  EXPECT_EQ(package->abi, "");

  auto const older =
      parse_package("libtorch-cxx11-abi-shared-with-deps-2.5.0.dev20240801+cu121.zip");
  ASSERT_TRUE(older);
  EXPECT_EQ(older->abi, "cxx11-abi");
  EXPECT_EQ(older->variant, "cu121");
}

class NoPackage : public testing::TestWithParam<char const*> {};

TEST_P(NoPackage, IsSkipped) {
  EXPECT_FALSE(parse_package(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    Of,
    NoPackage,
    testing::Values("",
                    ".whl",
                    "torch-.whl",
                    "torch.whl",
                    "torch-2.9.0-cp310-cp310-manylinux_2_28_x86_64.whl",
                    "torch-2.9.0.dev20250902+cpu-cp310.whl",
                    "torch-2.9.0.dev20251302+cpu-cp310-cp310-linux_x86_64.whl",
                    "torch-2.9.0.dev20250230+cpu-cp310-cp310-linux_x86_64.whl",
                    "libtorch-shared-with-deps-2.9.0.dev-1230101+cpu.zip",
                    "torch-2.9.0.dev2025090+cpu-cp310-cp310-linux_x86_64.whl",
                    "torch-2.9.0.dev-2502-02-cp310-cp310-linux_x86_64.whl",
                    "torch-.dev20250902+cpu-cp310-cp310-linux_x86_64.whl",
                    "torch-2.9.0.dev20250902+cpu-cp310-cp310-linux_x86_64.whl.metadata",
                    "torchvision-0.24.0.dev20250902+cpu-cp310-cp310-linux_x86_64.whl",
                    "torch_no_python-2.9.0.dev20250902+cpu-py3-none-any.whl",
                    "torch-2.9.0.dev20250902-cp310-cp310-../../x.whl",
                    "torch-2.9.0.dev20250902-cp310-cp310-a\nb.whl",
                    "torch-2.9.0.dev20250902+cpu.tar.gz",
                    "libtorch-shared-with-deps-latest.zip",
                    "libtorch-shared-with-deps-2.9.0+cpu.zip",
                    "libtorch-static-with-deps-2.9.0.dev20250902+cpu.zip",
                    "libtorch-shared-without-deps-2.9.0.dev20250902+cpu.zip",
                    "libtorch-win-shared-with-deps-2.9.0.dev20250902+cpu.zip",
                    "libtorch-macos-arm64-2.9.0.dev20250902.zip"));

}  // namespace
}  // namespace torchwatch::fetch
