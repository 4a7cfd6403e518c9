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

/// Metadata of a CUDA wheel for Linux, as torch 2.12 and 2.6 write it.
constexpr auto metadata_for_python = R"(Metadata-Version: 2.4
Name: torch
Version: 2.12.0.dev20260408+cu130
Requires-Python: >=3.10
Requires-Dist: filelock
Requires-Dist: typing-extensions>=4.10.0
Requires-Dist: setuptools<82; python_version >= "3.12"
Requires-Dist: sympy>=1.13.3
Requires-Dist: networkx>=2.5.1
Requires-Dist: jinja2
Requires-Dist: fsspec>=0.8.5
Requires-Dist: cuda-bindings<14,>=13.0.3; platform_system == "Linux"
Requires-Dist: nvidia-cudnn-cu13==9.19.0.56; platform_system == "Linux"
Requires-Dist: triton==3.7.0+git282c8251; platform_system == "Linux" and platform_machine == "x86_64" and python_version != "3.13t"
Requires-Dist: intel-openmp; platform_system == "Windows"
Provides-Extra: optree
Requires-Dist: optree>=0.13.0; extra == "optree"
Provides-Extra: opt-einsum
Requires-Dist: opt-einsum>=3.3; extra == "opt-einsum"
Provides-Extra: pyyaml
Requires-Dist: pyyaml; extra == "pyyaml"
)";

constexpr auto metadata_of_toolkit = R"(Name: cuda-toolkit
Version: 13.0.2
Requires-Dist: nvidia-cublas==13.1.0.3.*; (sys_platform == "linux" or sys_platform == "win32") and extra == "cublas"
Requires-Dist: nvidia-cuda-runtime==13.0.96.*; extra == "cudart"
Requires-Dist: nvidia-nvjpeg==13.0.1.86.*; extra == "nvjpeg"
)";

constexpr auto for_libraries = CompanionScope::libraries;
constexpr auto for_python = CompanionScope::python;

MarkerEnvironment markers_for(std::string const& machine = "x86_64",
                              std::set<std::string> extras = {},
                              std::string const& version = "3.12") {
  return {version, machine, std::move(extras)};
}

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
  EXPECT_THAT(names(companions_of(torch, markers_for(), for_libraries)),
              ElementsAre("cuda-toolkit[cublas,cudart]==13.0.2", "nvidia-cudnn-cu13==9.15.1.9"));
  EXPECT_THAT(names(companions_of(torch, markers_for("aarch64"), for_libraries)),
              ElementsAre("cuda-toolkit[cublas,cudart]==13.0.2",
                          "nvidia-cudnn-cu13==9.15.1.9",
                          "nvidia-nccl-cu12==2.21.5"));
}

TEST_F(CompanionsTest, OfAPackageWithoutLibrariesAreThoseOfItsExtras) {
  auto const toolkit = metadata(metadata_of_toolkit, "py2.py3-none-any");
  EXPECT_EQ(toolkit.python, "");
  EXPECT_THAT(names(companions_of(toolkit, markers_for("x86_64", {"cublas"}), for_libraries)),
              ElementsAre("nvidia-cublas==13.1.0.3.*"));
  EXPECT_THAT(names(companions_of(toolkit, markers_for(), for_libraries)), IsEmpty());
}

TEST_F(CompanionsTest, ThatCannotBeParsedAreNamed) {
  auto const torch = metadata(
      "Name: torch\nVersion: 1\nRequires-Dist: nvidia-nccl==2; moon == \"full\"\n", "py3-none-any");
  auto const companions = companions_of(torch, markers_for(), for_libraries);
  ASSERT_FALSE(companions.has_value());
  EXPECT_EQ(companions.error().code, ErrorCode::corrupt);
  EXPECT_THAT(companions.error().message, HasSubstr("torch 1: METADATA: marker"));
}

TEST_F(CompanionsTest, ForPythonAreAllRequirementsWithoutAnExtra) {
  auto const torch = metadata(metadata_for_python, "cp312-cp312-manylinux_2_28_x86_64");
  EXPECT_EQ(torch.requires_python, ">=3.10");
  EXPECT_THAT(names(companions_of(torch, markers_for(), for_python)),
              ElementsAre("filelock",
                          "typing-extensions>=4.10.0",
                          "sympy>=1.13.3",
                          "networkx>=2.5.1",
                          "jinja2",
                          "fsspec>=0.8.5",
                          "cuda-bindings<14,>=13.0.3",
                          "nvidia-cudnn-cu13==9.19.0.56",
                          "triton==3.7.0+git282c8251"));
}

TEST_F(CompanionsTest, ForPythonAreThoseOfTheMachine) {
  auto const torch = metadata(metadata_for_python, "cp312-cp312-manylinux_2_28_aarch64");
  EXPECT_THAT(names(companions_of(torch, markers_for("aarch64"), for_python)),
              testing::Not(testing::Contains(HasSubstr("triton"))));
}

TEST_F(CompanionsTest, ForPythonAreThoseOfItsVersion) {
  auto const triton = metadata(
      "Name: triton\nVersion: 3.7.0\n"
      "Requires-Dist: importlib-metadata; python_version < \"3.10\"\n",
      "cp39-cp39-manylinux_2_27_x86_64");
  EXPECT_THAT(names(companions_of(triton, markers_for(), for_python)), IsEmpty());
  EXPECT_THAT(names(companions_of(triton, markers_for("x86_64", {}, "3.9"), for_python)),
              ElementsAre("importlib-metadata"));
}

TEST_F(CompanionsTest, WithAnAddressAreNamed) {
  auto const torch = metadata(
      "Name: torch\nVersion: 1\nRequires-Dist: own-thing @ https://host/own.whl\n", "py3-none-any");
  auto const companions = companions_of(torch, markers_for(), for_python);
  ASSERT_FALSE(companions.has_value());
  EXPECT_EQ(companions.error().code, ErrorCode::corrupt);
  EXPECT_THAT(companions.error().message, HasSubstr("own-thing @ https://host/own.whl"));
}

TEST_F(CompanionsTest, WithAnAddressAreNoneWhenTheirMarkerDoesNotHold) {
  auto const torch = metadata(
      "Name: torch\nVersion: 1\n"
      "Requires-Dist: own-thing @ https://host/own.whl ; extra == \"own\"\n",
      "py3-none-any");
  EXPECT_THAT(names(companions_of(torch, markers_for(), for_python)), IsEmpty());
}

TEST_F(CompanionsTest, MetadataHasAllTagsOfAWheel) {
  auto const wheel = metadata("Name: six\nVersion: 1\n", "py2-none-any\nTag: py3-none-any");
  ASSERT_EQ(wheel.tags.size(), 2U);
  EXPECT_EQ(wheel.tags[1].python, "py3");
  EXPECT_TRUE(fits(wheel, {"cp312", "cp312", "x86_64"}));
}

TEST_F(CompanionsTest, MetadataOfOneOfSeveralWheelsIsRead) {
  for (auto const* const name : {"torch", "torchvision"}) {
    auto const info = folder_ / (std::string{name} + "-1.0+cpu.dist-info");
    std::filesystem::create_directories(info);
    std::ofstream{info / "METADATA"} << "Name: " << name << "\nVersion: 1.0+cpu\n";
    std::ofstream{info / "WHEEL"} << "Tag: py3-none-any\n";
  }
  EXPECT_FALSE(wheel_metadata_of(folder_.path()).has_value());
  EXPECT_EQ(wheel_metadata_of(folder_.path(), "torch").value().name, "torch");
  EXPECT_FALSE(wheel_metadata_of(folder_.path(), "triton").has_value());
}

TEST_F(CompanionsTest, FitThePythonThatTheyRequire) {
  WheelTarget const cp310{"cp310", "cp310", "x86_64"};
  auto const pure =
      metadata("Name: networkx\nVersion: 3.6\nRequires-Python: >=3.11\n", "py3-none-any");
  EXPECT_FALSE(fits(pure, cp310));
  EXPECT_TRUE(fits(pure, {"cp312", "cp312", "x86_64"}));
}

TEST_F(CompanionsTest, ThatAreCompiledForThisPythonFitWhateverTheyRequire) {
  auto const triton = metadata("Name: triton\nVersion: 3.7.0\nRequires-Python: <3.15,>=3.10\n",
                               "cp315-cp315-manylinux_2_27_x86_64");
  EXPECT_TRUE(fits(triton, {"cp315", "cp315", "x86_64"}));
  EXPECT_FALSE(fits(triton, {"cp314", "cp314", "x86_64"}));
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

CompanionWish wish_for(std::string const& wanted, std::string const& python_tag = "") {
  CompanionWish wish;
  wish.requirement = parse_requirement(wanted).value();
  wish.target = {python_tag, python_tag, "x86_64"};
  return wish;
}

/// Returns the version of the file, the error, or "nothing".
std::string found(std::vector<PageLink> const& links, CompanionWish const& wish) {
  auto const file = companion_in(links, wish);
  if (!file) return file.error().message;
  return *file ? (*file)->version : "nothing";
}

std::string found(std::vector<std::string> const& names, std::string const& wanted) {
  return found(page_of(names), wish_for(wanted));
}

std::string found_for(std::string const& python_tag,
                      std::vector<std::string> const& names,
                      std::string const& wanted) {
  auto const file = companion_in(page_of(names), wish_for(wanted, python_tag));
  if (!file) return file.error().message;
  return *file ? (*file)->url.substr(std::string{"https://host/"}.size()) : "nothing";
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

TEST(CompanionIn, ForPythonHasItsTags) {
  std::vector<std::string> const page{
      "triton-3.7.0+git282c8251-cp310-cp310-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
      "triton-3.7.0+git282c8251-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
      "triton-3.7.0+git282c8251-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
      "triton-3.7.0+git282c8251-cp313-cp313t-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
      "triton-3.7.0+git88b227e2-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"};
  EXPECT_EQ(found_for("cp312", page, "triton==3.7.0+git282c8251"), page[1]);
  EXPECT_EQ(found_for("cp313", page, "triton==3.7.0+git282c8251"), page[2]);
  EXPECT_EQ(found_for("cp311", page, "triton==3.7.0+git282c8251"), "nothing");
}

TEST(CompanionIn, ForPythonIsNotForAnotherCLibrary) {
  std::vector<std::string> const page{
      "markupsafe-3.0.3-cp312-cp312-musllinux_1_2_x86_64.whl",
      "markupsafe-3.0.3-cp312-cp312-macosx_11_0_arm64.whl",
      "markupsafe-3.0.3-cp312-cp312-"
      "manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl",
      "MarkupSafe-2.1.5-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"};
  EXPECT_EQ(found_for("cp312", page, "MarkupSafe>=2.0"), page[2]);
  EXPECT_EQ(found_for("cp312", page, "markupsafe<3"), page[3]);
}

TEST(CompanionIn, OfOneVersionIsTheClosest) {
  std::vector<std::string> const page{"foo-1.0-py3-none-any.whl",
                                      "foo-1.0-cp39-abi3-manylinux_2_28_x86_64.whl",
                                      "foo-1.0-cp312-cp312-manylinux_2_34_x86_64.whl",
                                      "foo-1.0-cp312-cp312-manylinux_2_28_x86_64.whl",
                                      "foo-0.9-2-py3-none-any.whl",
                                      "foo-0.9-10-py3-none-any.whl"};
  EXPECT_EQ(found_for("cp312", page, "foo"), page[3]);
  EXPECT_EQ(found_for("cp311", page, "foo"), page[1]);
  EXPECT_EQ(found_for("cp312", page, "foo<1"), page[5]);
}

TEST(CompanionIn, ForPythonIsOneThatThePageAllowsForIt) {
  auto links = page_of({"networkx-3.6-py3-none-any.whl", "networkx-3.4.2-py3-none-any.whl"});
  links[0].requires_python = ">=3.11";
  links[1].requires_python = ">=3.10";
  EXPECT_EQ(found(links, wish_for("networkx>=2.5.1", "cp312")), "3.6");
  EXPECT_EQ(found(links, wish_for("networkx>=2.5.1", "cp310")), "3.4.2");
}

TEST(CompanionIn, IsNoneThatWasFoundUnsuited) {
  auto wish = wish_for("networkx", "cp310");
  wish.unsuited = {"3.6"};
  auto const links = page_of({"networkx-3.6-py3-none-any.whl", "networkx-3.4.2-py3-none-any.whl"});
  EXPECT_EQ(found(links, wish), "3.4.2");
}

TEST(CompanionIn, OfANightlyHasItsDate) {
  auto wish = wish_for("torchvision", "cp312");
  wish.version_end = ".dev20260408+cu130";
  auto links = page_of({
      "torchvision-0.27.0.dev20260407+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
      "torchvision-0.27.0.dev20260408+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
      "torchvision-0.27.0.dev20260408+cu126-cp312-cp312-manylinux_2_28_x86_64.whl",
      "torchvision-0.27.0.dev20260409+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
      "torchvision-0.26.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
  });
  EXPECT_EQ(found(links, wish), "0.27.0.dev20260408+cu130");
  links.erase(links.begin() + 1);
  EXPECT_EQ(found(links, wish), "nothing");
  EXPECT_EQ(why_no_companion(links, wish),
            "has no torchvision with a version that ends with .dev20260408+cu130 for cp312 on "
            "x86_64; found 0.27.0.dev20260409+cu130, 0.27.0.dev20260408+cu126, "
            "0.27.0.dev20260407+cu130, 0.26.0+cu130");
}

TEST(CompanionIn, TwoEquallyGoodFilesAreAnError) {
  std::vector<std::string> const page{"foo_bar-1.0-py3-none-any.whl",
                                      "Foo.Bar-1.0.0-py3-none-any.whl"};
  EXPECT_EQ(found_for("cp312", page, "foo-bar"),
            "two files are equally good for foo-bar for cp312 on x86_64: "
            "foo_bar-1.0-py3-none-any.whl and Foo.Bar-1.0.0-py3-none-any.whl");
  EXPECT_EQ(found(page, "foo-bar"), "1.0") << "libraries: the first";
}

TEST(CompanionIn, TwoLinksToOneFileAreOneCandidate) {
  std::string const name = "foo-1.0-py3-none-any.whl";
  auto links = page_of({name, name});
  EXPECT_EQ(found(links, wish_for("foo", "cp312")), "1.0") << "mirrors without digests";
  links[0].sha256 = std::string(64, 'a');
  links[1].sha256 = std::string(64, 'b');
  EXPECT_THAT(found(links, wish_for("foo", "cp312")), HasSubstr("two files"));
}

TEST(CompanionIn, ReasonNamesThePythonsOfTheWantedVersion) {
  auto const links = page_of({
      "triton-3.7.0+git282c8251-cp313-cp313-manylinux_2_28_x86_64.whl",
      "triton-3.6.0-cp312-cp312-manylinux_2_28_x86_64.whl",
  });
  EXPECT_EQ(why_no_companion(links, wish_for("triton==3.7.0+git282c8251", "cp312")),
            "has no triton==3.7.0+git282c8251 for cp312 on x86_64; found it for "
            "cp313-cp313-manylinux_2_28_x86_64");
  EXPECT_EQ(why_no_companion(links, wish_for("triton==3.8.0", "cp312")),
            "has no triton==3.8.0 for cp312 on x86_64; found 3.7.0+git282c8251, 3.6.0");
  EXPECT_EQ(why_no_companion({}, wish_for("triton", "cp312")), "has no triton for cp312 on x86_64");
}

TEST_F(CompanionsTest, AreFoundOnTheirPage) {
  fakes::DownloadHost host;
  CompanionRequest request;
  request.page.url = host.url() + "/whl/nightly/cu130/nvidia-cublas/";
  request.page.pause = std::chrono::milliseconds{1};
  request.file = folder_ / "page";
  request.requirement = "nvidia-cublas==13.0.0.19";
  request.target.machine = "x86_64";

  auto const missing = find_companion(request);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().message,
            "index " + request.page.url +
                ": there is no such page, so no nvidia-cublas==13.0.0.19 for x86_64");

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

TEST_F(CompanionsTest, ForPythonAreFoundOnTheirPage) {
  fakes::DownloadHost host;
  CompanionRequest request;
  request.page.url = host.url() + "/whl/nightly/cu130/triton/";
  request.page.pause = std::chrono::milliseconds{1};
  request.file = folder_ / "page";
  request.requirement = "triton==3.7.0+git282c8251";
  request.target = {"cp312", "cp312", "x86_64"};
  std::string const start = "<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for triton</h1>\n";
  std::string const end = "  </body>\n</html>\n<!--TIMESTAMP 1775692800-->";
  auto const link = [](std::string const& python_tag) {
    auto const tags =
        python_tag + "-" + python_tag + "-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl";
    return "    <a href=\"/whl/nightly/triton-3.7.0%2Bgit282c8251-" + tags +
           "#sha256=" + std::string(64, 'c') +
           "\" data-requires-python=\"&gt;=3.10,&lt;3.15\">triton-3.7.0+" + "git282c8251-" + tags +
           "</a><br/>\n";
  };

  host.host("/whl/nightly/cu130/triton/",
            {.content = start + link("cp310") + link("cp313") + end, .etag = "\"1\""});
  auto const missing = find_companion(request);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_THAT(missing.error().message,
              HasSubstr("/whl/nightly/cu130/triton/: has no triton==3.7.0+git282c8251 for cp312 on "
                        "x86_64; found it for cp310-cp310-manylinux_2_27_x86_64, "));

  host.host("/whl/nightly/cu130/triton/",
            {.content = start + link("cp310") + link("cp312") + end, .etag = "\"2\""});
  auto const file = find_companion(request);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->name, "triton");
  EXPECT_EQ(file->version, "3.7.0+git282c8251");
  EXPECT_EQ(file->variant, "cp312");
  EXPECT_EQ(file->sha256, std::string(64, 'c'));
  EXPECT_EQ(file->url,
            host.url() +
                "/whl/nightly/triton-3.7.0%2Bgit282c8251-cp312-cp312-"
                "manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl");
}

TEST_F(CompanionsTest, OfWhichAPageHasTwoAreNamedWithThePage) {
  fakes::DownloadHost host;
  CompanionRequest request;
  request.page.url = host.url() + "/whl/nightly/cpu/foo/";
  request.page.pause = std::chrono::milliseconds{1};
  request.file = folder_ / "page";
  request.requirement = "foo";
  request.target = {"cp312", "cp312", "x86_64"};
  host.host("/whl/nightly/cpu/foo/",
            {.content = "<a href=\"foo-1-py3-none-any.whl\">x</a>"
                        "<a href=\"foo-1.0-py3-none-any.whl\">x</a>",
             .etag = "\"1\""});
  auto const file = find_companion(request);
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, ErrorCode::corrupt);
  EXPECT_THAT(file.error().message, HasSubstr("/whl/nightly/cpu/foo/: two files are equally good"));
}

}  // namespace
}  // namespace torchwatch::fetch
