#include "daemon/cli/bisection_text.h"

#include <string>

#include <gmock/gmock.h>

namespace torchwatch::cli {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

std::string told(std::string const& kind, std::size_t suspects) {
  ordered_json finding{{"kind", kind}, {"suspects", ordered_json::array()}};
  for (std::size_t i = 0; i < suspects; ++i)
    finding["suspects"].push_back({{"sha", std::string(40, 'a')}, {"subject", "Change"}});
  testing::internal::CaptureStdout();
  print_bisection({{"id", 1},
                   {"state", "done"},
                   {"outcome", "range"},
                   {"findings", {finding}},
                   {"packages", nullptr}});
  return testing::internal::GetCapturedStdout();
}

TEST(BisectionText, OnlyAProofAccuses) {
  EXPECT_THAT(told("culprit", 1), HasSubstr("culprit:"));
  EXPECT_THAT(told("range", 1), HasSubstr("most likely, not proved:"));
  EXPECT_THAT(told("range", 2), HasSubstr("range, of which one is the culprit:"));
  EXPECT_THAT(told("layout", 1), HasSubstr("one build, not the commit:"));
}

TEST(BisectionText, ACommitMayNotBeKnownYet) {
  EXPECT_EQ(short_sha(std::string(40, 'a')), "aaaaaaaaaaaa");
  EXPECT_EQ(short_sha(nullptr), "-");
}

}  // namespace
}  // namespace torchwatch::cli
