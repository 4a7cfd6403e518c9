#include "storage/base/printable.h"

#include <gmock/gmock.h>

namespace torchwatch {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(printable("loss = 0.5, Ünïcödé, 漢字, \U0001F600"),
            "loss = 0.5, Ünïcödé, 漢字, \U0001F600");
}

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("\x1b[2J\r\b\x7f\a"), "\\x1b[2J\\x0d\\x08\\x7f\\x07");
  EXPECT_EQ(printable(std::string_view{"a\0b", 3}), "a\\x00b");
  EXPECT_EQ(printable("\u009b2J"), "\\u009b2J") << "the same in one character";
}

TEST(Printable, EscapesTheEndOfALine) {
  EXPECT_EQ(printable("one\n2026-11-24 info forged\ttwo"), "one\\n2026-11-24 info forged\\ttwo");
  EXPECT_EQ(printable("\u2028\u2029\u0085"), "\\u2028\\u2029\\u0085");
}

TEST(Printable, EscapesDirectionMarks) {
  EXPECT_EQ(printable("\u202egnp.exe\u202c \u2066 \u200f \u061c"),
            "\\u202egnp.exe\\u202c \\u2066 \\u200f \\u061c");
}

TEST(Printable, EscapesInvalidUtf8) {
  EXPECT_EQ(printable("\xff\xc0\xaf \xe2\x82 \xed\xa0\x80 \xf4\x90\x80\x80"),
            "\\xff\\xc0\\xaf \\xe2\\x82 \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80");
}

TEST(Printable, ReportsTheBytesLeftOut) {
  EXPECT_EQ(printable("abcdef", 3), "abc... (3 bytes more)");
  EXPECT_EQ(printable("ab\u20ac", 4), "ab... (3 bytes more)");
  auto const line = printable(std::string(100'000, 'x'));
  EXPECT_EQ(line, std::string(8192, 'x') + "... (91808 bytes more)");
}

TEST(PrintableLines, StayLines) {
  EXPECT_EQ(printable_lines("one\ntwo\x1b\n\nthree"), "one\ntwo\\x1b\n\nthree");
  EXPECT_EQ(printable_lines("one\n"), "one\n");
  auto const json = std::string(100'000, 'x') + '\n';
  EXPECT_EQ(printable_lines(json), json) << "of any length";
}

}  // namespace
}  // namespace torchwatch
