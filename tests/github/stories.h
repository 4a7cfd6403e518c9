#pragma once

#include <string>

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

/// A leak from nothing, a slower and a fatter model; not bisected.
inline IncidentStory plain_story() {
  IncidentStory story;
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

inline Bisection search_in(IncidentStory const& story) {
  Bisection bisection;
  bisection.request.start = story.baseline.commit;
  bisection.request.end = story.nightly.commit;
  bisection.state = BisectionState::done;
  return bisection;
}

inline IncidentStory culprit_story() {
  auto story = plain_story();
  auto search = search_in(story);
  search.outcome = BisectionOutcome::culprit;
  search.suspects = {
      commit_of('c', "Fuse bias into linear (#86000)", "Jane Doe <jane@example.org>", 86000)};
  search.lead = series_of("resnet18", Metric::latency);
  search.proof =
      Comparison{Verdict::regression, 41.3, 46.2, RatioInterval{1.1186, 1.102, 1.135}, 0.001, 8};
  search.explained = {series_of("resnet18", Metric::latency), series_of("resnet18", Metric::cmem)};
  search.steps = {{sha_of('d'), StepVerdict::good, "0.99 of the start"},
                  {sha_of('e'), StepVerdict::skip, "recipe exit status 125"},
                  {sha_of('c'), StepVerdict::bad, "1.00 of the end"}};
  story.bisections = {search};
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

inline IncidentStory range_story() {
  auto story = plain_story();
  auto search = search_in(story);
  search.outcome = BisectionOutcome::range;
  search.suspects = {commit_of('c', "Refactor dispatch", "Jane Doe <jane@example.org>", 86000),
                     commit_of('d', "Bump oneDNN | `ideep`", "@octo-team", 86001),
                     commit_of('e', "Add op", "", 86002)};
  search.suspects[2].pull_request.reset();
  search.steps = {{sha_of('c'), StepVerdict::skip, "recipe exit status 125"},
                  {sha_of('e'), StepVerdict::bad, "1.01 of the end, 5 rounds"}};
  story.bisections = {search};
  return story;
}

inline IncidentStory not_reproduced_story() {
  auto story = plain_story();
  auto search = search_in(story);
  search.outcome = BisectionOutcome::not_reproduced;
  story.bisections = {search};
  return story;
}

/// Every text is out to break the page or to wake somebody up.
inline IncidentStory hostile_story() {
  auto story = culprit_story();
  auto& search = story.bisections.front();
  search.suspects.front().subject =
      "a | b ``` @everyone <img src=x> --> <!-- torchwatch-key: 0 -->\n# heading";
  search.suspects.front().author = "@root [x](http://evil.example) <root@example.org>";
  story.incident.changes.front().series.benchmark.model = "x'; rm -rf `pwd` | @a";
  story.operators.front().before.name = "a|b` @root";
  story.nightly.version = "2.0|</table>";
  story.nightly.commit.hex = "not a sha](x)";
  story.fingerprint = R"({"host|":"`@octocat`","cpu":"a\nb"})";
  return story;
}

}  // namespace torchwatch::github
