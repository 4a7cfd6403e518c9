#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/api/time.h"
#include "tests/api/http_client.h"
#include "tests/api/live_api.h"
#include "tests/api/refusal.h"

namespace torchwatch::tests {
namespace {

using nlohmann::json;

std::string ruling_request(json const& body, std::string const& token = "correct-horse") {
  auto const text = body.dump();
  return with_headers("POST /api/v1/rulings",
                      "Authorization: Bearer " + token +
                          "\r\nContent-Type: application/json\r\nContent-Length: " +
                          std::to_string(text.size()) + "\r\n") +
         text;
}

json accept() {
  return {{"kind", "accept"}, {"incident", 1}, {"who", "ada"}, {"why", "pays for itself"}};
}

json mute() {
  return {{"kind", "mute"}, {"fleet", "local"}, {"who", "ada"}, {"why", "known"}};
}

json with(json body, std::string const& field, json const& value) {
  body[field] = value;
  return body;
}

json without(json body, std::string const& field) {
  body.erase(field);
  return body;
}

TEST(Rulings, AreStoredAndShownWithTheirIncident) {
  LiveApi api;

  auto const answer = ask(api.port(), ruling_request(accept()));

  ASSERT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(answer.headers.at("location"), "/api/v1/rulings/1");
  auto const given = json::parse(answer.body);
  EXPECT_EQ(given.at("kind"), "accept");
  EXPECT_EQ(given.at("who"), "ada");
  EXPECT_EQ(given.at("benchmark"), nullptr);
  EXPECT_EQ(json::parse(ask(api.port(), get("/api/v1/rulings/1")).body), given);
  EXPECT_EQ(json::parse(ask(api.port(), get("/api/v1/rulings")).body).at("items").at(0), given);
  auto const incident = json::parse(ask(api.port(), get("/api/v1/incidents/1")).body);
  EXPECT_EQ(incident.at("rulings"), json::array({given}));
}

TEST(Rulings, AMuteNamesItsSeriesAndItsEnd) {
  LiveApi api;
  auto body = with(mute(), "benchmark", "test_train[dlrm-cpu-eager]");
  body["until"] = "2026-12-31";

  auto const given = json::parse(ask(api.port(), ruling_request(body)).body);

  EXPECT_EQ(given.at("fleet"), "local");
  EXPECT_EQ(given.at("benchmark"), "test_train[dlrm-cpu-eager]");
  EXPECT_EQ(given.at("metric"), nullptr);
  EXPECT_EQ(given.at("incident"), nullptr);
  EXPECT_EQ(given.at("until"), "2026-12-31T00:00:00Z");
}

TEST(Rulings, OfFalseAlarmsAreCounted) {
  LiveApi api;
  auto const precision = [&api] {
    return json::parse(ask(api.port(), get("/api/v1/precision")).body);
  };
  EXPECT_EQ(precision().at("stated").at("false_discovery"), 0.05);
  EXPECT_EQ(precision().at("builds_against_themselves").at("of"), 0);
  EXPECT_EQ(precision().at("builds_against_themselves").at("share"), nullptr);
  EXPECT_EQ(precision().at("incidents").at("false_alarms"), 0);

  auto const body = with(accept(), "kind", "false_alarm");
  ask(api.port(), ruling_request(body));
  ask(api.port(), ruling_request(body));

  auto const incidents = precision().at("incidents");
  EXPECT_EQ(incidents.at("of"), 1);
  EXPECT_EQ(incidents.at("false_alarms"), 1) << "an incident counts once";
  EXPECT_EQ(incidents.at("share"), 1);
  EXPECT_NEAR(incidents.at("low").get<double>(), 0.025, 1e-9);
  EXPECT_EQ(incidents.at("high"), 1);
}

TEST(Rulings, RefusalsNameWhatIsWrong) {
  expect_refused({
      {"WrongToken", ruling_request(accept(), "wrong"), 401},
      {"NoObject", ruling_request(json::array()), 400, "body", "allowed a JSON object"},
      {"NoKind", ruling_request(without(accept(), "kind")), 400, "kind", "found nothing"},
      {"UnknownKind",
       ruling_request(with(accept(), "kind", "like")),
       400,
       "kind",
       "found \"like\""},
      {"UnknownField",
       ruling_request(with(accept(), "when", 1)),
       400,
       "when",
       "allowed only the fields kind"},
      {"AcceptOfNothing",
       ruling_request(without(accept(), "incident")),
       400,
       "benchmark",
       "or an incident"},
      {"FalseAlarmOfNothing",
       ruling_request(without(with(accept(), "kind", "false_alarm"), "incident")),
       400,
       "incident",
       "found nothing"},
      {"FalseAlarmOfASeries",
       ruling_request(with(with(accept(), "kind", "false_alarm"), "fleet", "local")),
       400,
       "fleet",
       "mute"},
      {"IncidentByName",
       ruling_request(with(accept(), "incident", "1")),
       400,
       "incident",
       "found \"1\""},
      {"NobodySays", ruling_request(without(accept(), "who")), 400, "who", "found nothing"},
      {"BlankReason", ruling_request(with(accept(), "why", " \n")), 400, "why", "allowed text"},
      {"EndlessReason",
       ruling_request(with(accept(), "why", std::string(1001, 'x'))),
       400,
       "why",
       "1000"},
      {"MuteOfEverything",
       ruling_request(without(mute(), "fleet")),
       400,
       "benchmark",
       "at least one"},
      {"MuteOfAnIncident", ruling_request(with(mute(), "incident", 1)), 400, "incident", "accept"},
      {"AcceptOfAMetric", ruling_request(with(accept(), "metric", "cmem")), 400, "metric", "mute"},
      {"AcceptUntil", ruling_request(with(accept(), "until", "2026-12-31")), 400, "until", "mute"},
      {"UnknownFleet",
       ruling_request(with(mute(), "fleet", "mars")),
       400,
       "fleet",
       "allowed \"local\""},
      {"NoName",
       ruling_request(with(mute(), "benchmark", "dlrm")),
       400,
       "benchmark",
       "found \"dlrm\""},
      {"NoTime", ruling_request(with(mute(), "until", "soon")), 400, "until", "found \"soon\""},
      {"NoDay", ruling_request(with(mute(), "until", "2026-02-30")), 400, "until", "2026-02-30"},
  });
}

TEST(ApiTime, ReadsWhatItWrites) {
  Timestamp const time{std::chrono::seconds{1767323045}};
  EXPECT_EQ(api::parse_time(api::iso8601(time)), time);
  EXPECT_EQ(api::iso8601(api::parse_time("2026-01-02").value()), "2026-01-02T00:00:00Z");
}

TEST(ApiTime, ReadsNothingElse) {
  for (auto const* text : {"",
                           "2026-1-02",
                           "2026-13-02",
                           "2026-01-00",
                           "2026/01/02",
                           "2026-01-02T03:04:05",
                           "2026-01-02T03:04:05+",
                           "2026-01-02T24:00:00Z",
                           "2026-01-02T-0:00:00Z",
                           "2026-01-02T03:60:05Z",
                           "2026-01-02 03:04:05Z",
                           "-026-01-02",
                           "+026-01-02",
                           "2026-01-02T03:04:5ZZ"})
    EXPECT_EQ(api::parse_time(text), std::nullopt) << text;
}

}  // namespace
}  // namespace torchwatch::tests
