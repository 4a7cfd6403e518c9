#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/api/cache.h"
#include "daemon/api/time.h"
#include "daemon/web/page.h"
#include "tests/api/http_client.h"
#include "tests/api/live_api.h"

namespace torchwatch::tests {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

json json_at(LiveApi& api, std::string_view target) {
  auto const answer = ask(api.port(), get(target));
  EXPECT_EQ(answer.status, 200) << answer.body;
  return json::parse(answer.body);
}

class DashboardPage : public ::testing::TestWithParam<std::string_view> {};

TEST_P(DashboardPage, RunsOnlyBuiltInScripts) {
  LiveApi api;
  auto const answer = ask(api.port(), get(GetParam()));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("content-type"), "text/html; charset=utf-8");
  auto const policy = answer.headers.at("content-security-policy");
  EXPECT_THAT(policy, StartsWith("default-src 'none'; script-src 'self'; style-src 'self'"));
  EXPECT_THAT(policy, HasSubstr("; worker-src 'self';"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(answer.body, StartsWith("<!doctype html>"));
  EXPECT_THAT(answer.body, Not(HasSubstr("http://")));
  EXPECT_THAT(answer.body, Not(HasSubstr("{{")));
}

INSTANTIATE_TEST_SUITE_P(All,
                         DashboardPage,
                         ::testing::Values("/",
                                           "/nightlies",
                                           "/nightlies/1",
                                           "/series?benchmark=x&fleet=y",
                                           "/incidents",
                                           "/bisections",
                                           "/bisections/1",
                                           "/compare",
                                           "/trust",
                                           "/alarms"));

TEST(Dashboard, GivesItsWorkerThePolicyOfItsPages) {
  LiveApi api;
  auto const worker = ask(api.port(), get("/assets/eventworker.js"));
  EXPECT_EQ(worker.status, 200);
  EXPECT_EQ(worker.headers.at("content-security-policy"),
            ask(api.port(), get("/")).headers.at("content-security-policy"));
}

TEST(Dashboard, ShowsIncidentWithoutScripts) {
  LiveApi api;
  auto const page = ask(api.port(), get("/incidents/1"));
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("<title>Incident 1 · torchwatch</title>"));
  EXPECT_THAT(page.body, HasSubstr("<td"));
  EXPECT_THAT(page.body, HasSubstr("test_train[dlrm-cpu-eager]_latency"));
  EXPECT_THAT(page.body, HasSubstr("Make embedding slower (#123)"));
  EXPECT_THAT(
      ask(api.port(), get("/incidents")).body,
      HasSubstr("<a href=\"/incidents/1\">2026-01-02: test_train[dlrm-cpu-eager] is 20% slower"));
}

TEST(Dashboard, ReportsUnknownIncident) {
  LiveApi api;
  for (auto const* const target :
       {"/incidents/2", "/incidents/x", "/incidents/99999999999999999999"}) {
    auto const page = ask(api.port(), get(target));
    EXPECT_EQ(page.status, 404) << target;
    EXPECT_THAT(page.body, HasSubstr("Incident not found"));
  }
}

TEST(Dashboard, HidesIncidentWithoutReadToken) {
  auto options = LiveApi::options_with_token();
  options.access.read_token = "battery-staple";
  LiveApi api{options};
  for (auto const* const target : {"/incidents/1", "/incidents", "/incidents/2"}) {
    auto const page = ask(api.port(), get(target));
    EXPECT_EQ(page.status, 200) << target;
    EXPECT_THAT(page.body, Not(HasSubstr("dlrm")));
    EXPECT_THAT(page.body, HasSubstr("<script"));
  }
  EXPECT_EQ(ask(api.port(), get("/assets/main.js")).status, 200);
  EXPECT_EQ(ask(api.port(), get("/api/v1/tonight")).status, 401);
  auto const with_token = ask(api.port(),
                              "GET /incidents/1 HTTP/1.1\r\nHost: localhost\r\n"
                              "Authorization: Bearer battery-staple\r\n\r\n");
  EXPECT_THAT(with_token.body, HasSubstr("dlrm"));
  EXPECT_THAT(ask(api.port(), get("/incidents/1")).body, Not(HasSubstr("dlrm")));
}

TEST(Dashboard, ServesBuiltInFiles) {
  LiveApi api;
  auto const sheet = ask(api.port(), get("/assets/style.css"));
  EXPECT_EQ(sheet.headers.at("content-type"), "text/css; charset=utf-8");
  auto const script = ask(api.port(), get("/assets/dygraph.min.js"));
  EXPECT_EQ(script.headers.at("content-type"), "text/javascript; charset=utf-8");
  EXPECT_GT(script.body.size(), 100'000U);
  auto const again =
      ask(api.port(),
          "GET /assets/dygraph.min.js HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: " +
              script.headers.at("etag") + "\r\n\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(ask(api.port(), get("/assets/..%2fapi.js")).status, 404);
}

TEST(Dashboard, ShowsTonight) {
  LiveApi api;
  api.fill([](storage::Store& store) {
    JobOutcome outcome;
    outcome.key = JobKey{{"nightly/3"},
                         "local",
                         {"dlrm", torchwatch::Test::train, Device::cpu, "eager"},
                         sha_of('d'),
                         0};
    outcome.fingerprint = "{}";
    outcome.finished_at = early + std::chrono::hours{1};
    store.jobs().record({outcome});
  });
  auto const tonight = json_at(api, "/api/v1/tonight");
  auto const& newest = tonight.at("nightlies").at(0);
  EXPECT_EQ(newest.at("date"), "2026-01-03");
  // The nightly before has two processes, one second apart.
  EXPECT_EQ(newest.at("progress").at("processes"), 1);
  EXPECT_EQ(newest.at("progress").at("expected"), 2);
  EXPECT_EQ(newest.at("progress").at("expected_end"),
            api::iso8601(early + std::chrono::seconds{3601}));
  EXPECT_TRUE(tonight.at("nightlies").at(1).at("progress").is_null());
  EXPECT_EQ(tonight.at("nightlies").at(1).at("incidents").dump(), "[1]");
  auto const& incident = tonight.at("incidents").at(0);
  EXPECT_EQ(incident.at("worst").at("name"), "test_train[dlrm-cpu-eager]_latency");
  EXPECT_EQ(incident.at("worst").at("headline"), "+20.0%");
  EXPECT_EQ(incident.at("bisection").at("outcome"), "culprit");
  EXPECT_EQ(incident.at("bisection").at("headline"), "Culprit proved");
  EXPECT_EQ(incident.at("finding").at("suspects").at(0).at("sha"), sha_of('c').hex);
  EXPECT_EQ(incident.at("state"), "open");
  EXPECT_EQ(tonight.at("bisections").size(), 1U);
  EXPECT_EQ(tonight.at("bisections").at(0).at("state"), "queued");
  EXPECT_TRUE(tonight.at("alarms").empty());
}

TEST(Dashboard, ShowsTheLastNightsOfAllSeries) {
  LiveApi api;
  auto const list = json_at(api, "/api/v1/series?recent=30");
  EXPECT_EQ(list.at("total"), 2);
  auto const& latency = list.at("items").at(1);
  EXPECT_EQ(latency.at("metric"), "latency");
  EXPECT_EQ(latency.at("levels"), json::array({10, 12}));
  EXPECT_EQ(latency.at("newest").at("date"), "2026-01-02");
  EXPECT_EQ(latency.at("change").at("verdict"), "regression");
  EXPECT_EQ(latency.at("change").at("nightly"), 2);
  EXPECT_TRUE(list.at("items").at(0).at("change").is_null());
  EXPECT_EQ(ask(api.port(), get("/api/v1/series?recent=0")).status, 400);
  EXPECT_EQ(ask(api.port(), get("/api/v1/series?recent=101")).status, 400);
}

TEST(Dashboard, ShowsTheProcessesOfOneNight) {
  LiveApi api;
  std::string const series =
      "/api/v1/series?fleet=local&benchmark=test_train%5Bdlrm-cpu-eager%5D&metric=latency";
  EXPECT_EQ(json_at(api, series).at("total"), 3);
  EXPECT_EQ(json_at(api, series + "&nightly=2").at("total"), 2);
  EXPECT_EQ(ask(api.port(), get(series + "&nightly=9")).status, 404);
}

TEST(Dashboard, RefusesParametersThatDoNotApply) {
  LiveApi const api;
  std::string const series =
      "/api/v1/series?fleet=local&benchmark=test_train%5Bdlrm-cpu-eager%5D&metric=latency";
  for (auto const& target :
       {series + "&nightly=x", series + "&recent=3", std::string{"/api/v1/series?nightly=2"}})
    EXPECT_EQ(ask(api.port(), get(target)).status, 400) << target;
}

TEST(Events, ComeWithinASecondOfAWrite) {
  LiveApi api;
  HttpClient client{api.port()};
  ASSERT_TRUE(client.send(get("/api/v1/events")));
  EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("text/event-stream"));
  EXPECT_THAT(client.read_until("\n\n"), HasSubstr("event: hello"));
  api.fill([](storage::Store& store) {
    Nightly nightly;
    nightly.date = "2026-01-04";
    nightly.commit = sha_of('e');
    store.nightlies().announce(nightly);
  });
  EXPECT_THAT(client.read_until("\n\n"), HasSubstr("event: changed"));
}

TEST(ApiCache, AnswersUntilTheStoreChanges) {
  LiveApi api;
  auto const first = ask(api.port(), get("/api/v1/nightlies"));
  EXPECT_EQ(ask(api.port(), get("/api/v1/nightlies")).headers.at("etag"), first.headers.at("etag"));
  api.fill([](storage::Store& store) {
    Nightly nightly;
    nightly.date = "2026-01-04";
    nightly.commit = sha_of('e');
    store.nightlies().announce(nightly);
  });
  auto const then = ask(api.port(), get("/api/v1/nightlies"));
  EXPECT_NE(then.headers.at("etag"), first.headers.at("etag"));
  EXPECT_EQ(json::parse(then.body).at("total"), 4);
}

http::HttpResponse answer_of(std::size_t bytes) {
  http::HttpResponse response;
  response.body = std::string(bytes, 'x');
  return response;
}

TEST(Cache, RemovesResponsesOfOldVersion) {
  api::Cache cache{10'000};
  cache.keep("/a", 1, answer_of(10));
  EXPECT_TRUE(cache.find("/a", 1));
  EXPECT_FALSE(cache.find("/a", 2));
  cache.keep("/b", 2, answer_of(10));
  EXPECT_FALSE(cache.find("/a", 2));
  EXPECT_FALSE(cache.find("/a", 1));
}

TEST(Cache, SharesOneBody) {
  api::Cache cache{10'000};
  auto const first = cache.keep("/a", 1, answer_of(10));
  auto const then = cache.find("/a", 1);
  ASSERT_TRUE(then);
  EXPECT_EQ(then->text(), std::string(10, 'x'));
  EXPECT_EQ(&then->text(), &first.text());
}

TEST(Cache, KeepsNoMoreThanItsLimit) {
  api::Cache cache{10'000};
  cache.keep("/large", 1, answer_of(2'501));
  EXPECT_FALSE(cache.find("/large", 1));
  for (char name = 'a'; name < 'f'; ++name)
    cache.keep(std::string(1, name), 1, answer_of(2'000));
  EXPECT_FALSE(cache.find("a", 1));
  EXPECT_TRUE(cache.find("e", 1));
}

/// Returns how many of 1000 responses a cache of 100,000 bytes keeps.
int kept_of(std::string const& prefix, http::HttpResponse const& answer) {
  api::Cache cache{100'000};
  int kept = 0;
  for (int i = 0; i < 1000; ++i)
    cache.keep(prefix + std::to_string(i), 1, answer);
  for (int i = 0; i < 1000; ++i)
    kept += cache.find(prefix + std::to_string(i), 1) ? 1 : 0;
  return kept;
}

TEST(Cache, CountsTargetsHeadersAndItsOwnMemory) {
  auto const small = answer_of(1);
  EXPECT_GT(kept_of("/", small), 0);
  EXPECT_LE(kept_of("/", small), 500) << "an entry without a body takes hundreds of bytes";
  EXPECT_LE(kept_of("/" + std::string(2000, 't'), small), 50);
  auto with_headers = small;
  with_headers.headers["content-security-policy"] = std::string(2000, 'h');
  EXPECT_LE(kept_of("/", with_headers), 50);
}

TEST(Cache, KeepsOnlyStatus200) {
  api::Cache cache{10'000};
  cache.keep("/a", 1, http::problem(404, "nothing is there"));
  EXPECT_FALSE(cache.find("/a", 1));
}

TEST(MarkdownAsHtml, RunsNothing) {
  for (auto const* const hostile : {"<script>alert(1)</script>",
                                    "<img src=x onerror=alert(1)>",
                                    "[x](javascript:alert(1))",
                                    "![x](javascript:alert(1))",
                                    "<details open ontoggle=alert(1)>",
                                    "| <b onclick=alert(1)> |\n|---|\n| `</td><script>` |"}) {
    auto const html = web::html_of(hostile);
    EXPECT_THAT(html, Not(HasSubstr("<script"))) << hostile;
    EXPECT_THAT(html, Not(HasSubstr("javascript:"))) << hostile;
    EXPECT_THAT(html, Not(HasSubstr("=alert"))) << hostile;
  }
}

TEST(MarkdownAsHtml, HasTablesAndLinks) {
  auto const html = web::html_of("| a | b |\n|---|---|\n| `c` | https://example.org/x |");
  EXPECT_THAT(html, HasSubstr("<table>"));
  EXPECT_THAT(html, HasSubstr("<code>c</code>"));
  EXPECT_THAT(html, HasSubstr("<a href=\"https://example.org/x\">"));
}

TEST(MarkdownAsHtml, AcceptsAnyBytes) {
  EXPECT_THAT(web::html_of(std::string{"caf\xe9 \0 x", 8}), HasSubstr("caf"));
  EXPECT_EQ(web::html_of(""), "");
}

TEST(Document, EscapesItsTitle) {
  EXPECT_THAT(web::document({"</title><script>", "<p>x</p>"}),
              HasSubstr("<title>&lt;/title&gt;&lt;script&gt; · "));
}

}  // namespace
}  // namespace torchwatch::tests
