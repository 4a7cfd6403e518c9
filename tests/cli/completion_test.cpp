#include "daemon/cli/completion.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::tests {
namespace {

using cli::completions;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A program with a command that has one of its own.
class Completion : public ::testing::Test {
 protected:
  Completion() {
    app_.add_option("--config", file_, "");
    auto* const builds = app_.add_subcommand("builds", "");
    builds->add_flag("--json", as_json_, "");
    builds->add_subcommand("pin", "")->add_option("--who", who_, "");
    app_.add_subcommand("bench", "");
    app_.add_subcommand("hidden", "")->group("");
  }

  std::string file_;
  std::string who_;
  bool as_json_ = false;
  CLI::App app_;
};

TEST_F(Completion, OffersCommandsAndFlags) {
  EXPECT_THAT(completions(app_, {""}), ElementsAre("builds", "bench", "--help", "--config"));
  EXPECT_THAT(completions(app_, {}), ElementsAre("builds", "bench", "--help", "--config"));
}

TEST_F(Completion, OffersWhatIsBegunAlike) {
  EXPECT_THAT(completions(app_, {"b"}), ElementsAre("builds", "bench"));
  EXPECT_THAT(completions(app_, {"--c"}), ElementsAre("--config"));
  EXPECT_THAT(completions(app_, {"x"}), IsEmpty());
  EXPECT_THAT(completions(app_, {"hid"}), IsEmpty());
}

TEST_F(Completion, GoesIntoCommands) {
  EXPECT_THAT(completions(app_, {"builds", ""}), ElementsAre("pin", "--help", "--json"));
  EXPECT_THAT(completions(app_, {"builds", "--json", "pin", "--w"}), ElementsAre("--who"));
}

TEST_F(Completion, LeavesValuesToTheShell) {
  EXPECT_THAT(completions(app_, {"--config", ""}), IsEmpty());
  EXPECT_THAT(completions(app_, {"--config", "builds", "be"}), ElementsAre("bench"));
}

}  // namespace
}  // namespace torchwatch::tests
