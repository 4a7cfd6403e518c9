#include "fetch/version.h"

#include <gtest/gtest.h>

namespace torchwatch::fetch {
namespace {

Version version(std::string const& text) {
  auto const parsed = Version::parse(text);
  if (!parsed) throw std::invalid_argument(text + " is no version");
  return *parsed;
}

bool is_in(std::string const& text, std::string const& range) {
  auto const parsed = VersionRange::parse(range);
  if (!parsed) throw std::invalid_argument(parsed.error().message);
  return parsed->holds(version(text));
}

TEST(Version, IsOrderedByAge) {
  std::vector<std::string> const by_age{"0.9",
                                        "1.0.dev456",
                                        "1.0a1.dev3",
                                        "1.0a1",
                                        "1.0a2",
                                        "1.0b1",
                                        "1.0rc1.dev4",
                                        "1.0rc1",
                                        "1.0",
                                        "1.0+abc.5",
                                        "1.0+abc.7",
                                        "1.0+5",
                                        "1.0.post456.dev34",
                                        "1.0.post456",
                                        "1.0.15",
                                        "1.1.dev1",
                                        "13.0.9",
                                        "13.0.48",
                                        "1!0.1"};
  for (std::size_t older = 0; older < by_age.size(); ++older)
    for (auto newer = older + 1; newer < by_age.size(); ++newer)
      EXPECT_LT(version(by_age[older]), version(by_age[newer]))
          << by_age[older] << " " << by_age[newer];
}

TEST(Version, OfDevelopmentIsOlderForAnyNumber) {
  EXPECT_LT(version("1.0.dev1000000000"), version("1.0"));
  EXPECT_LT(version("1.0.dev2147483646"), version("1.0"));
  EXPECT_FALSE(Version::parse("1.0.dev2147483647"));
}

TEST(Version, HasManySpellings) {
  EXPECT_EQ(version("1.0"), version("1.0.0"));
  EXPECT_EQ(version("v1.0-RC_2"), version("1.0c2"));
  EXPECT_EQ(version("1.0-3"), version("1.0.post3"));
  EXPECT_EQ(version("1.0.rev"), version("1.0.post0"));
  EXPECT_EQ(version("1.0+Ubuntu-1"), version("1.0+ubuntu.1"));
}

TEST(Version, InvalidTextsAreRefused) {
  for (auto const* const text : {"",
                                 "latest",
                                 "1.",
                                 ".1",
                                 "1..2",
                                 "1.0+",
                                 "1.0+a b",
                                 "1.0 beta gamma",
                                 "99999999999999999999",
                                 "1.99999999999999999999"})
    EXPECT_FALSE(Version::parse(text).has_value()) << text;
  EXPECT_FALSE(Version::parse(std::string(100'000, '1')).has_value());
}

TEST(VersionRange, EqualityIgnoresLocalParts) {
  EXPECT_TRUE(is_in("3.5.0+gitabc", "==3.5.0"));
  EXPECT_FALSE(is_in("3.5.0", "==3.5.0+gitabc"));
  EXPECT_FALSE(is_in("3.5.0.post1", "==3.5.0"));
  EXPECT_FALSE(is_in("3.5.0+gitabc", "!=3.5"));
}

TEST(VersionRange, PrefixesMatchWholeNumbers) {
  EXPECT_TRUE(is_in("13.0.96", "==13.0.96.*"));
  EXPECT_TRUE(is_in("13.0.96.1", "==13.0.96.*"));
  EXPECT_TRUE(is_in("13", "==13.0.*"));
  EXPECT_FALSE(is_in("13.0.960", "==13.0.96.*"));
  EXPECT_TRUE(is_in("13.1", "!=13.0.*"));
}

TEST(VersionRange, HasLimits) {
  EXPECT_TRUE(is_in("2.9.1", ">=2.9,<3,!=2.9.2"));
  EXPECT_FALSE(is_in("2.9.2", ">=2.9,<3,!=2.9.2"));
  EXPECT_FALSE(is_in("3.0rc1", "<3"));
  EXPECT_TRUE(is_in("3.0rc1", "<3.0rc2"));
  EXPECT_FALSE(is_in("2.9.post1", ">2.9"));
  EXPECT_TRUE(is_in("2.9+cu126", "<=2.9"));
  EXPECT_TRUE(is_in("2.9.5", "~=2.9.1"));
  EXPECT_FALSE(is_in("2.10", "~=2.9.1"));
  EXPECT_TRUE(is_in("2.10", "~=2.9"));
  EXPECT_TRUE(is_in("0.1", " "));
}

TEST(VersionRange, NamesInvalidClauses) {
  auto const range = VersionRange::parse(">=1,=>2");
  ASSERT_FALSE(range.has_value());
  EXPECT_EQ(range.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(range.error().message, "\"=>2\" is not a range of versions");
}

}  // namespace
}  // namespace torchwatch::fetch
