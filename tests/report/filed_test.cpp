#include "github/filed.h"

#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>

#include "tests/report/publishing.h"

// The report as it was filed, compared with what GitHub and the file have.
namespace torchwatch::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Kind = IncidentEventKind;
using State = IncidentState;

class FiledReportTest : public testing::Test, public Publishing {
 protected:
  std::string filed() { return github::filed_report(store->outbox().of(IncidentId{1})); }

  void happen_and_send(Kind kind, State state) {
    clock.time += std::chrono::hours{24};
    happen(kind, state);
    send_all();
  }

  /// The report, put together from the issue that GitHub has.
  std::string at_github() const {
    auto text = "# " + issue().at("title").get<std::string>() + "\n\n" +
                issue().at("body").get<std::string>();
    for (auto const& comment : comments())
      text += "\n---\n\n" + comment;
    return text;
  }
};

TEST_F(FiledReportTest, IsEmptyBeforeAnythingWasDelivered) {
  EXPECT_EQ(filed(), "");
  open_incident();
  EXPECT_EQ(filed(), "") << "the message waits";
}

TEST_F(FiledReportTest, EqualsTheIssueAfterEachEvent) {
  open_incident();
  send_all();
  EXPECT_EQ(filed(), at_github());
  for (auto const& [kind, state] : {std::pair{Kind::explained, State::explained},
                                    std::pair{Kind::fix_expected, State::fix_expected},
                                    std::pair{Kind::partly_fixed, State::partly_fixed},
                                    std::pair{Kind::fixed, State::fixed},
                                    std::pair{Kind::returned, State::returned},
                                    std::pair{Kind::ruled, State::accepted}}) {
    happen_and_send(kind, state);
    EXPECT_EQ(filed(), at_github()) << to_string(kind);
  }
  EXPECT_FALSE(comments().empty());
}

TEST_F(FiledReportTest, LeavesOutWhatWaits) {
  open_incident();
  send_all();
  auto const before = filed();
  happen(Kind::explained, State::explained);
  EXPECT_EQ(filed(), before);
}

TEST_F(FiledReportTest, HasADescriptionThatBecameACommentAsThatComment) {
  open_incident();
  send_all();
  auto const first = issue().at("body").get<std::string>();
  change({{"changed", {{"1", {{"body", "edited by a user"}}}}}});
  happen_and_send(Kind::explained, State::explained);

  auto const text = filed();

  EXPECT_THAT(text, HasSubstr(first)) << "the last description that torchwatch wrote";
  EXPECT_THAT(text, Not(HasSubstr("edited by a user\n")));
  for (auto const& comment : comments())
    EXPECT_THAT(text, HasSubstr("\n---\n\n" + comment));
}

TEST_F(FiledReportTest, LeavesOutMessagesToOtherDestinations) {
  options.publish.email.to = {"perf@example.org"};
  options.publish.email.from = "torchwatch@example.org";
  options.publish.email.sendmail = "/bin/true";
  open_incident();
  send_all();
  EXPECT_EQ(filed(), at_github());
}

TEST_F(FiledReportTest, EqualsTheFileWithoutARepository) {
  options.github.repository.clear();
  open_incident();
  happen(Kind::fixed, State::fixed);
  send_all();
  std::ifstream file{store->incidents().find(IncidentId{1}).value().report};
  std::string const written{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_THAT(written, StartsWith("# "));
  EXPECT_EQ(filed(), written);
}

}  // namespace
}  // namespace torchwatch::report
