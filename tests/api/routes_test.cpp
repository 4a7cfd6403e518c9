#include "daemon/api/routes.h"

#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/api/http_client.h"
#include "tests/api/live_api.h"

namespace torchwatch::tests {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class RoutesTest : public ::testing::Test {
 protected:
  json read(std::string const& target) {
    auto const answer = ask(api.port(), get(target));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.headers.at("content-type"), "application/json");
    EXPECT_EQ(answer.headers.at("cache-control"), "no-cache");
    EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
    EXPECT_FALSE(answer.headers.contains("access-control-allow-origin"));
    return json::parse(answer.body);
  }

  static std::vector<int> ids(json const& page) {
    std::vector<int> all;
    for (auto const& item : page.at("items"))
      all.push_back(item.at("id").get<int>());
    return all;
  }

  static std::vector<std::string> names(std::vector<Series> const& all) {
    std::vector<std::string> names;
    for (auto const& series : all)
      names.push_back(name_of(series));
    return names;
  }

  LiveApi api;
};

TEST_F(RoutesTest, HealthNamesTheLastNightly) {
  auto const health = read("/healthz");

  EXPECT_EQ(health.at("status"), "ok");
  EXPECT_EQ(health.at("version"), "0.1.0");
  EXPECT_EQ(health.at("started_at"), "2026-01-02T03:04:05Z");
  EXPECT_EQ(health.at("last_nightly").at("date"), "2026-01-03");
}

TEST_F(RoutesTest, HealthShowsStateOfWatchLoop) {
  api::HealthState health;
  health.heartbeat = api::HealthState::Instant::clock::now();
  health.last_pass = early;
  health.free_bytes = std::int64_t{5} << 30;
  health.isolation = {{"builds", "none"}, {"local", "bubblewrap"}};
  api.health.set(health);
  auto const good = read("/healthz");
  EXPECT_EQ(good.at("status"), "ok");
  EXPECT_EQ(good.at("watching").at("free_mib"), 5120);
  EXPECT_EQ(good.at("watching").at("failed_passes"), 0);
  EXPECT_LT(good.at("watching").at("heartbeat_s"), 30);
  EXPECT_EQ(good.at("isolation").at("local"), "bubblewrap");

  health.failed_passes = 3;
  health.failure = "no route to host";
  api.health.set(health);
  auto const answer = ask(api.port(), get("/healthz"));
  EXPECT_EQ(answer.status, 503);
  auto const bad = json::parse(answer.body);
  EXPECT_EQ(bad.at("status"), "failing");
  EXPECT_THAT(bad.at("troubles"), ElementsAre("3 passes in a row failed: no route to host"));
}

TEST_F(RoutesTest, IsReadyWhileStoreCanBeRead) {
  EXPECT_EQ(read("/readyz").at("status"), "ready");
  api::HealthState health;
  health.failed_passes = 3;
  api.health.set(health);
  EXPECT_EQ(read("/readyz").at("status"), "ready") << "independent of the watch loop";
}

TEST_F(RoutesTest, ShowAlarms) {
  api.fill([](storage::Store& store) {
    store.alarms().raise(AlarmKind::drift, "local", "it grew by 9%", early);
    store.alarms().raise(AlarmKind::missing_nightly, "", "none for two days", early);
    store.alarms().clear(AlarmKind::drift, "local", early + std::chrono::hours{1});
  });
  auto const alarms = json::parse(ask(api.port(), get("/api/v1/alarms")).body).at("items");
  ASSERT_EQ(alarms.size(), 2U);
  EXPECT_TRUE(alarms.at(0).at("cleared_at").is_null());
  EXPECT_EQ(alarms.at(1).at("kind"), "drift");
  EXPECT_FALSE(alarms.at(1).at("cleared_at").is_null());
  auto const url = alarms.at(1).at("url").get<std::string>();
  EXPECT_EQ(json::parse(ask(api.port(), get(url)).body), alarms.at(1));
}

TEST_F(RoutesTest, ShowSlotsWithTheirFigures) {
  api.fill([](storage::Store& store) {
    SlotState state;
    state.fleet = "local";
    state.slot = 2;
    state.use = SlotUse::quarantined;
    state.since = early;
    state.reason = "10.0% slower";
    state.level = 1.1;
    store.slots().set(state);
  });
  auto const slots = json::parse(ask(api.port(), get("/api/v1/slots")).body).at("items");
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_EQ(slots.at(0).at("slot"), 2);
  EXPECT_EQ(slots.at(0).at("use"), "quarantined");
  EXPECT_EQ(slots.at(0).at("level"), 1.1);
  EXPECT_TRUE(slots.at(0).at("noise").is_null());
  EXPECT_THAT(ask(api.port(), get("/metrics")).body,
              ::testing::HasSubstr("torchwatch_slots_quarantined{fleet=\"local\"} 1\n"));
}

TEST_F(RoutesTest, UnchangedContentsAreNotSentAgain) {
  auto const first = ask(api.port(), get("/api/v1/nightlies"));
  auto const tag = first.headers.at("etag");
  EXPECT_THAT(tag, ::testing::StartsWith("W/\""));
  auto const having = [](std::string const& tags) {
    return "GET /api/v1/nightlies HTTP/1.1\r\nHost: x\r\nIf-None-Match: " + tags +
           "\r\nConnection: close\r\n\r\n";
  };
  auto const again = ask(api.port(), having("\"other\", " + tag));
  EXPECT_EQ(again.status, 304);
  EXPECT_FALSE(again.headers.contains("content-length"))
      << "it would be the length of the whole body";
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(again.headers.at("etag"), tag);
  EXPECT_EQ(ask(api.port(), having("\"other\"")).status, 200);
  auto const refused = ask(api.port(), get("/api/v1/nightlies?limit=0"));
  EXPECT_FALSE(refused.headers.contains("etag"));
  EXPECT_EQ(refused.headers.at("cache-control"), "no-store") << "errors are not cached";
  EXPECT_EQ(ask(api.port(), having("*")).status, 304);

  api.fill(
      [](storage::Store& store) { store.nightlies().announce(nightly_of("2026-01-04", 'e')); });
  EXPECT_EQ(ask(api.port(), having(tag)).status, 200) << "there is a new nightly";
}

TEST_F(RoutesTest, ListsNightliesNewestFirst) {
  auto const page = read("/api/v1/nightlies");

  EXPECT_THAT(ids(page), ElementsAre(3, 2, 1));
  EXPECT_EQ(page.at("total"), 3);
  EXPECT_THAT(page.dump(), Not(HasSubstr("/secret")));
}

TEST_F(RoutesTest, ANightlyHasItsVerdictsAndItsIncidents) {
  auto const nightly = read("/api/v1/nightlies/2");

  EXPECT_EQ(nightly.at("date"), "2026-01-02");
  EXPECT_EQ(nightly.at("baseline"), 1);
  EXPECT_EQ(nightly.at("verdicts").size(), 2U);
  ASSERT_EQ(nightly.at("incidents").size(), 1U);
  EXPECT_EQ(nightly.at("incidents").at(0).at("url"), "/api/v1/incidents/1");
  EXPECT_EQ(read("/api/v1/nightlies/1").at("incidents"), json::array());
}

TEST_F(RoutesTest, ListsTheSeriesThatHaveValues) {
  auto const page = read("/api/v1/series");

  ASSERT_EQ(page.at("items").size(), 2U);
  auto const& series = page.at("items").at(1);
  EXPECT_EQ(series.at("fleet"), "local");
  EXPECT_EQ(series.at("benchmark"), "test_train[dlrm-cpu-eager]");
  EXPECT_EQ(series.at("metric"), "latency");
  EXPECT_EQ(series.at("unit"), "ms");
  EXPECT_EQ(series.at("name"), "test_train[dlrm-cpu-eager]_latency");
}

TEST_F(RoutesTest, AHistoryHasANightForEachColumn) {
  std::string const of_dlrm =
      "/api/v1/history?fleet=local&benchmark=test_train%5Bdlrm-cpu-eager%5D&metric=latency";
  auto const history = read(of_dlrm);

  EXPECT_EQ(history.at("name"), "test_train[dlrm-cpu-eager]_latency");
  auto const& nights = history.at("nights");
  EXPECT_EQ(nights.at("nightly"), json({1, 2}));
  EXPECT_EQ(nights.at("date"), json({"2026-01-01", "2026-01-02"}));
  EXPECT_EQ(nights.at("commit"), json({short_of(sha_of('a')), short_of(sha_of('b'))}));
  EXPECT_EQ(nights.at("level"), json({10, 12}));
  EXPECT_EQ(nights.at("low"), json({10, 12}));
  EXPECT_EQ(nights.at("high"), json({10, 12}));
  EXPECT_EQ(nights.at("processes"), json({1, 1}));
  EXPECT_EQ(nights.at("verdict"), json({nullptr, "regression"}));
  EXPECT_EQ(history.at("hosts").at(to_string(nights.at("host").at(0))).at("host"), "lab");
}

TEST_F(RoutesTest, HistoryHasCsvFormat) {
  auto const table = ask(api.port(),
                         get("/api/v1/history?fleet=local&benchmark=test_train%5Bdlrm-cpu-eager%5D&"
                             "metric=latency&format=csv"));

  EXPECT_EQ(table.status, 200);
  EXPECT_THAT(table.headers.at("content-type"), ::testing::HasSubstr("text/csv"));
  EXPECT_THAT(table.body,
              ::testing::StartsWith("nightly,date,commit,level,low,high,processes,verdict,host\r\n"
                                    "1,2026-01-01," +
                                    sha_of('a').hex + ",10,10,10,1,,1\r\n"));
}

TEST_F(RoutesTest, AHistoryIsNewestFirst) {
  auto const page =
      read("/api/v1/series?fleet=local&benchmark=test_train%5Bdlrm-cpu-eager%5D&metric=latency");

  ASSERT_EQ(page.at("total"), 3);
  auto const& newest = page.at("items").at(0);
  EXPECT_EQ(newest.at("value"), 12);
  EXPECT_EQ(newest.at("samples"), json({12, 13}));
  EXPECT_EQ(newest.at("date"), "2026-01-02");
  EXPECT_EQ(newest.at("campaign"), "nightly/2");
  EXPECT_EQ(newest.at("commit"), sha_of('b').hex);
  EXPECT_EQ(newest.at("measured_at"), "2026-01-02T03:04:07Z");
  EXPECT_EQ(newest.at("seed"), 4294967295);
  EXPECT_EQ(newest.at("place"), 1);
}

TEST_F(RoutesTest, ListsIncidentsWithTheirNightlies) {
  auto const page = read("/api/v1/incidents");

  ASSERT_THAT(ids(page), ElementsAre(1));
  auto const& incident = page.at("items").at(0);
  EXPECT_EQ(incident.at("baseline").at("date"), "2026-01-01");
  EXPECT_EQ(incident.at("nightly").at("date"), "2026-01-02");
  EXPECT_EQ(incident.at("changes").size(), 1U);
}

TEST_F(RoutesTest, AnIncidentHasTheCorrectionByALaterEdition) {
  EXPECT_EQ(read("/api/v1/incidents/1").at("correction"), nullptr);
  api.fill([](storage::Store& store) {
    store.incidents().correct(IncidentId{1}, std::nullopt, "no regression was found in them");
  });
  for (auto const& incident :
       {read("/api/v1/incidents/1"), read("/api/v1/incidents").at("items").at(0)})
    EXPECT_EQ(incident.at("correction"), "no regression was found in them");
}

TEST_F(RoutesTest, IncidentHasBisectionsAndFindings) {
  auto const incident = read("/api/v1/incidents/1");

  EXPECT_EQ(incident.at("report"), "https://github.com/o/r/issues/7");
  EXPECT_EQ(incident.at("fingerprint").at("host"), "lab");
  EXPECT_EQ(incident.at("baseline_pytorch"), "2.9.0a0+gitaaaaaaa");
  EXPECT_EQ(incident.at("nightly_pytorch"), "2.9.0a0+gitbbbbbbb");
  auto const& change = incident.at("changes").at(0);
  EXPECT_EQ(change.at("name"), "test_train[dlrm-cpu-eager]_latency");
  EXPECT_EQ(change.at("ratio"), 1.2);
  auto const& culprit = incident.at("bisections").at(0).at("findings").at(0).at("culprit");
  EXPECT_EQ(culprit.at("pull_request"), 123);
  EXPECT_EQ(culprit.at("url"), "https://github.com/pytorch/pytorch/commit/" + sha_of('c').hex);
}

TEST_F(RoutesTest, BisectionsAreListedAndShown) {
  auto const list = read("/api/v1/bisections");
  EXPECT_THAT(ids(list), ElementsAre(2, 1));
  auto const& listed = list.at("items").at(1);
  EXPECT_EQ(listed.at("steps_planned"), 2);
  EXPECT_EQ(listed.at("steps_done"), 1);
  EXPECT_FALSE(listed.contains("steps"));
  auto const solved = read("/api/v1/bisections/1");
  EXPECT_EQ(solved.at("outcome"), "culprit");
  auto const& effect = solved.at("findings").at(0).at("effects").at(0);
  EXPECT_EQ(effect.at("proof").at("verdict"), "regression");
  ASSERT_EQ(solved.at("steps").size(), 2U);
  EXPECT_EQ(solved.at("steps").at(0).at("done"), true);
  EXPECT_EQ(solved.at("steps").at(1).at("done"), false) << "planned only";
  auto const waiting = read("/api/v1/bisections/2");
  EXPECT_EQ(waiting.at("state"), "queued");
  EXPECT_EQ(waiting.at("outcome"), nullptr);
  EXPECT_TRUE(waiting.at("findings").empty());
}

TEST_F(RoutesTest, LinksLeadThroughAllPages) {
  std::vector<int> seen;
  std::string target = "/api/v1/nightlies?limit=2";
  for (int pages = 0; !target.empty() && pages < 5; ++pages) {
    auto const answer = ask(api.port(), get(target));
    auto const page = json::parse(answer.body);
    for (auto const id : ids(page))
      seen.push_back(id);
    target.clear();
    if (!answer.headers.contains("link")) break;
    auto const& link = answer.headers.at("link");
    EXPECT_THAT(link, ::testing::EndsWith(">; rel=\"next\""));
    target = link.substr(1, link.find('>') - 1);
  }
  EXPECT_THAT(seen, ElementsAre(3, 2, 1));
}

TEST_F(RoutesTest, LinkIsUnaffectedByNewRecords) {
  auto const first = ask(api.port(), get("/api/v1/nightlies?limit=1"));
  EXPECT_EQ(first.headers.at("link"), "</api/v1/nightlies?limit=1&before=3>; rel=\"next\"");
  api.fill([](storage::Store& store) {
    Nightly nightly;
    nightly.date = "2026-01-04";
    store.nightlies().announce(nightly);
  });

  auto const next = read("/api/v1/nightlies?limit=1&before=3");

  EXPECT_THAT(ids(next), ElementsAre(2));
  EXPECT_EQ(next.at("offset"), 2);
  EXPECT_THAT(ids(read("/api/v1/nightlies?limit=1&offset=1")), ElementsAre(3)) << "seen twice";
}

TEST_F(RoutesTest, BeforeAndOffsetAreRefusedTogether) {
  for (auto const* const query : {"before=99", "before=x", "before=2&offset=1"}) {
    auto const answer = ask(api.port(), get(std::string{"/api/v1/nightlies?"} + query));
    EXPECT_EQ(answer.status, 400) << query;
    EXPECT_EQ(json::parse(answer.body).at("errors").at(0).at("field"), "before") << answer.body;
  }
}

TEST_F(RoutesTest, LinkKeepsOtherParameters) {
  const auto* const target =
      "/api/v1/series?benchmark=test_train%5Bdlrm-cpu-eager%5D&fleet=local&metric=latency";
  auto const answer = ask(api.port(), get(std::string{target} + "&limit=1&offset=1"));

  EXPECT_EQ(answer.headers.at("link"),
            "<" + std::string{target} + "&limit=1&offset=2>; rel=\"next\"");
}

TEST_F(RoutesTest, APageBeyondTheEndIsEmpty) {
  auto const page = read("/api/v1/nightlies?offset=99");
  EXPECT_EQ(page.at("total"), 3);
  EXPECT_TRUE(page.at("items").empty());
}

TEST_F(RoutesTest, APercentEncodedPathIsTheSamePath) {
  EXPECT_EQ(read("/api/v1/nightlies/%32").at("id"), 2);
}

TEST_F(RoutesTest, OptionsNameTheMethods) {
  auto const one = ask(api.port(), "OPTIONS /api/v1/bisections HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(one.status, 204);
  EXPECT_EQ(one.headers.at("allow"), "GET, HEAD, OPTIONS, POST");
  auto const steered = ask(api.port(), "OPTIONS /api/v1/bisections/1 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(steered.headers.at("allow"), "GET, HEAD, OPTIONS, POST");
  auto const other = ask(api.port(), "OPTIONS /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(other.headers.at("allow"), "GET, HEAD, OPTIONS");
}

std::string bisection_request(std::string const& body, std::string const& token = "correct-horse") {
  return "POST /api/v1/bisections HTTP/1.1\r\nHost: x\r\nAuthorization: bearer " + token +
         "\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST_F(RoutesTest, BisectionRequestReturns202AndLocation) {
  Bisection queued;
  queued.id = BisectionId{2};
  api.reply_with(queued);
  json const body{{"start", sha_of('a').hex},
                  {"end", sha_of('d').hex},
                  {"benchmarks", {"test_train[dlrm-cpu-eager]", "test_eval[dlrm-cpu-eager]"}},
                  {"fleet", "local"},
                  {"metric", "cmem"},
                  {"threshold", 0.2},
                  {"direction", "both"},
                  {"prior", "paths"}};

  auto const answer = ask(api.port(), bisection_request(body.dump()));

  EXPECT_EQ(answer.status, 202) << answer.body;
  EXPECT_EQ(answer.body,
            R"({"id":2,"state":"queued","url":"/api/v1/bisections/2"})"
            "\n");
  EXPECT_EQ(answer.headers.at("location"), "/api/v1/bisections/2");
  EXPECT_EQ(read(answer.headers.at("location")).at("state"), "queued");
  ASSERT_EQ(api.asked().size(), 1U);
  auto const request = api.asked().front();
  EXPECT_EQ(request.start, sha_of('a'));
  EXPECT_EQ(request.end, sha_of('d'));
  ASSERT_EQ(request.series.size(), 2U);
  EXPECT_EQ(name_of(request.series.at(1)), "test_eval[dlrm-cpu-eager]_cmem");
  EXPECT_EQ(request.series.at(1).fleet, "local");
  EXPECT_DOUBLE_EQ(request.threshold, 0.2);
  EXPECT_EQ(request.direction, Direction::both);
  EXPECT_EQ(request.prior, Prior::paths);
}

std::string const least = json{{"start", sha_of('a').hex},
                               {"end", sha_of('d').hex},
                               {"benchmarks", {"test_train[dlrm-cpu-eager]"}}}
                              .dump();

TEST_F(RoutesTest, MissingFieldsHaveDefaults) {
  ASSERT_EQ(ask(api.port(), bisection_request(least)).status, 202);

  auto const request = api.asked().at(0);
  EXPECT_EQ(request.series.at(0).fleet, "local");
  EXPECT_EQ(request.series.at(0).metric, Metric::latency);
  EXPECT_DOUBLE_EQ(request.threshold, 0.07);
  EXPECT_EQ(request.direction, Direction::increase);
  EXPECT_EQ(request.prior, Prior::uniform);
}

TEST_F(RoutesTest, AgainKeepsFieldsOfBisection) {
  ASSERT_EQ(ask(api.port(), bisection_request(R"({"again": 1})")).status, 202);

  auto const request = api.asked().at(0);
  EXPECT_EQ(request.start, sha_of('a'));
  EXPECT_EQ(request.end, sha_of('b'));
  ASSERT_EQ(request.series.size(), 1U);
  EXPECT_EQ(request.series.at(0).fleet, "local");
  EXPECT_EQ(name_of(request.series.at(0)), "test_train[dlrm-cpu-eager]_latency");
  EXPECT_DOUBLE_EQ(request.threshold, 0.07);
  EXPECT_EQ(request.direction, Direction::increase);
  EXPECT_EQ(request.prior, Prior::uniform);
}

TEST_F(RoutesTest, BisectionAcceptsNightliesAsEnds) {
  json body{{"start", "2026-01-01"}, {"end", 2}, {"benchmarks", {"test_train[dlrm-cpu-eager]"}}};
  ASSERT_EQ(ask(api.port(), bisection_request(body.dump())).status, 202);
  EXPECT_EQ(api.asked().at(0).start, sha_of('a'));
  EXPECT_EQ(api.asked().at(0).end, sha_of('b'));
}

TEST_F(RoutesTest, BisectionAcceptsIncident) {
  ASSERT_EQ(ask(api.port(), bisection_request(R"({"incident": 1, "threshold": 0.1})")).status, 202);
  auto const request = api.asked().at(0);
  EXPECT_EQ(request.start, sha_of('a'));
  EXPECT_EQ(request.end, sha_of('b'));
  ASSERT_EQ(request.series.size(), 1U);
  EXPECT_EQ(name_of(request.series.at(0)), "test_train[dlrm-cpu-eager]_latency");
  EXPECT_EQ(request.series.at(0).fleet, "local");
  EXPECT_DOUBLE_EQ(request.threshold, 0.1);
  EXPECT_EQ(api.incidents().at(0), IncidentId{1});
}

TEST_F(RoutesTest, AgainKeepsIncidentUnlessCommitsOrSeriesDiffer) {
  for (auto const* const body : {R"({"again": 1})",
                                 R"({"again": 1, "threshold": 0.03})",
                                 R"({"again": 1, "metric": "cmem"})",
                                 R"({"again": 2})"})
    ASSERT_EQ(ask(api.port(), bisection_request(body)).status, 202) << body;
  EXPECT_THAT(api.incidents(),
              ElementsAre(IncidentId{1}, IncidentId{1}, std::nullopt, std::nullopt));
}

TEST_F(RoutesTest, IncidentKeepsFieldsOfItsBisection) {
  api.fill([](storage::Store& store) {
    auto request = store.bisections().find(BisectionId{1})->request;
    request.threshold = 0.03;
    auto const nightly = store.nightlies().all().at(2);
    store.incidents().record(nightly.id, {request.series.at(0), tests::slower()});
    auto const incident = store.incidents().open(NightlyId{2}, nightly.id, early);
    store.bisections().ask(request, incident.id, early);
  });
  ASSERT_EQ(ask(api.port(), bisection_request(R"({"incident": 2})")).status, 202);
  EXPECT_DOUBLE_EQ(api.asked().at(0).threshold, 0.03);
}

TEST_F(RoutesTest, NightlyWithoutCommitIsRefusedAsEnd) {
  api.fill([](storage::Store& store) {
    Nightly nightly;
    nightly.date = "2026-01-04";
    store.nightlies().announce(nightly);
  });
  auto const answer = ask(api.port(), bisection_request(R"({"incident": 1, "end": "2026-01-04"})"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("found nightly 2026-01-04, whose commit is not known yet"));
}

TEST_F(RoutesTest, GivenFieldsReplaceThoseOfEarlierBisection) {
  Series const memory{"local", parse_benchmark("test_eval[dcgan-cpu-eager]").value(), Metric::cmem};
  Series const leak{"local", memory.benchmark, Metric::leak};
  api.fill([&](storage::Store& store) {
    BisectionRequest const many{
        sha_of('a'), sha_of('d'), {memory, leak}, 0.2, Direction::both, Prior::paths};
    store.bisections().ask(many, std::nullopt, early);
  });
  json const body{{"again", 3},
                  {"end", sha_of('c').hex},
                  {"benchmarks", {"test_train[dlrm-cpu-eager]", "test_eval[dlrm-cpu-eager]"}},
                  {"threshold", 0.5}};
  ASSERT_EQ(ask(api.port(), bisection_request(body.dump())).status, 202);
  ASSERT_EQ(ask(api.port(), bisection_request(R"({"again": 3, "metric": "latency"})")).status, 202);

  auto const other_benchmarks = api.asked().at(0);
  EXPECT_EQ(other_benchmarks.start, sha_of('a'));
  EXPECT_EQ(other_benchmarks.end, sha_of('c'));
  EXPECT_DOUBLE_EQ(other_benchmarks.threshold, 0.5);
  EXPECT_EQ(other_benchmarks.direction, Direction::both);
  EXPECT_EQ(other_benchmarks.prior, Prior::paths);
  EXPECT_THAT(names(other_benchmarks.series),
              ElementsAre("test_train[dlrm-cpu-eager]_cmem",
                          "test_eval[dlrm-cpu-eager]_cmem",
                          "test_train[dlrm-cpu-eager]_leak",
                          "test_eval[dlrm-cpu-eager]_leak"));
  EXPECT_THAT(names(api.asked().at(1).series), ElementsAre("test_eval[dcgan-cpu-eager]_latency"))
      << "two series became the same";
}

TEST_F(RoutesTest, FailureOfBisectionRequestHasStatusOfItsKind) {
  std::pair<ErrorCode, int> const statuses[] = {{ErrorCode::invalid_argument, 400},
                                                {ErrorCode::not_found, 400},
                                                {ErrorCode::unavailable, 503},
                                                {ErrorCode::cancelled, 503},
                                                {ErrorCode::refused, 500},
                                                {ErrorCode::corrupt, 500},
                                                {ErrorCode::internal, 500}};
  for (auto const& [code, status] : statuses) {
    api.reply_with(Error{code, "end is no descendant of start"});
    auto const answer = ask(api.port(), bisection_request(least));
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(json::parse(answer.body).at("detail"), "end is no descendant of start");
  }
}

TEST(Routes, BisectionIsRefusedWithoutConfiguredToken) {
  LiveApi api{[] {
    auto options = LiveApi::options_with_token();
    options.access.token.clear();
    return options;
  }()};

  EXPECT_EQ(ask(api.port(), bisection_request(least)).status, 403);
  EXPECT_EQ(ask(api.port(), bisection_request(least, "")).status, 403);
  EXPECT_TRUE(api.asked().empty());
}

TEST(Routes, PriorIsConfiguredOneUnlessGivenOrRepeated) {
  LiveApi api{[] {
    auto options = LiveApi::options_with_token();
    options.prior = Prior::paths;
    return options;
  }()};
  auto given = json::parse(least);
  given["prior"] = "uniform";

  for (auto const& body : {least, given.dump(), std::string{R"({"again": 1})"}})
    ASSERT_EQ(ask(api.port(), bisection_request(body)).status, 202);

  EXPECT_EQ(api.asked().at(0).prior, Prior::paths);
  EXPECT_EQ(api.asked().at(1).prior, Prior::uniform);
  EXPECT_EQ(api.asked().at(2).prior, Prior::uniform) << "bisection 1 has this prior";
}

TEST(Routes, FleetIsRequiredIfThereAreSeveral) {
  LiveApi api{[] {
    auto options = LiveApi::options_with_token();
    options.fleets.resize(2);
    options.fleets[1].name = "gpu";
    options.fleets[1].device = Device::cuda;
    return options;
  }()};

  auto const answer = ask(api.port(), bisection_request(least));

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(json::parse(answer.body).at("errors").at(0).at("field"), "fleet");
  EXPECT_THAT(answer.body, HasSubstr(R"(\"local\", \"gpu\")"));
}

TEST(Routes, AgainIsRefusedIfFleetIsGone) {
  LiveApi api{[] {
    auto options = LiveApi::options_with_token();
    options.fleets[0].name = "gpu";
    options.fleets[0].device = Device::cuda;
    return options;
  }()};

  auto const gone = ask(api.port(), bisection_request(R"({"again": 1})"));
  auto const elsewhere = ask(api.port(), bisection_request(R"({"again": 1, "fleet": "gpu"})"));

  EXPECT_EQ(gone.status, 400);
  EXPECT_THAT(gone.body, HasSubstr(R"(found \"local\", allowed \"gpu\")"));
  EXPECT_EQ(elsewhere.status, 400);
  EXPECT_THAT(elsewhere.body, HasSubstr("whose device is cuda"));
  EXPECT_TRUE(api.asked().empty());
}

TEST(Routes, HealthFailsWhenTheStoreCannotBeRead) {
  TemporaryFolder const folder;
  auto const file = folder.database();
  SQLite::Database{file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE}.exec(
      "CREATE TABLE other (x)");
  auto reader = storage::Store::open_reader(file).value();
  FixedClock const clock;
  api::SharedHealth const health;
  metrics::Counters counters;
  api::Api api{reader, clock, health, counters, {}, LiveApi::options_with_token()};
  LiveServer server{[&api](http::HttpRequest request) {
    return api.handle(std::move(request));
  }};

  auto const answer = ask(server.port(), get("/healthz"));

  EXPECT_EQ(answer.status, 503);
  auto const body = json::parse(answer.body);
  EXPECT_EQ(body.at("status"), "failing");
  EXPECT_THAT(body.at("troubles").at(0).get<std::string>(), HasSubstr("store cannot be read"));
  EXPECT_EQ(body.at("version"), "0.1.0") << "`config check` recognizes its service by the version";
  EXPECT_EQ(ask(server.port(), get("/readyz")).status, 503);
  EXPECT_EQ(ask(server.port(), get("/api/v1/nightlies")).status, 500);
  EXPECT_EQ(server.reports().size(), 1U);
}

}  // namespace
}  // namespace torchwatch::tests
