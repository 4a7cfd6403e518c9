#include "daemon/cli/incident_text.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>

namespace torchwatch::cli {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// 2026-01-05T03:04:05Z.
constexpr Timestamp now{std::chrono::seconds{1767582245}};

ordered_json change_of(std::string const& name) {
  return {{"name", name},
          {"fleet", "local"},
          {"unit", "ms"},
          {"headline", "+20.0%"},
          {"before", 10.0},
          {"after", 12.0}};
}

ordered_json culprit() {
  return {{"sha", std::string(40, 'c')}, {"subject", "Slow (#123)"}, {"pull_request", 123}};
}

ordered_json event(std::string const& headline) {
  return {{"at", "2026-01-02T03:04:05Z"},
          {"headline", headline},
          {"commit", nullptr},
          {"detail", nullptr},
          {"messages", ordered_json::array()}};
}

ordered_json message(std::string const& action, std::string const& progress) {
  return {
      {"destination", "github"}, {"action", action}, {"progress", progress}, {"failure", nullptr}};
}

ordered_json incident() {
  ordered_json json;
  json["id"] = 7;
  json["headline"] = "test_eval[dlrm-cpu-eager] is 20% slower";
  json["state"] = "fix_expected";
  json["opened_at"] = "2026-01-02T03:04:05Z";
  json["baseline"]["date"] = "2026-01-01";
  json["nightly"]["date"] = "2026-01-02";
  json["report"] = "https://github.com/o/r/issues/7";
  json["culprit"] = culprit();
  json["changes"] = ordered_json::array({change_of("dlrm_latency"), change_of("maml_latency")});
  json["recoveries"] = ordered_json::array();
  json["timeline"] = ordered_json::array({event("opened in nightly 2026-01-02")});
  return json;
}

std::string printed_incident(ordered_json const& json, std::size_t most = 20) {
  testing::internal::CaptureStdout();
  print_incident(json, now, most);
  return testing::internal::GetCapturedStdout();
}

TEST(IncidentText, RowHasStateAgeWorstChangeAndCulprit) {
  EXPECT_THAT(row_of_incident(incident(), now),
              ElementsAre("7",
                          "2026-01-02",
                          "fix expected",
                          "3 days",
                          "+20.0%",
                          "dlrm_latency and 1 more",
                          "cccccccccccc (#123)",
                          "https://github.com/o/r/issues/7"));
  EXPECT_EQ(head_of_incidents().size(), row_of_incident(incident(), now).size());
}

TEST(IncidentText, RowOfMutedIncidentWithoutCulpritHasDashes) {
  auto json = incident();
  json["changes"] = ordered_json::array();
  json["culprit"] = nullptr;
  json["report"] = nullptr;
  EXPECT_THAT(row_of_incident(json, now),
              ElementsAre("7", "2026-01-02", "fix expected", "3 days", "-", "-", "-", "-"));
}

TEST(IncidentText, AgeIsInItsLargestUnit) {
  using namespace std::chrono_literals;
  EXPECT_EQ(age_text(59s), "0 min");
  EXPECT_EQ(age_text(59min), "59 min");
  EXPECT_EQ(age_text(47h), "47 h");
  EXPECT_EQ(age_text(48h), "2 days");
}

TEST(IncidentText, OfOneHasItsStateItsCulpritAndTheNumberOfOtherSeries) {
  auto const text = printed_incident(incident(), 1);
  EXPECT_THAT(text, StartsWith("incident 7: test_eval[dlrm-cpu-eager] is 20% slower\n"));
  EXPECT_THAT(text, HasSubstr("fix expected, opened 2026-01-02 03:04 UTC (3 days ago)\n"));
  EXPECT_THAT(text, HasSubstr("cccccccccccc (#123) Slow (#123)\n"));
  EXPECT_THAT(text, Not(HasSubstr("maml_latency")));
  EXPECT_THAT(text, HasSubstr("and 1 more (--most 2)\n"));
}

TEST(IncidentText, OfOneHasTheLevelOfSeriesThatAreBack) {
  auto json = incident();
  auto recovery = change_of("dlrm_latency");
  recovery["after"] = 10.25;
  json["recoveries"].push_back(recovery);
  EXPECT_THAT(printed_incident(json), HasSubstr("10.25 ms"));
}

TEST(IncidentText, OfOneHasWhatWasPublishedAndWhatWaits) {
  auto json = incident();
  auto& opened = json["timeline"][0];
  opened["messages"].push_back(message("open_issue", "sent"));
  auto fixed = event("fixed in nightly 2026-01-04");
  fixed["commit"] = {{"sha", std::string(40, 'd')}, {"url", nullptr}};
  fixed["detail"] = "Revert \"Slow\"";
  auto waiting = message("close_completed", "waiting");
  waiting["failure"] = "no route to host";
  fixed["messages"].push_back(message("edit_body", "sent"));
  fixed["messages"].push_back(waiting);
  fixed["messages"].push_back(message("reopen", "given_up"));
  json["timeline"].push_back(fixed);

  auto const text = printed_incident(json);

  EXPECT_THAT(text, HasSubstr("opened in nightly 2026-01-02"));
  EXPECT_THAT(text, HasSubstr("github: report"));
  EXPECT_THAT(
      text,
      HasSubstr("github: description, github: closing as completed (waiting: no route to host), "
                "github: reopening (given up)"));
  EXPECT_THAT(text, HasSubstr("dddddddddddd"));
  EXPECT_THAT(text, HasSubstr("Revert \"Slow\""));
}

TEST(IncidentText, OfOneWithoutEventsSaysWhy) {
  auto json = incident();
  json["timeline"] = ordered_json::array();
  EXPECT_THAT(printed_incident(json), HasSubstr("No event yet"));
}

}  // namespace
}  // namespace torchwatch::cli
