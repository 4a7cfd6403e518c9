#pragma once

/// Records with every field set.

#include <string>

#include "storage/domain/bisection.h"
#include "storage/domain/job.h"
#include "tests/temporary_folder.h"

namespace torchwatch::tests {

/// 2026-01-02T03:04:05Z.
inline constexpr Timestamp early{std::chrono::seconds{1767323045}};

inline CommitSha sha_of(char digit) {
  return CommitSha{std::string(40, digit)};
}

inline Series latency_of(std::string const& model) {
  return Series{"local", Benchmark{model, Test::train, Device::cpu, "eager"}, Metric::latency};
}

inline Nightly nightly_of(std::string const& date, char digit) {
  Nightly nightly;
  nightly.date = date;
  nightly.version = "2.9.0.dev";
  nightly.commit = sha_of(digit);
  nightly.release_commit = sha_of('f');
  nightly.prefix = "/builds/" + date;
  nightly.announced_at = early;
  return nightly;
}

inline JobOutcome outcome_of(Campaign const& campaign, int round, double ms) {
  JobOutcome outcome;
  outcome.key = JobKey{campaign, "local", latency_of("dlrm").benchmark, sha_of('a'), round};
  outcome.values[Metric::latency] = MetricValue{ms, {ms, ms * 1.0625, 0.1}, {2}};
  outcome.values[Metric::cmem] = MetricValue{4096, {4096}};
  outcome.accounts["rss_peak_bytes"] = 8192;
  outcome.profile = {{"aten::add.Tensor", 2, 0.5, 4096}};
  outcome.version = "2.9.0a0";
  outcome.fingerprint = R"({"host":"lab","note":"caf\u00e9"})";
  outcome.seconds = 12.25;
  outcome.finished_at = early + std::chrono::seconds{round};
  outcome.seed = 4294967295;
  outcome.place = 1;
  return outcome;
}

inline Comparison slower() {
  Comparison comparison;
  comparison.verdict = Verdict::regression;
  comparison.before = 10;
  comparison.after = 12;
  comparison.ratio = RatioInterval{1.2, 1.15, 1.25};
  comparison.error_bound = 0.001;
  comparison.pairs = 6;
  return comparison;
}

}  // namespace torchwatch::tests
