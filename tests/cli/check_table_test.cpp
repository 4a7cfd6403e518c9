#include "daemon/cli/check_table.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace torchwatch::cli {
namespace {

setup::Check check(std::string what, bool is_good, std::string found, double seconds) {
  setup::Check result;
  result.what = std::move(what);
  result.is_good = is_good;
  result.found = std::move(found);
  result.seconds = std::chrono::duration<double>{seconds};
  return result;
}

std::vector<setup::Check> const checks{check("feed", true, "60 nightlies", 0.25),
                                       check("fleet a100", false, "no hello", 120)};

TEST(CheckTable, HasOneLinePerCheck_InColumns) {
  EXPECT_EQ(table_of(checks),
            "feed        good    0.2 s  60 nightlies\n"
            "fleet a100  bad   120.0 s  no hello\n");
}

TEST(CheckTable, OfFindingWithLineBreak_IsOneLine) {
  EXPECT_EQ(table_of({check("feed", true, "2.9\nfleet  good", 0.25)}),
            "feed  good    0.2 s  2.9\\nfleet  good\n");
}

TEST(CheckTable, IsGoodWhenEveryCheckIs) {
  EXPECT_FALSE(are_good(checks));
  EXPECT_TRUE(are_good({checks.front()}));
}

TEST(CheckTable, AsJson_HasTheSameChecks) {
  auto const json = json_of(checks);
  EXPECT_EQ(json.at("is_good"), false);
  EXPECT_EQ(json.at("checks").at(1).dump(),
            R"({"what":"fleet a100","is_good":false,"found":"no hello","seconds":120.0})");
}

}  // namespace
}  // namespace torchwatch::cli
