#include "runner/process/excerpt.h"

#include <string>

#include <gtest/gtest.h>

namespace torchwatch::process {

TEST(Excerpt, KeepsPrintableText) {
  EXPECT_EQ(excerpt("loss = 0.5"), "loss = 0.5");
}

TEST(Excerpt, EscapesTerminalControls) {
  EXPECT_EQ(excerpt(std::string_view{"\x1b[2J\0\xff", 6}), "\\x1b[2J\\x00\\xff");
}

TEST(Excerpt, IsShort) {
  auto const shown = excerpt(std::string(1000, 'x'));
  EXPECT_EQ(shown, std::string(180, 'x') + "... (820 bytes more)");
}

TEST(LastLines, JoinsTheLastThreeThatAreNotBlank) {
  EXPECT_EQ(last_lines("one\ntwo\n\n  \nthree\nfour\n\n"), "two | three | four");
}

TEST(LastLines, TakesALineThatWasNotFinished) {
  EXPECT_EQ(last_lines("first\nsecond"), "first | second");
}

TEST(LastLines, IsEmptyForBlankText) {
  EXPECT_EQ(last_lines(""), "");
  EXPECT_EQ(last_lines("\n \n"), "");
}

}  // namespace torchwatch::process
