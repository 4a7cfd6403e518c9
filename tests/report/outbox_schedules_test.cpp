// A thousand seeded schedules of faults over a fortnight with three incidents: GitHub fails in all
// known ways, the service is killed, and users edit, close and reopen the issues.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "github/issue.h"
#include "tests/fakes/memory/executioner.h"
#include "tests/report/faulty_transport.h"
#include "tests/report/publishing.h"

namespace torchwatch::report {
namespace {

using nlohmann::json;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = IncidentEventKind;
using State = IncidentState;

/// An event of the script.
struct Scene {
  int day = 0;
  std::int64_t incident = 1;
  Kind kind = Kind::opened;
  State state = State::open;
};

/// Incident 1 is fixed, returns and is fixed again. Incident 2 is accepted. Incident 3 is fixed and
/// returns.
std::vector<Scene> const& script() {
  static std::vector<Scene> const scenes{{0, 1, Kind::opened, State::open},
                                         {1, 1, Kind::explained, State::explained},
                                         {1, 2, Kind::opened, State::open},
                                         {2, 2, Kind::series_joined, State::open},
                                         {2, 3, Kind::opened, State::open},
                                         {3, 1, Kind::fix_expected, State::fix_expected},
                                         {3, 3, Kind::explained, State::explained},
                                         {4, 2, Kind::partly_fixed, State::partly_fixed},
                                         {5, 1, Kind::fixed, State::fixed},
                                         {5, 3, Kind::fixed, State::fixed},
                                         {6, 2, Kind::stale, State::stale},
                                         {9, 1, Kind::returned, State::returned},
                                         {9, 3, Kind::returned, State::returned},
                                         {10, 2, Kind::ruled, State::accepted},
                                         {12, 1, Kind::fixed, State::fixed}};
  return scenes;
}

/// The last day on which users close and reopen issues: later events of the script decide the final
/// state.
constexpr int last_day_of_users = 7;
constexpr int days = 14;

/// A fortnight of three incidents.
class Schedule {
 public:
  explicit Schedule(std::uint64_t seed)
      : dice_{seed},
        executioner_{service_.folder.path() / "torchwatch.sqlite"} {
    service_.open_transport = [this] {
      return std::make_unique<FaultyTransport>(service_.hub, service_.clock, dice_, faults_);
    };
    service_.on_wait = [this] {
      show_new_issues();
    };
    begin_ = service_.clock.time;
  }

  /// Lets the fortnight pass, then time without faults until all is sent.
  void pass() {
    while (day() < days) {
      play();
      faults_.percent = dice_.happens(20) ? 60 : 15;
      send_with_faults();
      act_as_user();
      service_.clock.time += minutes{10 + dice_.below(350)};
      show_new_issues();
    }
    play();
    faults_.percent = 0;
    service_.send_all();
  }

  void check() {
    EXPECT_THAT(service_.store->outbox().unfinished(), IsEmpty());
    EXPECT_THAT(service_.hub.state().at("issues"), SizeIs(3)) << "one issue each";
    for (std::int64_t incident = 1; incident <= 3; ++incident)
      check_incident(incident);
  }

 private:
  int day() const { return static_cast<int>((service_.clock.time - begin_) / hours{24}); }

  /// Stores the events of the script up to now.
  void play() {
    for (; next_ < script().size() && script()[next_].day <= day(); ++next_) {
      auto const& [of_day, incident, kind, state] = script()[next_];
      service_.detail = "scene " + std::to_string(next_);
      service_.happen(kind, state, incident);
    }
  }

  /// Sends what is due, by a service that may be killed at a request or a write.
  void send_with_faults() {
    if (dice_.happens(20)) executioner_.grant(dice_.below(12));
    if (dice_.happens(10)) delay_lists();
    try {
      static_cast<void>(service_.send());
    } catch (std::exception const&) {
      if (dice_.happens(10)) restart();
    }
    executioner_.grant(1'000'000);
  }

  void restart() {
    executioner_.grant(1'000'000);
    service_.refused_until = std::make_shared<Timestamp>();
    service_.open_store();
  }

  /// New issues are listed only after a while. An issue that may exist already was listed before.
  void delay_lists() {
    for (auto const& entry : service_.store->outbox().unfinished())
      if (entry.sent_at) return;
    service_.change({{"settings", {{"lag_s", 3600}}}});
    listed_at_ = service_.clock.time + seconds{dice_.below(110)};
  }

  void show_new_issues() {
    if (service_.clock.time < listed_at_ || listed_at_ == Timestamp{}) return;
    listed_at_ = {};
    service_.change({{"settings", {{"lag_s", 0}}}});
  }

  /// A user edits, closes or reopens an issue that the service knows.
  void act_as_user() {
    if (!dice_.happens(8)) return;
    auto const incident = 1 + dice_.below(3);
    auto const place = service_.store->outbox().place_of(IncidentId{incident}, "github");
    if (place.empty()) return;
    auto const number = place.substr(place.rfind('/') + 1);
    auto const issue = service_.issue(std::stoul(number));
    json members;
    switch (dice_.below(day() <= last_day_of_users ? 4 : 2)) {
      case 0:
        members["body"] = issue.at("body").get<std::string>() + "\n\nedited by a user";
        edited_.insert(incident);
        break;
      case 1:
        members["body"] = "written by a user";
        edited_.insert(incident);
        break;
      case 2:
        members["state"] = "closed";
        closed_.insert(incident);
        break;
      default:
        members["state"] = "open";
        break;
    }
    service_.change({{"changed", {{number, members}}}});
  }

  void check_incident(std::int64_t incident) {
    auto const sent = service_.sent_to("github", incident);
    for (auto const& entry : sent)
      EXPECT_EQ(entry.failure, "") << "message " << entry.message.id << " was not lost";
    auto const number = service_.store->incidents().find(IncidentId{incident})->report;
    auto const place = std::stoul(number.substr(number.rfind('/') + 1));
    check_comments(sent, service_.comments(place));
    check_body(incident, sent, service_.issue(place));
    check_state(incident, service_.issue(place));
  }

  /// Each comment is there once, in the order of the messages. A new version of an edited body is
  /// one, too.
  static void check_comments(std::vector<OutboxEntry> const& sent,
                             std::vector<std::string> const& comments) {
    std::vector<std::int64_t> order;
    std::set<std::int64_t> seen;
    for (auto const& comment : comments) {
      auto const message = std::ranges::find_if(sent, [&](OutboxEntry const& entry) {
        return comment.starts_with(entry.message.marker);
      });
      ASSERT_NE(message, sent.end()) << comment;
      EXPECT_TRUE(seen.insert(message->message.id).second) << "twice: " << comment;
      order.push_back(message->message.id);
    }
    EXPECT_TRUE(std::ranges::is_sorted(order));
    for (auto const& entry : sent)
      if (entry.message.action == OutboxAction::comment) {
        EXPECT_TRUE(seen.contains(entry.message.id)) << "lost: " << entry.message.marker;
      }
  }

  void check_body(std::int64_t incident,
                  std::vector<OutboxEntry> const& sent,
                  json const& issue) const {
    auto const body = issue.at("body").get<std::string>();
    if (edited_.contains(incident)) {
      EXPECT_THAT(body, testing::HasSubstr(" by a user")) << "an edit was overwritten";
      return;
    }
    std::string newest;
    for (auto const& entry : sent)
      if (entry.message.action == OutboxAction::edit_body) newest = entry.message.body;
    EXPECT_EQ(body, newest);
  }

  void check_state(std::int64_t incident, json const& issue) const {
    if (incident == 3) {
      EXPECT_EQ(issue.at("state"), "open") << "it returned";
      return;
    }
    EXPECT_EQ(issue.at("state"), "closed");
    if (incident == 1) {
      EXPECT_EQ(issue.at("state_reason"), "completed");
    }
    if (incident == 2 && !closed_.contains(incident)) {
      EXPECT_EQ(issue.at("state_reason"), "not_planned");
    }
  }

  Dice dice_;
  Publishing service_{3};
  fakes::Executioner executioner_;
  Faults faults_;
  Timestamp begin_{};
  Timestamp listed_at_{};
  std::size_t next_ = 0;  ///< scene of the script
  std::set<std::int64_t> edited_;
  std::set<std::int64_t> closed_;
};

/// The seeds of one test. A build that is not optimized, as under the sanitizers, tries few.
#ifdef __OPTIMIZE__
constexpr int seeds_of_test = 100;
#else
constexpr int seeds_of_test = 3;
#endif

class OutboxSchedules : public testing::TestWithParam<int> {};

TEST_P(OutboxSchedules, ReachOneIssueEachWithAllCommentsInOrder) {
  spdlog::set_level(spdlog::level::off);
  for (int i = 0; i < seeds_of_test; ++i) {
    auto const seed = static_cast<std::uint64_t>(GetParam() * seeds_of_test + i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Schedule schedule{seed};
    schedule.pass();
    schedule.check();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OutboxSchedules, testing::Range(0, 10));

}  // namespace
}  // namespace torchwatch::report
