#include "github/commands.h"

#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "github/markdown.h"
#include "github/reply.h"

namespace torchwatch::github {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(Commands, AreLinesThatBeginWithTorchwatch) {
  EXPECT_THAT(command_lines("/torchwatch status"), ElementsAre("status"));
  EXPECT_THAT(command_lines("Thanks!\n/torchwatch   accept it is *worth* it \nBye"),
              ElementsAre("accept it is *worth* it"));
  EXPECT_THAT(command_lines("/torchwatch status\r\n/torchwatch mute 14d\r\n"),
              ElementsAre("status", "mute 14d"));
  EXPECT_THAT(command_lines("/torchwatch"), ElementsAre(""));
  EXPECT_THAT(command_lines("> why?\n\n/torchwatch status"), ElementsAre("status"));
  EXPECT_THAT(command_lines("/torchwatch accept because of `foo` and <b>bar</b>"),
              ElementsAre("accept because of `foo` and <b>bar</b>"));
}

TEST(Commands, MayBeFollowedByASignature) {
  EXPECT_THAT(command_lines("/torchwatch status\n--\nAda"), ElementsAre("status"));
  EXPECT_THAT(command_lines("/torchwatch status\n---"), ElementsAre("status"));
}

TEST(Commands, BeginALineAndEndAWord) {
  for (auto const* const text : {"please /torchwatch status",
                                 " x/torchwatch status",
                                 "/torchwatching status",
                                 "\\/torchwatch status",
                                 "**/torchwatch status**",
                                 "- /torchwatch status",
                                 "1. /torchwatch status",
                                 "# /torchwatch status",
                                 "[/torchwatch status](https://example.org)"})
    EXPECT_THAT(command_lines(text), IsEmpty()) << text;
}

TEST(Commands, InCodeQuotationsAndHiddenTextAreNone) {
  for (auto const* const text : {"```\n/torchwatch status\n```",
                                 "~~~sh\n/torchwatch status\n~~~",
                                 "```\n/torchwatch status",
                                 "    /torchwatch status",
                                 "`\n/torchwatch status\n`",
                                 "see `code\n/torchwatch status` here",
                                 "> /torchwatch status",
                                 "> quoted\n/torchwatch status",
                                 "<!--\n/torchwatch status\n-->",
                                 "text <!-- hidden\n/torchwatch status\n-->",
                                 "<details>\n/torchwatch status\n</details>",
                                 "<a title='\n/torchwatch status\n'>x</a>",
                                 "*emphasis\n/torchwatch status*",
                                 "- item\n/torchwatch status",
                                 "[a]:\n/torchwatch\n"})
    EXPECT_THAT(command_lines(text), IsEmpty()) << text;
}

TEST(Commands, AreFoundNextToCode) {
  EXPECT_THAT(command_lines("```\n/torchwatch mute 1d\n```\n/torchwatch status\n> /torchwatch x\n"),
              ElementsAre("status"));
  EXPECT_THAT(command_lines("torchwatchline0\n/torchwatch status"), ElementsAre("status"));
}

/// A comment of random pieces, in which each command stands in code, a quotation or hidden text.
class HidingComment {
 public:
  explicit HidingComment(unsigned seed) : random_{seed} {}

  std::string text() {
    std::string text;
    auto const parts = 1 + pick(6);
    for (unsigned i = 0; i < parts; ++i)
      text += part() + "\n\n";
    return text;
  }

 private:
  unsigned pick(unsigned count) { return static_cast<unsigned>(random_()) % count; }

  std::string command() {
    std::vector<std::string> const commands{
        "status", "accept a *reason*", "false-alarm `x`", "mute 14d", "", "rebisect a..b"};
    return "/torchwatch " + commands[pick(static_cast<unsigned>(commands.size()))];
  }

  std::string plain() {
    std::vector<std::string> const texts{"Thanks!", "a | b", "see #12", "\xC3\xA9t\xC3\xA9", "x<y"};
    return texts[pick(static_cast<unsigned>(texts.size()))];
  }

  std::string part() {
    auto const line = command();
    switch (pick(7)) {
      case 0:
        return "```\n" + line + "\n" + plain() + "\n```";
      case 1:
        return "> " + plain() + "\n> " + line;
      case 2:
        return "<!-- " + plain() + "\n" + line + "\n-->";
      case 3:
        return "~~~~\n```\n" + line + "\n```\n~~~~";
      case 4:
        return "    " + line + "\n    " + plain();
      case 5:
        return "> > " + plain() + "\n" + line;
      default:
        return plain() + " ``" + plain() + "\n" + line + "\n``";
    }
  }

  std::mt19937 random_;
};

TEST(Commands, InsideAnyCodeOrQuotationAreNone) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    auto const text = HidingComment{seed}.text();
    EXPECT_THAT(command_lines(text), IsEmpty()) << seed << "\n" << text;
    EXPECT_THAT(command_lines(text + "/torchwatch status"), ElementsAre("status")) << seed << "\n"
                                                                                   << text;
  }
}

TEST(Commands, AreRead) {
  EXPECT_EQ(parse_command("status")->kind, CommandKind::status);
  EXPECT_EQ(parse_command("accept  it is worth it")->reason, "it is worth it");
  EXPECT_EQ(parse_command("false-alarm the host was busy")->kind, CommandKind::false_alarm);
  EXPECT_EQ(parse_command("mute 14d")->days, 14);
  EXPECT_EQ(parse_command("rebisect")->start, "");
  auto const dates = parse_command("rebisect 2026-01-01..2026-01-02");
  EXPECT_EQ(dates->start, "2026-01-01");
  EXPECT_EQ(dates->end, "2026-01-02");
  auto const commits = std::string(40, 'a') + ".." + std::string(40, 'b');
  EXPECT_EQ(parse_command("rebisect " + commits)->end, std::string(40, 'b'));
}

/// The answer to a line that is not a command.
std::string answer_to(std::string const& line) {
  auto const command = parse_command(line);
  return command ? "a command" : refusal_of(line, command.error());
}

TEST(Commands, ThatAreUnknownGetOneAnswerWithAnExample) {
  EXPECT_EQ(answer_to("acept x"),
            "`/torchwatch acept x` was not understood. Found: `acept`. Allowed: rebisect [A..B], "
            "accept REASON, false-alarm REASON, mute 14d, status. Example: `/torchwatch accept the "
            "new check is worth its cost`.");
  EXPECT_THAT(answer_to(""), HasSubstr("Found: `no command`."));
  EXPECT_THAT(answer_to("Accept x"), HasSubstr("Found: `Accept`."));
}

TEST(Commands, WithoutAReasonAreRefused) {
  EXPECT_EQ(answer_to("accept"),
            "`/torchwatch accept` was not understood. Found: `accept without a reason`. Allowed: a "
            "reason on the same line. Example: `/torchwatch accept the new check is worth its "
            "cost`.");
  EXPECT_THAT(answer_to("false-alarm  "), HasSubstr("`/torchwatch false-alarm the host was busy`"));
}

TEST(Commands, WithWrongValuesAreRefused) {
  for (auto const* const line : {"mute", "mute 14", "mute 0d", "mute 366d", "mute -1d", "mute xd"})
    EXPECT_THAT(answer_to(line), HasSubstr("Allowed: 1d to 365d.")) << line;
  for (auto const* const line : {"rebisect abc",
                                 "rebisect a..b",
                                 "rebisect 2026-01-01",
                                 "rebisect 2026-01-01...2026-01-02",
                                 "rebisect 2026-01-01..2026-01-01",
                                 "rebisect 2026-01-01..2026-13-02"})
    EXPECT_THAT(answer_to(line), HasSubstr("the date of a nightly. Example:")) << line;
  EXPECT_THAT(answer_to("status please"), HasSubstr("Allowed: nothing after status."));
}

TEST(Commands, OfStrangersStayCode) {
  EXPECT_THAT(answer_to("@ada `x` | <b>"), Not(HasSubstr(" @ada")));
}

TEST(Replies, AreNeverCommands) {
  EXPECT_THAT(command_lines(answer_to("foo")), IsEmpty());
  EXPECT_THAT(command_lines(question_after_closing("ada")), IsEmpty());
}

TEST(Replies, BeginWithTheirMarker) {
  auto const draft = draft_reply(7, "accepted.");
  EXPECT_THAT(draft.body, StartsWith(draft.marker + "\naccepted."));
  EXPECT_TRUE(has_own_marker(draft.body));
  EXPECT_FALSE(has_own_marker("/torchwatch status"));
  EXPECT_LE(draft_reply(7, std::string(70'000, 'x')).body.size(), max_body_bytes);
}

}  // namespace
}  // namespace torchwatch::github
