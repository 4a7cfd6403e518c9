#include "fetch/marker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::fetch {
namespace {

using testing::HasSubstr;

MarkerEnvironment const here{"3.12", "x86_64", {"cublas", "cu-dnn"}};

bool holds(std::string const& marker) {
  auto const answer = marker_holds(marker, here);
  if (!answer) throw std::invalid_argument(answer.error().message);
  return *answer;
}

TEST(Marker, EmptyOnesAlwaysHold) {
  EXPECT_TRUE(holds(""));
  EXPECT_TRUE(holds("  "));
}

TEST(Marker, KnowsLinuxAndTheMachine) {
  EXPECT_TRUE(holds(R"(platform_system == "Linux" and platform_machine == "x86_64")"));
  EXPECT_FALSE(holds(R"(platform_system == 'Windows')"));
  EXPECT_TRUE(holds(R"("linux" in sys_platform)"));
  EXPECT_TRUE(holds(R"(platform_machine not in "aarch64 arm64")"));
  EXPECT_TRUE(holds(R"(implementation_name=='cpython'and os_name!='nt')"));
}

TEST(Marker, ComparesVersionsAsVersions) {
  EXPECT_TRUE(holds(R"(python_version >= "3.9")"));
  EXPECT_FALSE(holds(R"("3.9" > python_version)"));
  EXPECT_TRUE(holds(R"(python_full_version == "3.12.*")"));
}

TEST(Marker, HoldsForRequestedExtras) {
  EXPECT_TRUE(
      holds(R"((sys_platform == "win32" or sys_platform == "linux") and extra == "cublas")"));
  EXPECT_TRUE(holds(R"('CU_DNN' == extra)"));
  EXPECT_FALSE(holds(R"(extra == "opt-einsum")"));
  EXPECT_TRUE(holds(R"(extra != "opt-einsum")"));
}

TEST(Marker, AndBindsTighterThanOr) {
  EXPECT_TRUE(holds(R"(os_name == "posix" or os_name == "nt" and os_name == "java")"));
  EXPECT_FALSE(holds(R"((os_name == "posix" or os_name == "nt") and os_name == "java")"));
}

TEST(Marker, NamesInvalidParts) {
  auto const refused = [](std::string const& marker) {
    auto const answer = marker_holds(marker, here);
    return answer ? "it holds" : answer.error().message;
  };
  EXPECT_EQ(refused("colour == 'red'"),
            "marker \"colour == 'red'\": found \"colour\", which is not a variable");
  EXPECT_THAT(refused("os_name == 'posix"), HasSubstr("without its closing quote"));
  EXPECT_THAT(refused("os_name 'posix'"), HasSubstr("in the place of a comparison"));
  EXPECT_THAT(refused("(os_name == 'posix'"), HasSubstr("not closed"));
  EXPECT_THAT(refused("os_name == 'posix' os_name"), HasSubstr("after its end"));
  EXPECT_THAT(refused("os_name == %"), HasSubstr("the character '%'"));
  EXPECT_THAT(refused("os_name =="), HasSubstr("which is not a variable"));
  EXPECT_THAT(refused("os_name ~= 'posix'"), HasSubstr("between texts"));
  EXPECT_THAT(refused(std::string(100'000, '(')), HasSubstr("too many brackets"));
}

}  // namespace
}  // namespace torchwatch::fetch
