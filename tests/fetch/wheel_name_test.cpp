#include "fetch/wheel_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::fetch {
namespace {

WheelTarget const cp312{"cp312", "cp312", "x86_64"};

std::optional<TagRank> rank(std::string const& tag, WheelTarget const& python = cp312) {
  return rank_of(tags_in(tag), python);
}

TEST(WheelName, HasItsParts) {
  auto const triton = parse_wheel_name(
      "triton-3.7.0+git88b227e2-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl");
  ASSERT_TRUE(triton.has_value());
  EXPECT_EQ(triton->name, "triton");
  EXPECT_EQ(triton->version_text, "3.7.0+git88b227e2");
  EXPECT_EQ(triton->build, std::pair(0, std::string{}));
  ASSERT_EQ(triton->tags.size(), 2U);
  EXPECT_EQ(triton->tags[1].python, "cp312");
  EXPECT_EQ(triton->tags[1].abi, "cp312");
  EXPECT_EQ(triton->tags[1].platform, "manylinux_2_28_x86_64");
}

TEST(WheelName, HasTheCanonicalNameOfItsPackage) {
  EXPECT_EQ(parse_wheel_name("MarkupSafe-3.0.2-cp312-cp312-linux_x86_64.whl")->name, "markupsafe");
  EXPECT_EQ(parse_wheel_name("typing_extensions-4.15.0-py3-none-any.whl")->name,
            "typing-extensions");
  EXPECT_EQ(parse_wheel_name("Jinja2-3.1.6-py3-none-any.whl")->name, "jinja2");
}

TEST(WheelName, HasABuildNumber) {
  EXPECT_EQ(parse_wheel_name("foo-1.0-12-py3-none-any.whl")->build, std::pair(12, std::string{}));
  EXPECT_EQ(parse_wheel_name("foo-1.0-2b-py3-none-any.whl")->build, std::pair(2, std::string{"b"}));
}

TEST(WheelName, OtherNamesHaveNone) {
  for (auto const* const name : {"sympy-1.14.0.tar.gz",
                                 "sympy-1.14.0-py3-none.whl",
                                 "sympy-oops-py3-none-any.whl",
                                 "a-1-2-3-py3-none-any.whl",
                                 ".whl",
                                 ""})
    EXPECT_FALSE(parse_wheel_name(name).has_value()) << name;
}

TEST(WheelTags, OfThisPythonOrAnyFit) {
  for (auto const* const tag : {"cp312-cp312-manylinux_2_28_x86_64",
                                "cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64",
                                "cp312-cp312-linux_x86_64",
                                "cp39-abi3-manylinux_2_17_x86_64",
                                "cp312-abi3-manylinux1_x86_64",
                                "cp312-none-any",
                                "py3-none-manylinux_2_27_x86_64",
                                "py2.py3-none-any",
                                "py310-none-any",
                                "py3-none-any"})
    EXPECT_TRUE(rank(tag)) << tag;
}

TEST(WheelTags, OfOtherPythonsAndMachinesDoNotFit) {
  for (auto const* const tag : {"cp311-cp311-manylinux_2_28_x86_64",
                                "cp313-cp313-manylinux_2_28_x86_64",
                                "cp312-cp312t-manylinux_2_28_x86_64",
                                "cp313-abi3-manylinux_2_28_x86_64",
                                "cp311-none-any",
                                "py313-none-any",
                                "py2-none-any",
                                "pp310-pypy310_pp73-manylinux_2_28_x86_64",
                                "cp312-cp312-manylinux_2_28_aarch64",
                                "cp312-cp312-musllinux_1_2_x86_64",
                                "cp312-cp312-macosx_11_0_arm64",
                                "cp312-cp312-win_amd64",
                                "py3-none",
                                ""})
    EXPECT_FALSE(rank(tag)) << tag;
}

TEST(WheelTags, OfFreeThreadedPythonAreItsOwn) {
  WheelTarget const cp313t{"cp313", "cp313t", "aarch64"};
  EXPECT_TRUE(rank("cp313-cp313t-manylinux_2_28_aarch64", cp313t));
  EXPECT_FALSE(rank("cp313-cp313-manylinux_2_28_aarch64", cp313t));
  EXPECT_FALSE(rank("cp39-abi3-manylinux_2_28_aarch64", cp313t));
  EXPECT_TRUE(rank("py3-none-any", cp313t));
}

TEST(WheelTags, AreBetterTheCloserTheyAre) {
  for (auto const& [better, worse] : {
           std::pair{"cp312-cp312-manylinux_2_28_x86_64", "cp312-abi3-manylinux_2_28_x86_64"},
           std::pair{"cp312-abi3-manylinux_2_28_x86_64", "cp39-abi3-manylinux_2_28_x86_64"},
           std::pair{"cp39-abi3-manylinux_2_28_x86_64", "cp312-none-any"},
           std::pair{"py3-none-manylinux_2_27_x86_64", "py3-none-any"},
           std::pair{"cp312-cp312-manylinux2014_x86_64", "cp312-cp312-manylinux_2_28_x86_64"},
           std::pair{"cp312-cp312-manylinux_2_34_x86_64", "cp312-cp312-linux_x86_64"},
       })
    EXPECT_GT(rank(better), rank(worse)) << better << " and " << worse;
}

TEST(WheelTags, AreAlikeWithoutAPython) {
  WheelTarget const any{"", "", "x86_64"};
  EXPECT_EQ(rank("cp311-cp311-manylinux_2_28_x86_64", any), rank("py3-none-any", any));
  EXPECT_FALSE(rank("py3-none-manylinux_2_27_aarch64", any));
}

TEST(WheelTags, NameTheFilesOfOneVersion) {
  EXPECT_EQ(variant_of(tags_in("cp313-cp313t-linux_x86_64")), "cp313t");
  EXPECT_EQ(variant_of(tags_in("cp39-abi3-linux_x86_64")), "cp39");
  EXPECT_EQ(variant_of(tags_in("cp312-none-any")), "cp312");
  EXPECT_EQ(variant_of(tags_in("py3-none-manylinux_2_27_x86_64")), "");
  EXPECT_EQ(variant_of({}), "");
}

TEST(WheelTags, OfCPythonHaveAVersion) {
  EXPECT_EQ(python_version_of("cp312"), "3.12");
  EXPECT_EQ(python_version_of("py3"), "");
  EXPECT_EQ(python_version_of("cp3"), "");
}

TEST(WheelTags, AreCompiledForExactlyOnePython) {
  EXPECT_TRUE(is_compiled_for(tags_in("cp312-cp312-linux_x86_64"), cp312));
  EXPECT_FALSE(is_compiled_for(tags_in("cp39-abi3-linux_x86_64"), cp312));
  EXPECT_FALSE(is_compiled_for(tags_in("py3-none-any"), cp312));
}

}  // namespace
}  // namespace torchwatch::fetch
