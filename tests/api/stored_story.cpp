#include "tests/api/stored_story.h"

#include <string>

namespace torchwatch::tests {
namespace {

Benchmark const dlrm{"dlrm", Test::train, Device::cpu, "eager"};
Series const dlrm_latency{"local", dlrm, Metric::latency};
Series const dlrm_memory{"local", dlrm, Metric::cmem};

void announce(storage::Store& store, std::string const& date, char digit) {
  Nightly nightly;
  nightly.date = date;
  nightly.version = "2.9.0.dev";
  nightly.commit = sha_of(digit);
  nightly.prefix = "/secret/builds/" + date;
  nightly.announced_at = early;
  store.nightlies().announce(nightly);
}

void measure(storage::Store& store, Campaign const& campaign, char digit, int round, double ms) {
  JobOutcome outcome;
  outcome.key = JobKey{campaign, "local", dlrm, sha_of(digit), round};
  outcome.values[Metric::latency] = MetricValue{ms, {ms, ms + 1}};
  outcome.values[Metric::cmem] = MetricValue{1000, {1000}};
  outcome.version = "2.9.0a0+git" + std::string(7, digit);
  outcome.fingerprint = R"({"host":"lab"})";
  outcome.seconds = 1.5;
  outcome.finished_at = early + std::chrono::seconds{round};
  outcome.seed = 4294967295;
  outcome.place = 1;
  store.jobs().record({outcome});
}

void finish_nightlies(storage::Store& store) {
  auto first = store.nightlies().find(NightlyId{1}).value();
  first.state = NightlyState::done;
  store.nightlies().update(first);
  auto second = store.nightlies().find(NightlyId{2}).value();
  second.state = NightlyState::bisected;
  second.baseline = first.id;
  store.nightlies().update(second);
}

void judge(storage::Store& store) {
  Comparison same;
  same.verdict = Verdict::unchanged;
  store.incidents().record(NightlyId{2}, SeriesChange{dlrm_latency, slower()});
  store.incidents().record(NightlyId{2}, SeriesChange{dlrm_memory, same});
}

/// Returns a planned step.
BisectionStep step_of(int wave) {
  BisectionStep step;
  step.wave = wave;
  step.fleet = "local";
  step.benchmark = dlrm;
  step.commits = {sha_of('a'), sha_of('c')};
  step.reason = "2 of 2 suspects left; expected information gain 0.84 bits in 64 s";
  return step;
}

BisectionStep done(BisectionStep step) {
  step.is_done = true;
  step.readings = {{Metric::latency, {10, 12}}};
  step.beliefs = {{dlrm_latency, 0.01, sha_of('c'), sha_of('c'), 0.99}};
  return step;
}

Finding culprit(storage::Store& store) {
  Effect effect;
  effect.series = dlrm_latency;
  effect.before = 10;
  effect.after = 12;
  effect.probability = 0.99;
  effect.proof = store.incidents().verdicts(NightlyId{2}).at(1).comparison;
  effect.share = 1;
  return {
      {Commit{sha_of('c'), "Make embedding slower (#123)", "Ada <ada@example.org>", early, 123}},
      {effect}};
}

void bisect(storage::Store& store, IncidentId incident) {
  BisectionRequest request;
  request.start = sha_of('a');
  request.end = sha_of('b');
  request.series = {dlrm_latency};
  auto solved = store.bisections().ask(request, incident, early);
  store.bisections().plan(solved.id, {step_of(0), step_of(1)});
  store.bisections().finish(solved.id, 0, done(step_of(0)));
  solved.state = BisectionState::done;
  solved.outcome = BisectionOutcome::culprit;
  solved.findings = {culprit(store)};
  store.bisections().update(solved);

  request.end = sha_of('d');
  store.bisections().ask(request, std::nullopt, early);
}

}  // namespace

void store_story(storage::Store& store) {
  announce(store, "2026-01-01", 'a');
  announce(store, "2026-01-02", 'b');
  announce(store, "2026-01-03", 'd');
  measure(store, {"nightly/1"}, 'a', 0, 10);
  measure(store, {"nightly/2"}, 'a', 1, 10);
  measure(store, {"nightly/2"}, 'b', 2, 12);
  finish_nightlies(store);
  judge(store);
  store.histories().keep(NightlyId{1});
  store.histories().keep(NightlyId{2});
  auto const incident = store.incidents().open(NightlyId{1}, NightlyId{2}, early);
  store.incidents().intend_report(incident.id, "key");
  store.incidents().reported(incident.id, "https://github.com/o/r/issues/7");
  bisect(store, incident.id);
}

}  // namespace torchwatch::tests
