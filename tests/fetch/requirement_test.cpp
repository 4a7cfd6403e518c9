#include "fetch/requirement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::fetch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Requirement, HasNameExtrasVersionsAndMarker) {
  auto const requirement =
      parse_requirement(R"(CUDA_toolkit [cuBLAS, cudart] ==13.0.2 ; platform_system == "Linux")");
  ASSERT_TRUE(requirement.has_value()) << requirement.error().message;
  EXPECT_EQ(requirement->name, "cuda-toolkit");
  EXPECT_THAT(requirement->extras, ElementsAre("cublas", "cudart"));
  EXPECT_EQ(requirement->text, "CUDA_toolkit [cuBLAS, cudart] ==13.0.2");
  EXPECT_EQ(requirement->marker, R"(platform_system == "Linux")");
  EXPECT_TRUE(requirement->versions.holds(*Version::parse("13.0.2")));
  EXPECT_FALSE(requirement->versions.holds(*Version::parse("13.0.3")));
}

TEST(Requirement, MayBeANameAlone) {
  auto const requirement = parse_requirement("jinja2");
  ASSERT_TRUE(requirement.has_value());
  EXPECT_EQ(requirement->name, "jinja2");
  EXPECT_THAT(requirement->marker, IsEmpty());
}

TEST(Requirement, MayHaveItsVersionsInBrackets) {
  auto const requirement = parse_requirement("nvidia-nccl-cu12 (>=2.20,<3)");
  ASSERT_TRUE(requirement.has_value());
  EXPECT_TRUE(requirement->versions.holds(*Version::parse("2.27.5")));
  EXPECT_FALSE(requirement->versions.holds(*Version::parse("3.0")));
}

TEST(Requirement, InvalidTextsAreRefused) {
  for (auto const* const text : {"",
                                 "-e .",
                                 "nvidia-nccl @ https://host/nccl.whl",
                                 "nvidia-nccl 2.20",
                                 "a[b",
                                 "a (>=1",
                                 "a-",
                                 "nvidia-nccl => 2"}) {
    auto const requirement = parse_requirement(text);
    ASSERT_FALSE(requirement.has_value()) << text;
    EXPECT_EQ(requirement.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_FALSE(parse_requirement(std::string(1'000'000, 'a')).has_value());
  EXPECT_FALSE(parse_requirement("a" + std::string(1900, ' ') + "@").has_value()) << "at once";
}

TEST(Requirement, NamesAreCanonical) {
  EXPECT_EQ(canonical_name("NVIDIA__cuBLAS.-cu12"), "nvidia-cublas-cu12");
}

}  // namespace
}  // namespace torchwatch::fetch
