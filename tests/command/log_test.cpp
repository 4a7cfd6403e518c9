#include "runner/command/log.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/command/child.h"
#include "runner/command/text.h"

namespace torchwatch::command {
namespace {

using testing::EndsWith;

TEST(CommandLog, PassesTheFirstBytesOnAndKeepsTheLast) {
  std::string passed;
  Log log{[&passed](std::string_view text) {
    passed += text;
  }};
  std::string const block(1000, 'x');
  for (std::size_t written = 0; written < 2 * Log::capacity; written += block.size())
    log.add(block);
  log.add("the end");

  EXPECT_EQ(passed.substr(0, Log::capacity), std::string(Log::capacity, 'x'));
  EXPECT_EQ(passed.substr(Log::capacity), "\n[more output is left out]\n") << "once";
  EXPECT_EQ(log.tail().size(), Log::tail_capacity);
  EXPECT_THAT(log.tail(), EndsWith("the end"));
}

TEST(CommandText, HasALastLineThatIsNotBlank) {
  EXPECT_EQ(last_line("first\n  RuntimeError: no kernel \n\n \n"), "RuntimeError: no kernel");
  EXPECT_EQ(last_line("only"), "only");
  EXPECT_EQ(last_line("\n \n"), "");
  EXPECT_EQ(last_line(std::string(500, 'x')), std::string(180, 'x') + "...");
}

TEST(CommandStatus, OfSuccessIsNoError) {
  EXPECT_TRUE(check_status(0, "a warning").has_value());
}

TEST(CommandStatus, NamesStatusAndLastLine) {
  EXPECT_EQ(check_status(3 << 8, "a\nb\n").error().message, "exit status 3: b");
  EXPECT_EQ(check_status(1 << 8, "").error().message, "exit status 1; it printed no reason");
  EXPECT_EQ(check_status(11, "").error().message,
            "killed by SIGSEGV (Segmentation fault); it printed no reason");
}

TEST(CommandStatus, Of125MeansUnsupported) {
  EXPECT_EQ(check_status(125 << 8, "no GPU").error().code, ErrorCode::refused);
  EXPECT_EQ(check_status(126 << 8, "no GPU").error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace torchwatch::command
