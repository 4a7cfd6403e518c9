#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/domain/incident.h"

/// Incidents for the tests of reports.
namespace torchwatch::github {

inline CommitSha sha_of(char digit) {
  return CommitSha{std::string(40, digit)};
}

inline Series series_of(std::string model, Metric metric) {
  return {"local", {std::move(model), Test::eval, Device::cpu, "eager"}, metric};
}

inline SeriesChange change_of(Series series, double before, double after, RatioInterval ratio) {
  return {std::move(series), {Verdict::regression, before, after, ratio, 0.001, 6}};
}

inline Commit commit_of(char digit, std::string subject, std::string author, int pull_request) {
  Commit commit;
  commit.sha = sha_of(digit);
  commit.subject = std::move(subject);
  commit.author = std::move(author);
  commit.pull_request = pull_request;
  return commit;
}

inline Timestamp const story_time{std::chrono::seconds{1763800000}};  // 2025-11-22

/// An event of the incident in nightly 9, "2026-11-28", for the kinds that a nightly shows.
inline IncidentEvent event_of(IncidentEventKind kind, IncidentState state = IncidentState::open) {
  IncidentEvent event;
  event.incident = IncidentId{1};
  event.kind = kind;
  event.state = state;
  event.nightly = NightlyId{9};
  event.at = story_time;
  return event;
}

/// A leak from nothing, a slower model, and one that uses more memory; not bisected.
inline IncidentStory plain_story() {
  IncidentStory story;
  story.incident.id = IncidentId{1};
  story.incident.baseline = NightlyId{5};
  story.incident.nightly = NightlyId{6};
  auto leak = SeriesChange{series_of("dlrm", Metric::leak),
                           {Verdict::regression, 0, 1536, std::nullopt, 0.001, 4}};
  story.incident.changes = {
      change_of(series_of("resnet18", Metric::latency), 41.27, 46.35, {1.1231, 1.1012, 1.1455}),
      change_of(series_of("resnet18", Metric::cmem), 851748782, 1100000000, {1.2915, 1.29, 1.293}),
      leak};
  story.baseline.date = "2026-11-18";
  story.baseline.version = "2.11.0.dev20261118+cpu";
  story.baseline.commit = sha_of('a');
  story.nightly.date = "2026-11-20";
  story.nightly.version = "2.11.0.dev20261120+cpu";
  story.nightly.commit = sha_of('b');
  story.baseline_pytorch = "2.11.0a0+git1a2b3c4";
  story.nightly_pytorch = "2.11.0a0+git5d6e7f8";
  story.fingerprint =
      R"({"host":"node7","cpu":"EPYC 7763","threads":1,"clocks":{"governor":"performance"}})";
  return story;
}

inline Bisection new_bisection(IncidentStory const& story) {
  Bisection bisection;
  bisection.id = BisectionId{1};
  bisection.request.start = story.baseline.commit;
  bisection.request.end = story.nightly.commit;
  bisection.state = BisectionState::done;
  return bisection;
}

inline SeriesBelief belief_of(Metric metric, double no_change, char first, char last, double sure) {
  return {series_of("resnet18", metric), no_change, sha_of(first), sha_of(last), sure};
}

inline BisectionStep planned_step(int turn, std::string const& commits) {
  BisectionStep step;
  step.wave = turn;
  step.fleet = "local";
  step.benchmark = series_of("resnet18", Metric::latency).benchmark;
  for (char const digit : commits)
    step.commits.push_back(sha_of(digit));
  step.reason = "31 of 31 suspects left; expected information gain 0.84 bits in 64 s";
  return step;
}

inline BisectionStep measured_step(int turn,
                                   std::string const& commits,
                                   std::vector<double> latencies,
                                   std::vector<SeriesBelief> beliefs) {
  auto step = planned_step(turn, commits);
  step.is_done = true;
  step.readings = {{Metric::cmem, std::vector<double>(latencies.size(), 851748782)},
                   {Metric::latency, std::move(latencies)}};
  step.beliefs = std::move(beliefs);
  return step;
}

inline BisectionStep skipped_step(int turn, std::string const& commits, char skipped) {
  auto step = planned_step(turn, commits);
  step.is_done = true;
  step.skipped = sha_of(skipped);
  step.note = "recipe: exit status 125";
  return step;
}

inline Effect latency_effect(double before, double after, double share) {
  auto const ratio = after / before;
  Comparison const proof{after > before ? Verdict::regression : Verdict::improvement,
                         before,
                         after,
                         RatioInterval{ratio, ratio - 0.015, ratio + 0.015},
                         0.001,
                         8};
  return {series_of("resnet18", Metric::latency), before, after, 0.996, proof, share};
}

inline Commit fusing_commit() {
  return commit_of('c', "Fuse bias into linear (#86000)", "Jane Doe <jane@example.org>", 86000);
}

inline Commit taping_commit() {
  return commit_of('f', "Keep the tape (#86007)", "John Roe <john@example.org>", 86007);
}

/// One culprit of two series; a commit on the way to it did not build.
inline IncidentStory culprit_story() {
  auto story = plain_story();
  auto bisection = new_bisection(story);
  bisection.outcome = BisectionOutcome::culprit;
  Comparison const fatter{
      Verdict::regression, 851748782, 1100000000, RatioInterval{1.2915, 1.2915, 1.2915}, 0, 2};
  bisection.findings = {{{fusing_commit()},
                         {{series_of("resnet18", Metric::cmem), 851748782, 1.1e9, 1, fatter, 1},
                          latency_effect(41.3, 46.2, 0.965)}}};
  bisection.findings[0].effects[1].revert_check =
      Comparison{Verdict::improvement, 46.3, 41.5, RatioInterval{0.8963, 0.88, 0.912}, 0.001, 8};
  bisection.steps = {measured_step(1,
                                   "adb",
                                   {41.3, 41.5, 46.2},
                                   {belief_of(Metric::latency, 0.04, 'e', 'b', 0.93),
                                    belief_of(Metric::cmem, 0.0001, 'e', 'b', 0.9999)}),
                     skipped_step(2, "ae", 'e'),
                     measured_step(3,
                                   "dc",
                                   {41.4, 46.3},
                                   {belief_of(Metric::latency, 0.0002, 'c', 'c', 0.995),
                                    belief_of(Metric::cmem, 0.0001, 'c', 'c', 0.9999)})};
  story.bisections = {bisection};
  auto const benchmark = series_of("resnet18", Metric::latency).benchmark;
  story.operators = {
      {"local",
       benchmark,
       {"aten::mkldnn_convolution", 20, 30.5, 851748782},
       {"aten::mkldnn_convolution", 40, 35.25, 1100000000}},
      {"local", benchmark, {"aten::add_.Tensor", 0, 0, 0}, {"aten::add_.Tensor", 8, 0.5, 0}},
      {"local", benchmark, {"aten::relu_", 17, 1.5, 0}, {"aten::relu_", 17, 1.4375, 0}},
      {"other", benchmark, {"aten::relu_", 17, 1.5, 0}, {"aten::relu_", 17, 1.5, 0}}};
  return story;
}

/// Two commits share the change of one series.
inline IncidentStory two_culprits_story() {
  auto story = plain_story();
  auto bisection = new_bisection(story);
  bisection.outcome = BisectionOutcome::culprit;
  bisection.findings = {{{fusing_commit()}, {latency_effect(41.3, 44.35, 0.6)}},
                        {{taping_commit()}, {latency_effect(44.3, 46.33, 0.4)}}};
  bisection.steps = {measured_step(
      1, "acfb", {41.3, 44.3, 46.3, 46.3}, {belief_of(Metric::latency, 0.0002, 'c', 'f', 0.81)})};
  story.bisections = {bisection};
  return story;
}

/// A commit made it faster and a later one slower than it had been.
inline IncidentStory improvement_story() {
  auto story = plain_story();
  auto bisection = new_bisection(story);
  bisection.outcome = BisectionOutcome::culprit;
  bisection.findings = {{{taping_commit()}, {latency_effect(38.3, 46.3, 1.6)}},
                        {{fusing_commit()}, {latency_effect(41.3, 38.3, -0.6)}}};
  bisection.steps = {measured_step(
      1, "acfb", {41.3, 38.3, 46.3, 46.3}, {belief_of(Metric::latency, 0.0002, 'f', 'f', 0.87)})};
  story.bisections = {bisection};
  return story;
}

/// The culprit was reverted, and all series are back in nightly 9.
inline IncidentStory fixed_story() {
  auto story = culprit_story();
  story.incident.state = IncidentState::fixed;
  story.nightlies[NightlyId{9}].id = NightlyId{9};
  story.nightlies[NightlyId{9}].date = "2026-11-28";
  for (auto const& [series, change, muted] : story.incident.changes) {
    auto const level = change.before;
    auto const ratio = change.ratio ? std::optional<RatioInterval>{{1, 0.99, 1.01}} : std::nullopt;
    Comparison const now{Verdict::unchanged, level, level, ratio, 0.001, 8};
    story.recoveries.push_back({series, NightlyId{9}, now});
  }
  story.events = {event_of(IncidentEventKind::opened, IncidentState::open),
                  event_of(IncidentEventKind::explained, IncidentState::explained),
                  event_of(IncidentEventKind::fix_expected, IncidentState::fix_expected),
                  event_of(IncidentEventKind::fixed, IncidentState::fixed)};
  story.events[0].nightly = NightlyId{6};
  story.events[2].nightly.reset();
  story.events[2].detail = "reverts cccccccccccc";
  story.events[2].commit = story.events[3].commit = sha_of('d');
  return story;
}

/// Only the first series is back.
inline IncidentStory partly_fixed_story() {
  auto story = fixed_story();
  story.incident.state = IncidentState::partly_fixed;
  story.recoveries.resize(1);
  story.events.back() = event_of(IncidentEventKind::partly_fixed, IncidentState::partly_fixed);
  return story;
}

/// A maintainer ruled on the incident.
inline IncidentStory ruled_story(RulingKind kind) {
  auto story = culprit_story();
  bool const is_accepted = kind == RulingKind::accept;
  story.incident.state = is_accepted ? IncidentState::accepted : IncidentState::false_alarm;
  Ruling ruling;
  ruling.kind = kind;
  ruling.incident = story.incident.id;
  ruling.who = "ada";
  ruling.why = "pays for itself @everyone";
  story.rulings = {ruling};
  story.events = {event_of(IncidentEventKind::ruled, story.incident.state)};
  story.events[0].nightly.reset();
  return story;
}

inline IncidentStory range_story() {
  auto story = plain_story();
  auto bisection = new_bisection(story);
  bisection.outcome = BisectionOutcome::range;
  std::vector<Commit> suspects{
      commit_of('c', "Refactor dispatch", "Jane Doe <jane@example.org>", 86000),
      commit_of('d', "Bump oneDNN | `ideep`", "@octo-team", 86001),
      commit_of('e', "Add op", "", 86002)};
  suspects[2].pull_request.reset();
  auto effect = latency_effect(41.3, 46.2, 0);
  effect.proof.reset();
  bisection.findings = {{suspects, {effect}}};
  bisection.steps = {
      skipped_step(1, "acb", 'c'),
      skipped_step(1, "adb", 'd'),
      measured_step(
          2, "aeb", {41.3, 46.3, 46.2}, {belief_of(Metric::latency, 0.001, 'c', 'e', 0.996)})};
  bisection.steps[1].note = "measurement: the worker died";
  story.bisections = {bisection};
  return story;
}

/// The budget ended while two commits were left.
inline IncidentStory undecided_story() {
  auto story = range_story();
  auto& bisection = story.bisections.front();
  bisection.outcome = BisectionOutcome::undecided;
  bisection.findings.front().suspects.pop_back();
  bisection.findings.front().effects.front().probability = 0.71;
  bisection.steps = {
      measured_step(1, "ab", {41.3, 46.2}, {belief_of(Metric::latency, 0.05, 'c', 'b', 0.9)}),
      measured_step(
          2, "adb", {41.3, 44.1, 46.2}, {belief_of(Metric::latency, 0.02, 'c', 'd', 0.71)}),
      planned_step(3, "cd")};
  return story;
}

inline IncidentStory not_reproduced_story() {
  auto story = plain_story();
  auto bisection = new_bisection(story);
  bisection.outcome = BisectionOutcome::not_reproduced;
  bisection.steps = {
      measured_step(1, "ab", {41.3, 41.2}, {belief_of(Metric::latency, 0.992, 'c', 'b', 0.008)})};
  story.bisections = {bisection};
  return story;
}

/// Two nightlies that were built by two compilers.
inline IncidentStory environment_story() {
  auto story = not_reproduced_story();
  auto& bisection = story.bisections.front();
  bisection.outcome = BisectionOutcome::environment;
  bisection.packages =
      Packages{{"- g++ (Debian 12.2.0-14) 12.2.0", "+ g++ (Debian 13.3.0-1) 13.3.0"},
               {story.incident.changes.front()}};
  return story;
}

/// Every text tries to break the page or to notify a user.
inline IncidentStory hostile_story() {
  auto story = culprit_story();
  auto& bisection = story.bisections.front();
  auto& culprit = bisection.findings.front().suspects.front();
  culprit.subject = "a | b ``` @everyone <img src=x> --> <!-- torchwatch-key: 0 -->\n# heading";
  culprit.author = "@root [x](http://evil.example) <root@example.org>";
  bisection.findings.front().effects.front().series.fleet = "`@fleet` | </details>";
  bisection.steps[0].benchmark.model = "x` | @b";
  bisection.steps[0].reason = "</details>\n\n# heading | `@all`";
  bisection.steps[0].beliefs[0].last.hex = "</details> | @c";
  bisection.steps[0].commits[1].hex = "[x](http://evil.example)";
  bisection.steps[1].note = "exit status 1:\n</details> @everyone";
  story.incident.changes.front().series.benchmark.model = "x'; rm -rf `pwd` | @a";
  story.operators.front().before.name = "a|b` @root";
  story.nightly.version = "2.0|</table>";
  story.nightly.commit.hex = "not a sha](x)";
  story.fingerprint = R"({"host|":"`@octocat`","cpu":"a\nb"})";
  return story;
}

/// The first bisection of a story.
inline Bisection bisection_of(IncidentStory const& story) {
  return story.bisections.front();
}

}  // namespace torchwatch::github
