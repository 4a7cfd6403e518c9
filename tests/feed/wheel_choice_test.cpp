#include "daemon/feed/wheel_choice.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace torchwatch::feed {
namespace {

/// A day of January, and the ABI tags that it has wheels for.
struct Day {
  std::string day;
  std::vector<std::string> abis;
};

std::vector<fetch::Offer> offers_of(std::vector<Day> const& days) {
  std::vector<fetch::PageLink> links;
  for (auto const& [day, abis] : days) {
    for (auto const& abi : abis) {
      auto const name = "torch-2.9.0.dev202601" + day + "+cpu-" + abi.substr(0, abi.find('t')) +
                        "-" + abi + "-manylinux_2_28_x86_64.whl";
      links.push_back({"https://host/" + name, name, "", false});
    }
  }
  return fetch::offers_in(links, {});
}

std::string followed_in(std::vector<Day> const& days) {
  return interpreter_to_follow(offers_of(days)).abi;
}

TEST(InterpreterToFollow, IsTheNewestPythonOfTheOnlyVersion) {
  EXPECT_EQ(followed_in({{"01", {"cp39", "cp310", "cp314", "cp312"}}}), "cp314");
}

TEST(InterpreterToFollow, IsAnOrdinaryOneWhereThereIsOne) {
  EXPECT_EQ(followed_in({{"01", {"cp313", "cp314t"}}}), "cp313");
  EXPECT_EQ(followed_in({{"01", {"cp313t", "cp314t"}}}), "cp314t");
}

TEST(InterpreterToFollow, IsNotJudgedByAVersionThatIsBeingUploaded) {
  EXPECT_EQ(followed_in({{"01", {"cp312", "cp314"}}, {"02", {"cp312"}}}), "cp314");
}

TEST(InterpreterToFollow, IsOneThatMostVersionsHave) {
  EXPECT_EQ(
      followed_in(
          {{"01", {"cp314"}}, {"02", {"cp314", "cp315"}}, {"03", {"cp314"}}, {"04", {"cp314"}}}),
      "cp314");
}

TEST(IsOffered, LooksAtTheNewestWeek) {
  std::vector<Day> days{{"01", {"cp313"}}};
  for (int day = 2; day <= 7; ++day)
    days.push_back({"0" + std::to_string(day), {"cp314"}});
  Interpreter const older{"cp313", "cp313"};
  EXPECT_TRUE(is_offered(older, offers_of(days)));
  days.push_back({"08", {"cp314"}});
  EXPECT_FALSE(is_offered(older, offers_of(days)));
}

TEST(ChooseWheels, HasOneAVersion) {
  auto const choice =
      choose_wheels(offers_of({{"01", {"cp312", "cp313", "cp314"}}, {"02", {"cp310", "cp312"}}}),
                    {"cp313", "cp313"});
  ASSERT_EQ(choice.followed.size(), 1U);
  EXPECT_EQ(choice.followed[0].package.date, "2026-01-01");
  EXPECT_EQ(choice.followed[0].package.python, "cp313");
  ASSERT_EQ(choice.others.size(), 1U);
  EXPECT_EQ(choice.others[0].package.python, "cp312") << "the newest of them";
}

}  // namespace
}  // namespace torchwatch::feed
