#include "github/markdown.h"

#include <gtest/gtest.h>

namespace torchwatch::github {
namespace {

TEST(Markdown, ShowsForeignTextAsCodeOnOneLine) {
  EXPECT_EQ(verbatim("  Fix\r\n\x01 @torch/perf  #123 "), "`Fix @torch/perf #123`");
  EXPECT_EQ(verbatim(" \n"), "-");
}

TEST(Markdown, KeepsBackticksAndPipesFromEndingCodeAndCells) {
  auto const shown = verbatim("a|b `c` @user <!-- ");
  EXPECT_EQ(shown, "<code>a&#124;b &#96;c&#96; &#64;user &#60;&#33;&#45;&#45;</code>");
}

TEST(Markdown, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(one_line("caf\xe9\n\u00fc \xe2\x82"), "caf\\xe9 \u00fc \\xe2\\x82");
  EXPECT_EQ(verbatim("caf\xe9"), "`caf\\xe9`");
}

TEST(Markdown, EscapesWhatTurnsTheDirectionOfWritingAround) {
  EXPECT_EQ(one_line("\u202egnp.exe\u202c"), "\\u202egnp.exe\\u202c");
  EXPECT_EQ(verbatim("\u2066a\u2069"), "`\\u2066a\\u2069`");
  EXPECT_EQ(verbatim("\u200f|"), "<code>&#92;u200f&#124;</code>");
}

TEST(Markdown, KeepsOnlyTheNamesOfFilesOfAHost) {
  EXPECT_EQ(without_directories("recipe: exit status 1, see /srv/state/logs/build-a.log"),
            "recipe: exit status 1, see build-a.log");
  EXPECT_EQ(without_directories("git /srv/pytorch.git/: '/tmp/a b' (/usr/lib:/opt/x)"),
            "git pytorch.git: 'a b' (lib:x)");
  EXPECT_EQ(without_directories("/"), "/");
  for (auto const* const text : {"https://example.org/a/b?c", "1/2 and/or a / b", "</details>", ""})
    EXPECT_EQ(without_directories(text), text);
}

TEST(Markdown, QuotesForTheShell) {
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

TEST(Markdown, DrawsTables) {
  EXPECT_EQ(table({"a", "b"}, {{"1", "2"}}), "| a | b |\n| --- | --- |\n| 1 | 2 |\n");
}

TEST(Markdown, FoldsTextUnderATitle) {
  EXPECT_EQ(folded("Builds", "two\n", 1000),
            "<details><summary>Builds</summary>\n\ntwo\n\n</details>\n\n");
}

TEST(Markdown, CutsFoldedTextInside) {
  auto const text = folded("Builds", std::string(2000, 'x'), 1000);
  EXPECT_EQ(text.size(), 1000U);
  EXPECT_TRUE(text.ends_with("characters.*\n\n</details>\n\n"));
  EXPECT_EQ(folded("Builds", std::string(2000, 'x'), 300), "");
  EXPECT_EQ(folded("Builds", "two\n", 50), "");
}

TEST(Markdown, ClipsBetweenCodePoints) {
  EXPECT_EQ(clip("abc", 3), "abc");
  EXPECT_EQ(clip("a\xE2\x82\xAC", 3), "a");
  EXPECT_EQ(clip("a\xE2\x82\xAC!", 4), "a\xE2\x82\xAC");
  EXPECT_EQ(clip("\xE2\x82\xAC", 2), "");
}

}  // namespace
}  // namespace torchwatch::github
