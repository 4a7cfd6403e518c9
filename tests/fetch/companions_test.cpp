#include "fetch/companions.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/downloads/download_host.h"
#include "tests/temporary_folder.h"

namespace torchwatch::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Names and versions as torch 2.11 and 2.6 write them.
constexpr auto metadata_of_torch = R"(Metadata-Version: 2.4
Name: torch
Version: 2.11.0.dev20260120+cu130
Summary: Tensors and Dynamic neural networks in Python
Requires-Python: >=3.10
Requires-Dist: filelock
Requires-Dist: sympy>=1.13.3
Requires-Dist: setuptools; python_version >= "3.12"
Requires-Dist: cuda-bindings<14,>=13.0.3; platform_system == "Linux"
Requires-Dist: cuda-toolkit[cublas,cudart]==13.0.2; platform_system == "Linux"
requires-dist: nvidia-cudnn-cu13==9.15.1.9; platform_system == "Linux"
Requires-Dist: nvidia-nccl-cu12==2.21.5; platform_system == "Linux" and platform_machine == "aarch64"
Requires-Dist: triton==3.6.0; platform_system == "Linux"
Requires-Dist: opt-einsum>=3.3; extra == "opt-einsum"
Requires-Dist: own-thing @ https://host/own.whl

Requires-Dist: nvidia-in-the-description==1
)";

constexpr auto metadata_of_toolkit = R"(Name: cuda-toolkit
Version: 13.0.2
Requires-Dist: nvidia-cublas==13.1.0.3.*; (sys_platform == "linux" or sys_platform == "win32") and extra == "cublas"
Requires-Dist: nvidia-cuda-runtime==13.0.96.*; extra == "cudart"
Requires-Dist: nvidia-nvjpeg==13.0.1.86.*; extra == "nvjpeg"
)";

class CompanionsTest : public testing::Test {
 protected:
  WheelMetadata metadata(std::string const& text, std::string const& tag) const {
    auto const info = folder_ / "some.dist-info";
    std::filesystem::create_directories(info);
    std::ofstream{info / "METADATA"} << text;
    std::ofstream{info / "WHEEL"} << "Wheel-Version: 1.0\nTag: " << tag << '\n';
    return wheel_metadata_of(folder_.path()).value();
  }

  static std::vector<std::string> names(Result<std::vector<Requirement>> const& requirements) {
    std::vector<std::string> texts;
    for (auto const& requirement : requirements.value())
      texts.push_back(requirement.text);
    return texts;
  }

  tests::TemporaryFolder folder_;
};

TEST_F(CompanionsTest, OfAWheelAreThePackagesWithLibraries) {
  auto const torch = metadata(metadata_of_torch, "cp312-cp312-manylinux_2_28_x86_64");
  EXPECT_EQ(torch.name, "torch");
  EXPECT_EQ(torch.version, "2.11.0.dev20260120+cu130");
  EXPECT_EQ(torch.python, "3.12");
  EXPECT_EQ(torch.platform, "manylinux_2_28_x86_64");
  EXPECT_THAT(names(companions_of(torch, {}, "x86_64")),
              ElementsAre("cuda-toolkit[cublas,cudart]==13.0.2", "nvidia-cudnn-cu13==9.15.1.9"));
  EXPECT_THAT(names(companions_of(torch, {}, "aarch64")),
              ElementsAre("cuda-toolkit[cublas,cudart]==13.0.2",
                          "nvidia-cudnn-cu13==9.15.1.9",
                          "nvidia-nccl-cu12==2.21.5"));
}

TEST_F(CompanionsTest, OfAPackageWithoutLibrariesAreThoseOfItsExtras) {
  auto const toolkit = metadata(metadata_of_toolkit, "py2.py3-none-any");
  EXPECT_EQ(toolkit.python, "");
  EXPECT_THAT(names(companions_of(toolkit, {"cublas"}, "x86_64")),
              ElementsAre("nvidia-cublas==13.1.0.3.*"));
  EXPECT_THAT(names(companions_of(toolkit, {}, "x86_64")), IsEmpty());
}

TEST_F(CompanionsTest, ThatCannotBeParsedAreNamed) {
  auto const torch = metadata(
      "Name: torch\nVersion: 1\nRequires-Dist: nvidia-nccl==2; moon == \"full\"\n", "py3-none-any");
  auto const companions = companions_of(torch, {}, "x86_64");
  ASSERT_FALSE(companions.has_value());
  EXPECT_EQ(companions.error().code, ErrorCode::corrupt);
  EXPECT_THAT(companions.error().message, HasSubstr("torch 1: METADATA: marker"));
}

TEST_F(CompanionsTest, MetadataOfAWheelIsRead) {
  auto const refused = [this] {
    return wheel_metadata_of(folder_.path()).error().message;
  };
  EXPECT_THAT(refused(), HasSubstr("does not have exactly one *.dist-info"));
  std::filesystem::create_directories(folder_ / "some.dist-info");
  EXPECT_THAT(refused(), HasSubstr("METADATA: names no package and version"));
  std::ofstream{folder_ / "some.dist-info/METADATA"} << "Name: torch\nVersion: 1\n";
  EXPECT_THAT(refused(), HasSubstr("WHEEL: found \"\" for its tag"));
}

std::vector<PageLink> page_of(std::vector<std::string> const& names) {
  std::vector<PageLink> links;
  for (auto const& name : names)
    links.push_back({"https://host/" + name, name, "", name.find("yanked") != std::string::npos});
  return links;
}

std::string found(std::vector<std::string> const& names, std::string const& wanted) {
  auto const file = companion_in(page_of(names), parse_requirement(wanted).value(), "x86_64");
  return file ? file->version : "nothing";
}

TEST(CompanionIn, IsTheNewestThatFits) {
  std::vector<std::string> const names{
      "nvidia_cublas-13.0.0.19-py3-none-manylinux_2_27_x86_64.whl",
      "nvidia_cublas-13.1.0.3-py3-none-manylinux_2_27_aarch64.whl",
      "nvidia_cublas-13.1.0.3-py3-none-win_amd64.whl",
      "nvidia_cublas-13.1.0.3-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
      "nvidia_cublas-13.2.0.1rc1-py3-none-manylinux_2_27_x86_64.whl",
      "nvidia_cublas_lt-13.9-py3-none-manylinux_2_27_x86_64.whl",
      "nvidia_cublas-13.9-py3-none-manylinux_2_27_x86_64.tar.gz",
      "nvidia_cublas-oops-py3-none-any.whl"};
  EXPECT_EQ(found(names, "nvidia-cublas"), "13.1.0.3");
  EXPECT_EQ(found(names, "nvidia-cublas==13.1.0.3.*"), "13.1.0.3");
  EXPECT_EQ(found(names, "nvidia-cublas<13.1"), "13.0.0.19");
  EXPECT_EQ(found(names, "nvidia-cublas>13.1.0.3"), "13.2.0.1rc1");
  EXPECT_EQ(found(names, "nvidia-cublas==12"), "nothing");
}

TEST(CompanionIn, AcceptsFilesForAnyMachine) {
  EXPECT_EQ(found({"cuda_toolkit-13.0.2-py2.py3-none-any.whl"}, "cuda-toolkit[cublas]==13.0.2"),
            "13.0.2");
}

TEST_F(CompanionsTest, AreFoundOnTheirPage) {
  fakes::DownloadHost host;
  CompanionRequest request;
  request.page.url = host.url() + "/whl/nightly/cu130/nvidia-cublas/";
  request.page.pause = std::chrono::milliseconds{1};
  request.file = folder_ / "page";
  request.requirement = "nvidia-cublas==13.0.0.19";
  request.machine = "x86_64";

  auto const missing = find_companion(request);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().message,
            "index " + request.page.url + ": has no nvidia-cublas==13.0.0.19 for x86_64");

  host.host(
      "/whl/nightly/cu130/nvidia-cublas/",
      {.content = "<a href=\"nvidia_cublas-13.0.0.19-py3-none-manylinux_2_27_x86_64.whl#sha256=" +
                  std::string(64, 'a') + "\">x</a>",
       .etag = "\"1\""});
  auto const file = find_companion(request);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->name, "nvidia-cublas");
  EXPECT_EQ(file->version, "13.0.0.19");
  EXPECT_EQ(file->url,
            request.page.url + "nvidia_cublas-13.0.0.19-py3-none-manylinux_2_27_x86_64.whl");
  EXPECT_EQ(file->sha256, std::string(64, 'a'));
  EXPECT_EQ(folder_.entries(), 0);
}

}  // namespace
}  // namespace torchwatch::fetch
