// Filing at a GitHub whose answers are lost and whose lists lag, by a service that is killed.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "daemon/report/feedback.h"
#include "daemon/report/publisher.h"
#include "tests/api/stored_story.h"
#include "tests/captured_log.h"
#include "tests/fakes/github/direct_transport.h"
#include "tests/fakes/github/run.h"
#include "tests/fakes/memory/executioner.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::report {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Kills the service when it has sent a create, and GitHub has made the issue.
class KilledAfterCreate final : public github::Transport {
 public:
  KilledAfterCreate(fakes::FakeGithub& github, bool& is_armed)
      : transport_{github},
        is_armed_{is_armed} {}

  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override {
    bool const is_create = request.method == "POST";
    auto answer = co_await transport_.send(std::move(request));
    if (is_create && std::exchange(is_armed_, false)) throw std::runtime_error("killed");
    co_return answer;
  }

 private:
  fakes::DirectTransport transport_;
  bool& is_armed_;
};

/// A service with an incident to report, and its GitHub. Waiting moves the clock.
class FiledIncident {
 public:
  FiledIncident() {
    ::setenv("TORCHWATCH_TEST_TOKEN", "ghp_SecretOfTheService", 1);
    tests::store_story(store);
    options.repository = "pytorch/pytorch";
    options.token_env = "TORCHWATCH_TEST_TOKEN";
  }

  Result<std::string> publish() {
    Publisher publisher{options, store, folder.path(), network()};
    auto incident = store.incidents().all().at(0);
    incident.report.clear();
    return fakes::run(publisher.publish(std::move(incident)));
  }

  Result<> collect() {
    Feedback feedback{options, store, network()};
    return fakes::run(feedback.collect());
  }

  void change(json const& control) { github.control(control, fakes::DirectTransport::host()); }

  void fail(json const& fault) { change({{"faults", json::array({fault})}}); }

  /// New issues are listed only after so much waiting.
  void lag(seconds lag) {
    listed_at_ = clock.time + lag;
    change({{"settings", {{"lag_s", 3600}}}});
  }

  void pass_time(seconds duration) {
    clock.time += duration;
    if (clock.time >= listed_at_) change({{"settings", {{"lag_s", 0}}}});
  }

  json state() const { return github.state(); }

  std::ptrdiff_t posts() const {
    auto const all = state();
    auto const& requests = all.at("requests");
    return std::count_if(requests.begin(), requests.end(), [](json const& request) {
      return request.at("method") == "POST";
    });
  }

  fakes::MemoryFolder folder;
  storage::Store store = storage::Store::open(folder.path() / "db").value();
  fakes::TestClock clock;
  fakes::FakeGithub github{""};
  config::GithubOptions options;
  bool is_killed_after_create = false;

 private:
  Network network() {
    auto open = [this] {
      return std::make_unique<KilledAfterCreate>(github, is_killed_after_create);
    };
    return {std::move(open), clock, [this](seconds pause) {
              return wait(pause);
            }};
  }

  boost::asio::awaitable<void> wait(seconds pause) {
    pass_time(pause);
    co_return;
  }

  Timestamp listed_at_{};
};

json lost_create() {
  return {{"method", "POST"}, {"path", "/issues"}, {"after", true}, {"status", 502}};
}

TEST(FilingTest, WaitsForALaggingListAfterALostAnswer) {
  FiledIncident incident;
  incident.lag(seconds{60});
  incident.fail(lost_create());

  auto const filed = incident.publish();

  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(*filed, "https://github.com/pytorch/pytorch/issues/1");
  EXPECT_EQ(incident.posts(), 1);
}

TEST(FilingTest, CreatesAgainAfterTwoMinutesWhereTheLostCreateDidNothing) {
  FiledIncident incident;
  incident.fail({{"method", "POST"}, {"path", "/issues"}, {"drop", true}});
  auto const begin = incident.clock.time;

  ASSERT_TRUE(incident.publish());

  EXPECT_EQ(incident.posts(), 2);
  EXPECT_THAT(incident.state().at("issues"), SizeIs(1));
  EXPECT_GE(incident.clock.time - begin, seconds{120});
}

TEST(FilingTest, FilesOneIssueThoughItIsKilledBeforeTheAnswer) {
  FiledIncident incident;
  incident.lag(seconds{90});
  incident.is_killed_after_create = true;
  ASSERT_THROW(incident.publish().value(), std::exception);
  incident.pass_time(seconds{5});

  auto const filed = incident.publish();

  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(incident.posts(), 1);
  EXPECT_EQ(incident.store.incidents().report_sent_at(IncidentId{1}), std::nullopt);
}

/// Publishes with a kill before the write after `writes`, then again. False: it was not killed.
bool is_killed_and_files_once(int writes, bool is_lost) {
  FiledIncident incident;
  incident.lag(seconds{60});
  if (is_lost) incident.fail(lost_create());
  fakes::Executioner executioner{incident.folder.path() / "db"};
  executioner.grant(writes);
  bool was_killed = false;
  try {
    incident.publish().value();
  } catch (std::exception const&) {
    was_killed = true;
  }
  executioner.grant(1'000'000);
  EXPECT_TRUE(!was_killed || incident.publish()) << "after " << writes << " writes";
  EXPECT_THAT(incident.state().at("issues"), SizeIs(1)) << "after " << writes << " writes";
  EXPECT_EQ(incident.posts(), 1) << "after " << writes << " writes";
  return was_killed;
}

TEST(FilingTest, FilesOneIssueWhereverItIsKilled) {
  for (bool const is_lost : {false, true}) {
    int kills = 0;
    while (is_killed_and_files_once(kills, is_lost))
      ++kills;
    EXPECT_GE(kills, 3) << "the key, the time of sending and the address are written";
  }
}

TEST(FilingTest, SaysThatLabelsWereDroppedAndFindsTheIssueAgain) {
  FiledIncident incident;
  tests::CapturedLog const log;
  incident.change({{"settings", {{"push", false}, {"triage", true}}}});
  incident.fail(lost_create());

  ASSERT_TRUE(incident.publish());
  ASSERT_TRUE(incident.publish());

  EXPECT_THAT(incident.state().at("issues"), SizeIs(1));
  EXPECT_THAT(log.text(),
              AllOf(HasSubstr("label_dropped issue=https://github.com/pytorch/pytorch/issues/1 "
                              "label=\"torchbench-perf-report\""),
                    HasSubstr("alarm_raised kind=label_dropped")));
  auto const open = incident.store.alarms().open();
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open.front().kind, AlarmKind::label_dropped);
  EXPECT_EQ(open.front().detail,
            "https://github.com/pytorch/pytorch/issues/1 lacks \"torchbench-perf-report\": GitHub "
            "drops labels of a token that may not push to pytorch/pytorch; let it push, or empty "
            "github.labels");
}

TEST(FilingTest, ClearsTheAlarmWhenAnIssueHasItsLabels) {
  FiledIncident incident;
  incident.change({{"settings", {{"push", false}, {"triage", true}}}});
  ASSERT_TRUE(incident.publish());
  incident.change({{"labelled", {{"1", {"torchbench-perf-report"}}}}});
  ASSERT_TRUE(incident.publish());

  EXPECT_THAT(incident.store.alarms().open(), IsEmpty());
}

TEST(FilingTest, KeepsALongPauseOverRestartsAndSendsNothing) {
  FiledIncident incident;
  incident.fail({{"method", "POST"},
                 {"status", 403},
                 {"message", "You have exceeded a secondary rate limit."},
                 {"headers", {{"retry-after", "90"}}}});
  ASSERT_FALSE(incident.publish());
  auto const sent = incident.state().at("requests").size();

  incident.pass_time(seconds{89});
  EXPECT_THAT(incident.publish().error().message, HasSubstr("GitHub asked for no request before"));
  EXPECT_FALSE(incident.collect());
  EXPECT_THAT(incident.state().at("requests"), SizeIs(sent));

  incident.pass_time(seconds{1});
  ASSERT_TRUE(incident.publish());
  EXPECT_THAT(incident.state().at("issues"), SizeIs(1));
}

TEST(FilingTest, MasksTheTokenInWhatItReports) {
  FiledIncident incident;
  incident.fail({{"status", 401}, {"message", "Bad credentials: ghp_SecretOfTheService"}});
  EXPECT_THAT(incident.publish().error().message, HasSubstr("Bad credentials: [token]"));
}

}  // namespace
}  // namespace torchwatch::report
