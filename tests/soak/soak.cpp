#include "tests/soak/soak.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

namespace torchwatch::soak {
namespace {

using std::chrono::days;
using std::chrono::hours;

constexpr std::chrono::sys_days first_day{std::chrono::year{2026} / 1 / 3};
/// The hours of a day at which the service looks at the feed; it does not wait for a failure to
/// pass.
constexpr int morning = 8;
constexpr int afternoon = 14;
constexpr int evening = 20;
/// Attempts at such an hour, an hour apart.
constexpr int attempts = 3;
/// A write that no kill prevents.
constexpr int never = 1'000'000;
/// Days at the end that have no kill planned: those that did not happen before happen there.
constexpr std::size_t days_without_planned_kills = 5;
/// Days of nightlies that the index lists.
constexpr std::size_t listed_days = 20;
constexpr std::int64_t bytes_of_a_build = 1 << 20;
constexpr std::int64_t quota_mib = 96;
constexpr double noise = 0.005;

std::string date_of(std::size_t day) {
  std::chrono::year_month_day const date{first_day + days{day}};
  return fmt::format("{:04}-{:02}-{:02}",
                     static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

bool is_kill(std::exception const& end) {
  return std::string_view{end.what()}.find("killed") != std::string_view::npos;
}

/// "Rework latency of alpha for case 42 (#1042)". Each is different, because a commit with the
/// title of a reverted one lands that again.
std::string subject_of(Planted const& planted) {
  return fmt::format("Rework {} of {} for case {} (#{})",
                     planted.metric.name(),
                     planted.model,
                     planted.begins,
                     1000 + planted.begins);
}

std::string number_in(std::string const& issue_url) {
  return issue_url.substr(issue_url.rfind('/') + 1);
}

}  // namespace

Soak::Soak(Request request)
    : request_{request},
      plan_{draw_plan(request.seed, request.days)},
      dice_{request.seed} {
  ::setenv("TORCHWATCH_TEST_TOKEN", "ghp_SecretOfTheService", 1);
  outcome_.culprits.resize(plan_.planted.size());
  hub_.control({{"settings", {{"writes_per_minute", 1'000'000}, {"hourly_limit", 1'000'000}}}},
               fakes::DirectTransport::host());
  configure();
  world_.restart();
  begin_life();
}

void Soak::configure() {
  auto& options = world_.options;
  options.feed.kind = config::FeedKind::libtorch;
  options.feed.path.clear();
  options.suite.models = changing_models();
  options.suite.models.emplace_back(drifting_model);
  options.decide.return_nights = 5;  // a model's next change is another one
  options.decide.anchor_nights = 7;  // as in a new configuration
  options.builds.quota_mib = quota_mib;
  options.builds.incident_days = 14;
  options.github.repository = "pytorch/pytorch";
  options.github.token_env = "TORCHWATCH_TEST_TOKEN";
  world_.open_transport = [this] {
    return std::make_unique<report::FaultyTransport>(hub_, world_.clock, dice_, faults_);
  };
}

/// The database has a second connection only where kills need it.
void Soak::begin_life() {
  script();
  if (request_.kills > 0) executioner_.emplace(database());
}

/// Sets what a restarted world has forgotten.
void Soak::script() {
  auto& rounds = world_.parts->rounds;
  rounds.noise = noise;
  rounds.metrics = [](Device) {
    return std::vector{Metric::latency, Metric::cmem, Metric::leak};
  };
  rounds.finish = [this](JobOutcome& outcome, Build const&) {
    ++processes_;
    auto const latency = outcome.values.find(Metric::latency);
    if (latency == outcome.values.end()) return;
    latency->second.value *= host_factor();
    for (auto& sample : latency->second.samples)
      sample *= host_factor();
  };
  rounds.failures.clear();
  auto const& lost = plan_.days[today_].lost_model;
  if (!lost.empty()) rounds.failures[{lost, tonight_}] = JobError::lost;
  world_.parts->builder.bytes = bytes_of_a_build;
}

void Soak::restart() {
  executioner_.reset();
  world_.restart();
  begin_life();
}

/// Hosts get 10% slower in a year, and with the seasons by 3%.
double Soak::host_factor() const {
  constexpr double season = 90;
  constexpr double year = 365;
  std::chrono::duration<double, days::period> const age = world_.clock.now() - first_day;
  return (1 + 0.1 * age.count() / year) *
         (1 + 0.03 * std::sin(2 * std::numbers::pi * age.count() / season));
}

void Soak::live(std::function<void(std::size_t)> const& progress) {
  auto const began = std::chrono::steady_clock::now();
  auto const start = plan_.days.size() / 6;
  for (today_ = 0; today_ < plan_.days.size(); ++today_) {
    if (today_ == start || today_ == plan_.days.size() / 2) sample();
    processes_ = 0;
    writes_of_the_day_ = 0;
    live_through(plan_.days[today_]);
    outcome_.processes.push_back(processes_);
    if (writes_of_the_day_ > 0) usual_writes_ = (3 * usual_writes_ + writes_of_the_day_) / 4;
    hub_.control({{"forgotten", true}}, fakes::DirectTransport::host());
    progress(today_ + 1);
  }
  --today_;
  send_the_rest();
  sample();
  outcome_.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void Soak::sample() {
  outcome_.samples.push_back(resources_now(today_, database()));
}

void Soak::live_through(PlannedDay const& day) {
  begin(day);
  for (auto const hour : {morning, afternoon, evening}) {
    world_.clock.time =
        std::max(world_.clock.time, Timestamp{first_day + days{today_}} + hours{hour});
    bool const is_news = hour == morning || happen_later_that_day(day, hour);
    if (is_news || has_failed_) try_to_pass();
  }
}

void Soak::begin(PlannedDay const& day) {
  change_disk(day);
  world_.options.builds.quota_mib = day.has_no_space_for_a_build ? 1 : quota_mib;
  faults_.is_down = day.is_github_down;
  faults_.percent = 10;
  auto const midnight = Timestamp{first_day + days{today_}};
  world_.clock.time = std::max(world_.clock.time, midnight + hours{morning});
  land(day);
  tonight_ = world_.sha(world_.trunk.size() - 1);
  script();
  world_.parts->rounds.host_failure.reset();
  if (day.rounds_until_slots_die)
    world_.parts->rounds.host_failure = fakes::ScriptedRounds::HostFailure{
        *day.rounds_until_slots_die, "srun: error: Node failure on node1"};
  publish(day);
}

/// Leaves space for a few more writes on the first day of a full disk.
void Soak::change_disk(PlannedDay const& day) {
  if (!day.is_disk_full)
    disk_.clear();
  else if (!disk_.is_full())
    disk_.fill_after(dice_.below(40));
}

void Soak::land(PlannedDay const& day) {
  for (std::size_t i = 0; i < day.quiet_commits; ++i)
    world_.land(fmt::format("Quiet {} of day {}", i, today_));
  if (today_ % days_between_steps == days_between_steps - 1) {
    world_.land("Check more");
    world_.change(world_.trunk.size() - 1, drifting_model, step_of_drift);
  }
  land_changes();
}

void Soak::land_changes() {
  for (std::size_t i = 0; i < plan_.planted.size(); ++i) {
    auto const& planted = plan_.planted[i];
    auto const subject = subject_of(planted);
    if (today_ == planted.begins) {
      change(subject, planted, planted.ratio);
      outcome_.culprits[i] = world_.sha(world_.trunk.size() - 1);
      world_.land(fmt::format("Quiet after {}", i));
    }
    if (today_ != planted.ends) continue;
    auto const revert = fmt::format(
        "Revert \"{}\"\n\nThis reverts commit {}.\n", subject, outcome_.culprits[i].hex);
    change(planted.is_reverted ? revert : fmt::format("Rework it again, {}", i),
           planted,
           1 / planted.ratio);
  }
}

void Soak::change(std::string const& message, Planted const& planted, double ratio) {
  world_.land(message);
  world_.change(world_.trunk.size() - 1, planted.model, ratio, planted.metric);
}

/// Puts the nightly's file on the index, and yesterday's late one later.
void Soak::publish(PlannedDay const& day) {
  auto const oldest = date_of(today_ - std::min(today_, listed_days));
  std::erase_if(world_.index.files, [&](auto const& file) { return file.second.date < oldest; });
  file_url_.clear();
  if (day.habit == Habit::missing) return;
  auto& file = world_.publish(date_of(today_), world_.trunk.size() - 1);
  file.bytes = bytes_of_a_build;
  for (auto const& [url, one] : world_.index.files)
    if (one.date == date_of(today_)) file_url_ = url;
  if (day.habit == Habit::broken)
    file.says = file.version.substr(0, file.version.find('+')) + "+cu126";
  if (day.habit == Habit::late) file.is_listed = false;
  if (day.has_no_space_for_a_build)
    file.trouble = Error{ErrorCode::unavailable, "unpack libtorch: No space left on device"};
}

/// True when something happened.
bool Soak::happen_later_that_day(PlannedDay const& day, int hour) {
  auto& files = world_.index.files;
  if (hour == afternoon) {
    auto const late = files.find(std::exchange(late_url_, {}));
    if (late != files.end()) late->second.is_listed = true;
    bool const is_again = day.habit == Habit::twice && !file_url_.empty();
    if (is_again) files.at(file_url_).etag = fmt::format("\"again {}\"", today_);
    return is_again || late != files.end();
  }
  if (day.habit == Habit::late) late_url_ = file_url_;
  if (!day.has_no_space_for_a_build || file_url_.empty()) return false;
  files.at(file_url_).trouble.reset();
  return true;
}

/// Passes until one succeeds. The rest waits for the next look at the feed.
void Soak::try_to_pass() {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    has_failed_ = !pass();
    if (!has_failed_) return;
    ++outcome_.failed_passes;
    recover();
  }
}

/// An hour later, hosts that failed are back.
void Soak::recover() {
  world_.parts->rounds.host_failure.reset();
  world_.clock.time += hours{1};
}

/// A pass that goes on after each kill. A full disk fails it, but does not end the service.
Result<> Soak::pass() {
  try {
    return pass_until_killed();
  } catch (std::exception const& problem) {
    disarm();
    if (!disk_.is_full()) throw;
    return Error{ErrorCode::unavailable, problem.what()};
  }
}

Result<> Soak::pass_until_killed() {
  while (true) {
    arm();
    try {
      auto passed = world_.pass();
      disarm();
      return passed;
    } catch (std::exception const& end) {
      if (!is_kill(end)) throw;
    }
    disarm();
    ++outcome_.kills;
    restart();
  }
}

/// The kills that should have happened by the end of the day, and have not.
int Soak::due_kills() const {
  auto const with_kills = plan_.days.size() - days_without_planned_kills;
  auto const part =
      std::min(1.0, static_cast<double>(today_ + 1) / static_cast<double>(with_kills));
  return static_cast<int>(std::ceil(request_.kills * part)) - outcome_.kills;
}

/// Plans the next kill, if one is due: before a write, or at a request to GitHub that fails. A disk
/// that is full can store no limit.
void Soak::arm() {
  bool const is_due = due_kills() > 0 && !disk_.is_full();
  faults_.may_kill = is_due;
  if (!executioner_ || disk_.is_full()) return;
  granted_ = is_due ? dice_.below(2 * usual_writes_ / (due_kills() + 1) + 1) : never;
  executioner_->grant(granted_);
}

void Soak::disarm() {
  faults_.may_kill = false;
  if (!executioner_ || disk_.is_full()) return;
  writes_of_the_day_ += granted_ - executioner_->left();
  executioner_->grant(never);
}

void Soak::send_the_rest() {
  faults_.percent = 0;
  faults_.may_kill = false;
  for (int times = 0; times < 100 && !world_.parts->store.outbox().unfinished().empty(); ++times) {
    static_cast<void>(world_.run(world_.parts->sender.send_due()));
    world_.clock.time += hours{6};
  }
}

Outcome Soak::outcome() {
  auto result = outcome_;
  auto& store = world_.parts->store;
  auto const github = hub_.state();
  result.published.issues = github.at("issues").size();
  for (auto const& incident : store.incidents().all()) {
    result.incidents.push_back(found_from(incident, github));
    count_messages(incident, github, result.published);
  }
  std::ranges::reverse(result.incidents);
  auto const subject = drift_subject(world_.series(drifting_model));
  for (auto const& alarm : store.alarms().all())
    if (alarm.kind == AlarmKind::drift)
      ++(alarm.subject == subject ? result.drift_alarms : result.other_drift_alarms);
  for (auto const& nightly : world_.nightlies())
    if (nightly.state != NightlyState::done && nightly.state != NightlyState::failed)
      ++result.days_not_judged;
  result.failed_writes = disk_.failed();
  return result;
}

FoundIncident Soak::found_from(Incident const& incident, nlohmann::json const& github) {
  auto& store = world_.parts->store;
  FoundIncident found;
  found.model = incident.changes.front().series.benchmark.model;
  for (auto const& change : incident.changes)
    found.metrics.push_back(change.series.metric);
  found.opened = day_of_time(incident.opened_at);
  for (auto const& event : store.incident_events().of(incident.id)) {
    if (event.kind == IncidentEventKind::fixed) found.closed.push_back(day_of_time(event.at));
    if (event.kind != IncidentEventKind::explained) continue;
    found.explained.push_back(day_of_time(event.at));
    if (!event.commit.hex.empty()) found.culprit = event.commit;
  }
  found.is_fixed = incident.state == IncidentState::fixed;
  for (auto const& issue : github.at("issues"))
    if (std::to_string(issue.at("number").get<std::int64_t>()) == number_in(incident.report))
      found.is_issue_closed = issue.at("state") == "closed";
  return found;
}

/// Counts the messages of an incident, and its comments by the hidden line of their messages.
void Soak::count_messages(Incident const& incident,
                          nlohmann::json const& github,
                          Published& published) {
  std::vector<std::string> bodies;
  for (auto const& comment : github.at("comments"))
    if (std::to_string(comment.at("issue").get<std::int64_t>()) == number_in(incident.report))
      bodies.push_back(comment.at("body"));
  for (auto const& entry : world_.parts->store.outbox().of(incident.id)) {
    auto const copies = std::ranges::count_if(
        bodies, [&](std::string const& body) { return body.starts_with(entry.message.marker); });
    bool const is_comment = entry.message.action == OutboxAction::comment;
    bool const is_missing = is_comment && copies == 0;
    if (!entry.done_at)
      ++published.unsent;
    else if (is_missing || !entry.failure.empty())
      ++published.lost;
    if (copies > 1) ++published.twice;
  }
}

std::size_t Soak::day_of_time(Timestamp time) const {
  auto const day = std::chrono::floor<days>(time) - first_day;
  return static_cast<std::size_t>(std::max<days::rep>(day.count(), 0));
}

}  // namespace torchwatch::soak
