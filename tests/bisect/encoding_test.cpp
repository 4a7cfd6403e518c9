#include "bisect/git/encoding.h"

#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

TEST(Utf8Of, ConvertsFromTheCharacterSetOfTheHeader) {
  EXPECT_EQ(utf8_of("caf\xe9 (#7)", "ISO-8859-1"), "caf\u00e9 (#7)");
  EXPECT_EQ(utf8_of("caf\xe9 (#7)", "latin1"), "caf\u00e9 (#7)");
  EXPECT_EQ(utf8_of("\x80 5", "windows-1252"), "\u20ac 5");
  EXPECT_EQ(utf8_of("\xc4\xe3\xba\xc3", "GBK"), "\u4f60\u597d");
  EXPECT_EQ(utf8_of("caf\u00e9", "UTF-8"), "caf\u00e9");
  EXPECT_EQ(utf8_of(std::string(100'000, '\xe9'), "ISO-8859-1").size(), 200'000U);
  EXPECT_EQ(utf8_of("", "ISO-8859-1"), "");
}

TEST(Utf8Of, KeepsTheTextWithoutAKnownCharacterSet) {
  EXPECT_EQ(utf8_of("caf\xe9", ""), "caf\xe9");
  EXPECT_EQ(utf8_of("caf\xe9", "no such set"), "caf\xe9");
}

TEST(Utf8Of, KeepsATextThatIsInvalidInTheCharacterSet) {
  EXPECT_EQ(utf8_of("caf\xe9", "UTF-8"), "caf\xe9");
  EXPECT_EQ(utf8_of("caf\xe9", "US-ASCII"), "caf\xe9");
}

}  // namespace
}  // namespace torchwatch::bisect
