#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/http_client.h"
#include "tests/api/live_api.h"

namespace torchwatch::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MetricsTest : public ::testing::Test {
 protected:
  std::string read() {
    auto const answer = ask(api.port(), get("/metrics"));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.headers.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    return answer.body;
  }

  void count_everything() {
    api.counters.job("local", "ok", 1.5);
    api.counters.job("local", "crashed", 0.5);
    api.counters.slot("local", 0.2, 2);
    api.counters.github_request("POST", 201);
    api.counters.github_request("GET", 0);
    api.counters.github_limit(4999);
  }

  LiveApi api;
};

TEST_F(MetricsTest, CountStoredRecords) {
  auto const text = read();

  EXPECT_THAT(text, HasSubstr("torchwatch_build_info{version=\"0.1.0\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_nightlies{state=\"announced\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_nightlies{state=\"failed\"} 0\n"));
  EXPECT_THAT(
      text,
      HasSubstr("torchwatch_newest_nightly_timestamp_seconds{which=\"announced\"} 1767323045"));
  EXPECT_THAT(text, HasSubstr("# TYPE torchwatch_incidents_total counter\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_incidents_total 1\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_incidents{state=\"open\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_incidents{state=\"false_alarm\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_bisections{state=\"queued\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_bisection_steps_total 2\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_alarms{kind=\"drift\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_store_bytes "));
  EXPECT_THAT(text, HasSubstr("process_resident_memory_bytes "));
}

TEST_F(MetricsTest, HaveTheNewestLevelOfEachSeriesWithUnitAndDirection) {
  MetricKind const kind{.unit = "1/s", .is_higher_better = true};
  auto const tokens = declare_metric("tokens_per_s", kind).value();
  api.fill([&](storage::Store& store) {
    auto outcome = outcome_of(Campaign::of(NightlyId{2}), 0, 12);
    outcome.key.commit = sha_of('b');
    outcome.key.benchmark = parse_benchmark("test_eval[nanogpt-cpu-mine]").value();
    outcome.values = {{tokens, MetricValue{1234.5, {1234.5}}}};
    store.jobs().record({outcome});
    store.histories().keep(NightlyId{2});
  });

  auto const text = read();

  EXPECT_THAT(text, HasSubstr("# TYPE torchwatch_series_level gauge\n"));
  EXPECT_THAT(
      text,
      HasSubstr("torchwatch_series_level{fleet=\"local\",benchmark=\"test_eval[nanogpt-cpu-"
                "mine]\",metric=\"tokens_per_s\",unit=\"1/s\",better=\"higher\"} 1234.5\n"));
  EXPECT_THAT(text, HasSubstr("metric=\"cmem\",unit=\"bytes\",better=\"lower\"} 1000\n"));
}

TEST_F(MetricsTest, HaveHealthOfWatchLoop) {
  api::HealthState health;
  health.heartbeat = api::HealthState::Instant::clock::now();
  health.last_pass = early;
  health.failed_passes = 2;
  health.free_bytes = std::int64_t{5} << 30;
  api.health.set(health);
  auto text = read();
  EXPECT_THAT(text, HasSubstr("torchwatch_healthy 1\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_failed_passes 2\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_disk_free_bytes 5368709120\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_heartbeat_age_seconds "));
  health.failed_passes = 3;
  api.health.set(health);
  EXPECT_THAT(read(), HasSubstr("torchwatch_healthy 0\n"));
}

TEST_F(MetricsTest, CountRequestsByRouteAndKnownMethod) {
  ask(api.port(), get("/api/v1/incidents/1"));
  ask(api.port(), get("/api/v1/incidents/99"));
  ask(api.port(), get("/no/such/place"));
  ask(api.port(), "BREW /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  auto const text = read();

  EXPECT_THAT(text,
              HasSubstr("torchwatch_http_requests_total{method=\"GET\",route=\"/api/v1/incidents/"
                        "{id}\",status=\"200\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("route=\"/api/v1/incidents/{id}\",status=\"404\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("{method=\"GET\",route=\"none\",status=\"404\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("{method=\"other\",route=\"/healthz\",status=\"405\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("BREW")));
  EXPECT_THAT(text,
              HasSubstr("torchwatch_http_request_duration_seconds_count{route=\"/healthz\"} 1\n"));
}

/// Returns all names of our metrics in a file, without the suffixes of histograms.
std::set<std::string> names_in(std::string const& file) {
  std::ifstream stream{file};
  std::string const text{std::istreambuf_iterator<char>{stream}, {}};
  std::regex const name{"(torchwatch|process)_[a-z_]+"};
  std::regex const suffix{"_bucket$"};
  std::set<std::string> names;
  for (std::sregex_iterator at{text.begin(), text.end(), name}; at != std::sregex_iterator{}; ++at)
    names.insert(std::regex_replace(at->str(), suffix, ""));
  return names;
}

TEST_F(MetricsTest, IncludeAllNamesInAlertsAndDashboard) {
  api::HealthState health;
  health.heartbeat = api::HealthState::Instant::clock::now();
  api.health.set(health);
  api.fill([](storage::Store& store) {
    storage::BuildRecord build;
    build.commit = sha_of('a');
    store.builds().record(build);
  });
  count_everything();
  read();  // a request that the second call counts
  auto const text = read();
  for (auto const* const file : {"alerts.yml", "grafana.json"}) {
    auto const names = names_in(std::string{TORCHWATCH_MONITORING "/"} + file);
    EXPECT_GT(names.size(), 8U);
    for (auto const& name : names)
      EXPECT_THAT(text, HasSubstr("# TYPE " + name + " ")) << file;
  }
}

TEST_F(MetricsTest, FollowConventionsOfPrometheus) {
  count_everything();
  TemporaryFolder const folder;
  auto const file = (folder.path() / "metrics").string();
  std::ofstream{file} << read();
  EXPECT_EQ(std::system(("promtool check metrics <" + file).c_str()), 0);
}

TEST_F(MetricsTest, CountJobsSlotsAndGithubRequests) {
  count_everything();
  auto const text = read();

  EXPECT_THAT(text, HasSubstr("torchwatch_jobs_total{fleet=\"local\",outcome=\"crashed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_job_seconds_total{fleet=\"local\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_slot_wait_seconds_bucket{fleet=\"local\",le=\"1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_slot_busy_seconds_total{fleet=\"local\"} 2\n"));
  EXPECT_THAT(text,
              HasSubstr("torchwatch_github_requests_total{method=\"POST\",status=\"201\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_github_requests_total{method=\"GET\",status=\"0\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("torchwatch_github_rate_limit_remaining 4999\n"));
}

}  // namespace
}  // namespace torchwatch::tests
