#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/api/http_client.h"
#include "tests/api/live_api.h"
#include "tests/api/refusal.h"

namespace torchwatch::tests {
namespace {

using nlohmann::json;

std::string post(std::string const& body,
                 std::string const& authorization = "Authorization: Bearer correct-horse\r\n",
                 std::string const& type = "Content-Type: application/json\r\n") {
  return with_headers(
             "POST /api/v1/bisections",
             authorization + type + "Content-Length: " + std::to_string(body.size()) + "\r\n") +
         body;
}

/// Returns a valid request with another value of one field.
std::string post_with(std::string const& field, json const& value) {
  json body{{"start", sha_of('a').hex},
            {"end", sha_of('d').hex},
            {"benchmarks", {"test_train[dlrm-cpu-eager]"}}};
  body[field] = value;
  return post(body.dump());
}

std::string post_without(std::string const& field) {
  auto const whole = post_with(field, 0);
  auto body = json::parse(whole.substr(whole.find('{')));
  body.erase(field);
  return post(body.dump());
}

/// Returns a request to repeat the bisection of the story, with one more field.
std::string post_again(std::string const& field, json const& value) {
  json body{{"again", 1}};
  body[field] = value;
  return post(body.dump());
}

std::string raw_body(std::string const& fields) {
  return "{\"start\":\"" + sha_of('a').hex + "\",\"end\":\"" + sha_of('d').hex +
         "\",\"benchmarks\":[\"test_train[dlrm-cpu-eager]\"]" + fields + "}";
}

std::vector<Refusal> const of_requests{
    {"NoToken", post(raw_body(""), ""), 401, "", "Bearer"},
    {"WrongToken",
     post(raw_body(""), "Authorization: Bearer correct-horsf\r\n"),
     401,
     "",
     "wrong token"},
    {"LongerToken", post(raw_body(""), "Authorization: Bearer correct-horse2\r\n"), 401},
    {"EmptyToken", post(raw_body(""), "Authorization: Bearer \r\n"), 401},
    {"OtherScheme", post(raw_body(""), "Authorization: Basic correct-horse\r\n"), 401},
    {"TokenTwice",
     post(raw_body(""),
          "Authorization: Bearer correct-horse\r\nAuthorization: Bearer correct-horse\r\n"),
     401},
    {"ParameterOfAPost",
     "POST /api/v1/bisections?limit=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
     400,
     "limit",
     "none"},
    {"NoContentType",
     post(raw_body(""), "Authorization: Bearer correct-horse\r\n", ""),
     415,
     "",
     "application/json"},
    {"FormContentType",
     post(raw_body(""),
          "Authorization: Bearer correct-horse\r\n",
          "Content-Type: application/x-www-form-urlencoded\r\n"),
     415},
    {"EmptyBody", post(""), 400, "body", "invalid JSON"},
    {"BrokenBody", post("{\"start\":"), 400, "body", "invalid JSON"},
    {"BodyThatIsNoText", post("{\"start\":\"\xff\xfe\"}"), 400, "body", "invalid JSON"},
    {"ArrayBody", post("[]"), 400, "body", "an array of 0"},
    {"NumberBeyondAllNumbers", post(raw_body(",\"threshold\":1e999")), 400, "body", "number"},
    {"DeepBody",
     post(raw_body(",\"fleet\":" + std::string(200'000, '[') + std::string(200'000, ']'))),
     400,
     "fleet",
     "an array"},
    {"EndlesslyDeepBody", post(std::string(900'000, '[')), 400, "body", "invalid JSON"},
    {"FieldTwice", post(raw_body(",\"end\":\"" + sha_of('b').hex + "\"")), 400, "end", "twice"},
    {"UnknownField", post_with("timeout", 3600), 400, "timeout", "found 3600"},
    {"NoStart", post_without("start"), 400, "start", "found nothing"},
    {"NoEnd", post_without("end"), 400, "end", "found nothing"},
    {"ShortHash", post_with("start", "aaaaaaa"), 400, "start", "found \"aaaaaaa\""},
    {"BranchName", post_with("end", "main"), 400, "end", "40"},
    {"UpperCaseHash", post_with("end", std::string(40, 'D')), 400, "end", "lower-case"},
    {"HashThatIsNoWord", post_with("end", 7.5), 400, "end", "found 7.5"},
    {"StartIsEnd", post_with("end", sha_of('a').hex), 400, "end", "same commit"},
    {"NoBenchmarks", post_without("benchmarks"), 400, "benchmarks", "found nothing"},
    {"EmptyBenchmarks", post_with("benchmarks", json::array()), 400, "benchmarks", "1 to 256"},
    {"BenchmarksThatAreNoArray",
     post_with("benchmarks", "test_train[dlrm-cpu-eager]"),
     400,
     "benchmarks",
     "array"},
    {"TooManyBenchmarks",
     post_with("benchmarks", std::vector<std::string>(257, "x")),
     400,
     "benchmarks",
     "257"},
    {"BenchmarkThatIsNoName", post_with("benchmarks", {"dlrm"}), 400, "benchmarks[0]", "dlrm"},
    {"BenchmarkThatIsNoText", post_with("benchmarks", {1}), 400, "benchmarks[0]", "found 1"},
    {"BenchmarkTwice",
     post_with("benchmarks", {"test_train[dlrm-cpu-eager]", "test_train[dlrm-cpu-eager]"}),
     400,
     "benchmarks[1]",
     "twice"},
    {"BenchmarkOfAnotherDevice",
     post_with("benchmarks", {"test_train[dlrm-cuda-eager]"}),
     400,
     "benchmarks[0]",
     "whose device is cpu"},
    {"UnknownFleet", post_with("fleet", "mars"), 400, "fleet", "allowed \"local\""},
    {"FleetThatIsNoText", post_with("fleet", nullptr), 400, "fleet", "found null"},
    {"UnknownMetric", post_with("metric", "speed"), 400, "metric", "found \"speed\""},
    {"MetricOfAnotherDevice", post_with("metric", "gmem"), 400, "metric", "gmem"},
    {"ThresholdInPercent", post_with("threshold", 15), 400, "threshold", "percent"},
    {"ThresholdZero", post_with("threshold", 0), 400, "threshold", "above 0"},
    {"NegativeThreshold", post_with("threshold", -0.07), 400, "threshold", "-0.07"},
    {"ThresholdAsText", post_with("threshold", "7%"), 400, "threshold", "7%"},
    {"UnknownDirection", post_with("direction", "up"), 400, "direction", "\"increase\""},
    {"UnknownPrior",
     post_with("prior", "blame"),
     400,
     "prior",
     "found \"blame\", allowed \"uniform\", \"paths\""},
    {"PriorThatIsNoWord", post_with("prior", json::array({1, 2})), 400, "prior", "an array of 2"},
    {"AgainOfNobody",
     post_again("again", 99),
     400,
     "again",
     "found 99, allowed the id of a bisection"},
    {"DateWithoutANightly", post_with("start", "2020-01-01"), 400, "start", "found \"2020-01-01\""},
    {"NightlyOfNobody", post_with("end", 99), 400, "end", "the date or id of a nightly"},
    {"IncidentOfNobody", post(R"({"incident": 99})"), 400, "incident", "found 99"},
    {"IncidentByName",
     post(R"({"incident": "1"})"),
     400,
     "incident",
     "allowed the id of an incident"},
    {"IncidentBesideAgain", post_again("incident", 1), 400, "incident", "one of the two"},
    {"AgainByName", post_again("again", "1"), 400, "again", "found \"1\""},
    {"AgainToItsOwnStart", post_again("end", sha_of('a').hex), 400, "end", "same commit"},
    {"AgainOnNoBenchmarks", post_again("benchmarks", json::array()), 400, "benchmarks", "1 to 256"},
    {"AgainOnAnotherDevice",
     post_again("benchmarks", {"test_train[dlrm-cuda-eager]"}),
     400,
     "benchmarks[0]",
     "whose device is cpu"},
    {"AgainOnAnUnknownFleet", post_again("fleet", "mars"), 400, "fleet", "allowed \"local\""},
    {"AgainForAnImpossibleMetric", post_again("metric", "gmem"), 400, "metric", "does not have"},
    {"LongWord", post_with("metric", std::string(20'000, 'x')), 400, "metric", "..."},
};

TEST(RequestRefusals, NameWhatIsWrong) {
  expect_refused(of_requests);
}

TEST(RequestRefusals, EveryWrongFieldIsNamedAtOnce) {
  LiveApi api;
  json const body{{"start", "main"},
                  {"end", 1.5},
                  {"benchmarks", json::array()},
                  {"fleet", "mars"},
                  {"metric", "speed"},
                  {"threshold", 7000},
                  {"direction", "up"},
                  {"prior", "blame"},
                  {"timeout", 1}};

  auto const answer = ask(api.port(), post(body.dump()));

  std::vector<std::string> fields;
  auto const problem = json::parse(answer.body);
  for (auto const& error : problem.at("errors"))
    fields.push_back(error.at("field").get<std::string>());
  EXPECT_THAT(fields,
              ::testing::UnorderedElementsAre("start",
                                              "end",
                                              "benchmarks",
                                              "fleet",
                                              "metric",
                                              "threshold",
                                              "direction",
                                              "prior",
                                              "timeout"));
}

TEST(RequestRefusals, HaveAtMostHundredErrors) {
  LiveApi api;
  json body;
  for (int at = 0; at < 20'000; ++at)
    body["field" + std::to_string(at)] = at;

  auto const answer = ask(api.port(), post(body.dump()));

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(json::parse(answer.body).at("errors").size(), 100U);
}

TEST(RequestRefusals, SayHowToAuthenticate) {
  LiveApi api;
  EXPECT_EQ(ask(api.port(), post(raw_body(""), "")).headers.at("www-authenticate"),
            "Bearer realm=\"torchwatch\"");
  EXPECT_EQ(ask(api.port(), post(raw_body(""), "Authorization: Bearer x\r\n"))
                .headers.at("www-authenticate"),
            "Bearer realm=\"torchwatch\", error=\"invalid_token\"");
}

}  // namespace
}  // namespace torchwatch::tests
