#include "daemon/suite_try/checks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "config/suites.h"
#include "runner/acceptance.h"
#include "storage/domain/words.h"

namespace torchwatch::suite_try {
namespace {

using protocol::Outcome;

/// The longest time from the start of a worker to its hello, and from the end of its input to its
/// end, in seconds. The runner kills a worker that takes longer to end.
constexpr double longest_start = 60;
constexpr double longest_leave = 2;
/// The largest share of a CPU that a worker may use while it waits.
constexpr double most_rest = 0.1;
/// A process that gets a quarter of the time must get worse by at least this factor.
constexpr double least_slowdown = 1.5;
/// The shortest time that a worker can have measured, in seconds.
constexpr double shortest_time = 1e-9;

CheckResult passed(std::string check, std::string found) {
  return {std::move(check), State::passed, std::move(found)};
}

CheckResult failed(std::string check, std::string found, std::string mend) {
  return {std::move(check), State::failed, std::move(found), std::move(mend)};
}

/// Adds `item` to a list for people.
void append(std::string& list, std::string const& item, std::string_view separator = ", ") {
  list += (list.empty() ? "" : std::string{separator}) + item;
}

/// Returns the value and the samples of a metric.
std::vector<double> numbers_of(protocol::Value const& value) {
  auto numbers = value.samples;
  numbers.push_back(value.value);
  return numbers;
}

bool must_be_positive(MetricKind const& kind) {
  return kind.is_higher_better || !kind.is_exact;
}

/// Returns the problem of a number of a metric; empty without one. Kept memory may shrink.
std::string problem_of(double number, std::string const& name, MetricKind const& kind) {
  if (!std::isfinite(number)) return "it is not finite";
  if (name == "leak") return {};
  if (number < 0) return "it is negative";
  if (number == 0 && must_be_positive(kind)) return "it is not above 0";
  return {};
}

/// Returns the seconds of a unit of time; nothing for other units.
std::optional<double> seconds_of(std::string const& unit) {
  constexpr std::array<std::pair<std::string_view, double>, 6> units{
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}}};
  for (auto const& [word, seconds] : units)
    if (unit == word) return seconds;
  return std::nullopt;
}

/// Returns the problem of a metric's values with its unit; empty without one.
std::string unit_problem(std::vector<double> const& numbers,
                         MetricKind const& kind,
                         double seconds) {
  if (auto const unit = seconds_of(kind.unit)) {
    auto const [least, most] = std::ranges::minmax(numbers);
    if (most * *unit > seconds)
      return fmt::format("{:g} {}, in a job of {:.2f} s", most, kind.unit, seconds);
    if (least * *unit < shortest_time) return fmt::format("{:g} {}", least, kind.unit);
  }
  bool const is_count = kind.is_exact && (kind.unit == "1" || kind.unit == "bytes");
  if (!is_count) return {};
  for (double const number : numbers)
    if (number != std::floor(number))
      return fmt::format("{:g}, which is not a whole number of {}", number, kind.unit);
  return {};
}

/// Returns the samples of a metric as a number; a value without samples is one.
std::size_t samples_of(protocol::Value const& value) {
  return std::max<std::size_t>(value.samples.size(), 1);
}

/// Returns the metrics with too many samples. Leaks have one for each iteration.
std::string too_many_samples(CountedRuns const& result, Declared const& declared) {
  std::string problems;
  for (auto const& [name, value] : result.outcome.metrics) {
    auto const kind = declared.find(name);
    if (kind == declared.end() || name == "leak") continue;
    auto const most =
        kind->second.is_exact ? std::size_t{1} : static_cast<std::size_t>(result.asked);
    if (samples_of(value) > most)
      append(problems, fmt::format("{}: {} samples, allowed {}", name, samples_of(value), most));
  }
  return problems;
}

/// Returns the largest number of samples of a noisy metric; nothing without such metrics.
std::optional<std::size_t> most_noisy_samples(Outcome const& outcome, Declared const& declared) {
  std::optional<std::size_t> most;
  for (auto const& [name, value] : outcome.metrics) {
    auto const kind = declared.find(name);
    if (kind == declared.end() || kind->second.is_exact) continue;
    most = std::max(most.value_or(0), samples_of(value));
  }
  return most;
}

/// Returns the problem of a reply to a job for something unknown; empty without one.
std::string problem_of(Reply const& reply) {
  if (reply.outcome) return "it was measured";
  if (!reply.failure) return reply.problem;
  auto const& failure = *reply.failure;
  if (failure.code != "unsupported") return text_of_failure(reply);
  return failure.text.empty() ? "unsupported, without a reason" : "";
}

/// Returns the ratio of the costs of a metric in two results: above 1 is worse.
double cost_ratio(double normal, double slowed, MetricKind const& kind) {
  return kind.is_higher_better ? normal / slowed : slowed / normal;
}

std::string_view other_direction(MetricKind const& kind) {
  return kind.is_higher_better ? "lower" : "higher";
}

/// Returns a way to mend the reason for which a job failed.
std::string advice_on(std::string const& text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> advice{{
      {"Read-only file system",
       "write only below $TMPDIR: the build and other files are read-only"},
      {"Network is unreachable",
       "a sandbox has no network: fetch files before, or set "
       "`fleets[].network`"},
      {"name resolution",
       "a sandbox has no network: fetch files before, or set "
       "`fleets[].network`"},
      {"Connection refused", "a sandbox has a network of its own: start servers in the job"},
      {"Permission denied", "name the path in the suite's `readable`"},
      {"No such file", "name the path in the suite's `readable`: a sandbox hides other files"},
  }};
  for (auto const& [part, mend] : advice)
    if (text.find(part) != std::string::npos) return std::string{mend};
  return "run it by hand; docs/worker-protocol.md has a whole session";
}

}  // namespace

std::string text_of_failure(Reply const& reply) {
  if (reply.outcome) return {};
  if (!reply.failure) return reply.problem;
  return reply.failure->code + ": " + reply.failure->text;
}

Declared declared_by(config::SuiteOptions const& suite, protocol::Job const& job) {
  Declared declared;
  for (auto const& name : job.metrics)
    declared[name] = config::kind_of(suite.metrics.at(name));
  if (!job.metrics.empty()) return declared;
  for (auto const metric : all_metrics())
    if (is_native(metric)) declared[metric.name()] = metric.kind();
  return declared;
}

CheckResult check_hello(Heard const& first, double seconds) {
  constexpr auto mend = "send a hello before all else, see docs/worker-protocol.md";
  if (first.kind == Heard::Kind::silence)
    return failed("starts", fmt::format("no hello within {:.0f} s", longest_start), mend);
  if (!first.message) return failed("starts", first.text, mend);
  auto const* const hello = std::get_if<protocol::Hello>(&*first.message);
  if (hello == nullptr)
    return failed("starts", "its first message is a " + protocol::type_of(*first.message), mend);
  if (hello->role != "worker")
    return failed("starts", "its role is \"" + hello->role + "\"", "send the role \"worker\"");
  if (hello->protocol != protocol::version)
    return failed("starts",
                  fmt::format("it uses protocol {}", hello->protocol),
                  fmt::format("send \"protocol\": {}, and its messages", protocol::version));
  return passed("starts", fmt::format("hello after {:.1f} s", seconds));
}

CheckResult check_answer(Reply const& reply, protocol::Job const& job) {
  if (!reply.outcome) {
    auto const text = text_of_failure(reply);
    return failed("answers", text, advice_on(text));
  }
  auto const& outcome = *reply.outcome;
  if (outcome.id != job.id || outcome.benchmark != job.benchmark)
    return failed("answers",
                  "a result with id \"" + outcome.id + "\" of \"" + outcome.benchmark + "\"",
                  "copy `id` and `benchmark` from the job");
  return passed("answers", fmt::format("a result after {:.1f} s", reply.seconds));
}

CheckResult check_output(std::vector<std::string> const& noise) {
  if (noise.empty()) return passed("output", "only messages");
  return failed("output",
                "found " + noise.front(),
                "keep standard output for messages: duplicate it before any import, and let "
                "descriptor 1 lead to standard error");
}

CheckResult check_metrics(Outcome const& outcome, protocol::Job const& job) {
  std::string problems;
  auto const required = job.metrics.empty() ? std::vector<std::string>{"latency"} : job.metrics;
  for (auto const& name : required)
    if (!outcome.metrics.contains(name)) append(problems, name + " is missing");
  for (auto const& [name, value] : outcome.metrics) {
    auto const metric = parse_metric(name);
    bool const is_asked = job.metrics.empty() ? metric && is_native(*metric)
                                              : std::ranges::count(job.metrics, name) > 0;
    if (!is_asked) append(problems, name + " is not declared");
  }
  if (problems.empty()) return passed("metrics", "all declared ones, and no others");
  return failed("metrics", problems, "send exactly the names in the job's `metrics`");
}

CheckResult check_values(Outcome const& outcome,
                         protocol::Job const& job,
                         Declared const& declared) {
  constexpr auto mend = "report the measured number; declare `kind` exact if it may be 0";
  for (auto const& [name, value] : outcome.metrics) {
    auto const kind = declared.find(name);
    if (kind == declared.end()) continue;  // check_metrics reports it
    for (double const number : numbers_of(value))
      if (auto const why = problem_of(number, name, kind->second); !why.empty())
        return failed("values", fmt::format("{}: {:g}: {}", name, number, why), mend);
  }
  auto const why = runner::check_outcome(outcome, job);
  if (why.empty()) return passed("values", "finite, and in their range");
  return failed("values", "the runner does not accept " + why, mend);
}

CheckResult check_units(Outcome const& outcome, Declared const& declared, double seconds) {
  for (auto const& [name, value] : outcome.metrics) {
    auto const kind = declared.find(name);
    if (kind == declared.end()) continue;
    auto const why = unit_problem(numbers_of(value), kind->second, seconds);
    if (!why.empty())
      return failed("units",
                    name + ": " + why,
                    "declare the unit that the worker reports, or convert the values");
  }
  return passed("units", "plausible");
}

CheckResult check_runs(std::vector<CountedRuns> const& results, Declared const& declared) {
  constexpr auto mend =
      "measure as many runs as the job's `measure.runs`; send one sample for each";
  for (auto const& result : results) {
    auto const problems = too_many_samples(result, declared);
    if (!problems.empty()) return failed("runs", problems, mend);
    auto const most = most_noisy_samples(result.outcome, declared);
    if (most && *most != static_cast<std::size_t>(result.asked))
      return failed(
          "runs", fmt::format("{} samples, asked for {} runs", *most, result.asked), mend);
  }
  return passed("runs", "as many as asked for");
}

CheckResult check_repeat(Reply const& second) {
  if (second.outcome) return passed("repeats", "a second job in one process");
  return failed("repeats",
                text_of_failure(second),
                "read jobs until the input ends, and keep nothing of the one before");
}

CheckResult check_exact(std::vector<Outcome> const& outcomes, Declared const& declared) {
  std::size_t exact = 0;
  for (auto const& [name, kind] : declared) {
    if (!kind.is_exact) continue;
    std::vector<double> values;
    for (auto const& outcome : outcomes)
      if (auto const found = outcome.metrics.find(name); found != outcome.metrics.end())
        values.push_back(found->second.value);
    if (values.empty()) continue;
    ++exact;
    auto const [least, most] = std::ranges::minmax(values);
    if (most - least > kind.floor)
      return failed("exact",
                    fmt::format("{}: {:.17g} and {:.17g} in two processes", name, least, most),
                    "fix seeds and inputs, or declare it as noisy");
  }
  if (exact == 0) return skipped("exact", "no exact metrics");
  return passed("exact", fmt::format("equal in {} processes", outcomes.size()));
}

CheckResult check_unknown(std::vector<UnknownJob> const& jobs, bool is_command) {
  std::string asked;
  for (auto const& [what, reply] : jobs) {
    append(asked, what);
    auto const why = problem_of(reply);
    if (!why.empty())
      return failed("unknown",
                    "unknown " + what + ": " + why,
                    is_command ? "exit with status 125, and print the reason on standard error"
                               : "answer with an error of code \"unsupported\", and the reason");
  }
  if (jobs.empty()) return skipped("unknown", "the command has no {model}");
  return passed("unknown", "unsupported: unknown " + asked);
}

CheckResult check_bad_line(Heard const& heard) {
  auto const* const failure =
      heard.message ? std::get_if<protocol::Failure>(&*heard.message) : nullptr;
  if (failure != nullptr && failure->code == "protocol")
    return passed("bad line", "answered with the error protocol");
  auto found = heard.text.empty() ? std::string{"no answer"} : heard.text;
  if (heard.message) found = "answered with " + protocol::encode(*heard.message);
  return failed(
      "bad line", found, "answer a line that is not a message with an error of code \"protocol\"");
}

CheckResult check_turns(TurnLog const& log) {
  constexpr auto mend =
      "send `ready` and wait for `turn` before building, before each run and after the last";
  if (!log.sent_while_waiting.empty())
    return failed("turns", "it sent a " + log.sent_while_waiting + " while it waited", mend);
  if (!log.reply.outcome) return failed("turns", text_of_failure(log.reply), mend);
  if (log.waits < log.runs)
    return failed("turns", fmt::format("{} turns for {} runs", log.waits, log.runs), mend);
  return passed("turns", fmt::format("{} turns for {} runs", log.waits, log.runs));
}

CheckResult check_rest(TurnLog const& log) {
  if (log.cpu_shares.empty()) return skipped("rests", "it never waited");
  double const most = std::ranges::max(log.cpu_shares);
  if (most <= most_rest) return passed("rests", "no CPU time while it waits");
  return failed("rests",
                fmt::format("{:.0f}% of a CPU while it waits for its turn", most * 100),
                "stop threads and children between runs: the other build is measured then");
}

CheckResult check_end(std::optional<double> after_answer, std::optional<double> while_waiting) {
  constexpr auto mend = "end as soon as standard input ends, also while waiting for a turn";
  auto const is_late = [](std::optional<double> seconds) {
    return !seconds || *seconds > longest_leave;
  };
  if (is_late(after_answer))
    return failed(
        "ends", fmt::format("it runs {:.0f} s after the end of its input", longest_leave), mend);
  if (is_late(while_waiting))
    return failed("ends",
                  fmt::format("it runs {:.0f} s after its input ended while it waited for its turn",
                              longest_leave),
                  mend);
  return passed("ends", fmt::format("{:.1f} s after its input", *after_answer));
}

CheckResult check_kill(std::size_t left) {
  if (left == 0) return passed("killed", "leaves no process");
  return failed("killed",
                fmt::format("{} processes are left", left),
                "start children in the worker's process group, or use the sandbox");
}

CheckResult check_sandbox(Reply const& reply, std::optional<Reply> const& with_network) {
  if (reply.outcome) return passed("sandbox", "works without network, with a read-only build");
  if (with_network && with_network->outcome)
    return failed("sandbox",
                  "it works only with a network: " + text_of_failure(reply),
                  "fetch its files before, or set `fleets[].network`");
  return skipped("sandbox", "it does not work with a network either");
}

CheckResult check_same_build(std::map<std::string, Comparison> const& comparisons) {
  std::string undecided;
  for (auto const& [name, comparison] : comparisons) {
    bool const is_change =
        comparison.verdict == Verdict::regression || comparison.verdict == Verdict::improvement;
    if (is_change)
      return failed("same build",
                    fmt::format("{}: {:g} and {:g} in two processes of one build, {} pairs",
                                name,
                                comparison.before,
                                comparison.after,
                                comparison.pairs),
                    "do the same work in each process: fix seeds, and keep no files between them");
    if (comparison.verdict == Verdict::inconclusive)
      append(undecided, name + " " + words::interval(comparison.ratio));
  }
  if (undecided.empty()) return passed("same build", "unchanged");
  return passed("same build", "no change; noise is too large to exclude one: " + undecided);
}

CheckResult check_slowdown(Outcome const& normal, Outcome const& slowed, Declared const& declared) {
  std::string reacting;
  std::string noisy;
  for (auto const& [name, kind] : declared) {
    auto const before = normal.metrics.find(name);
    auto const after = slowed.metrics.find(name);
    if (kind.is_exact || before == normal.metrics.end() || after == slowed.metrics.end()) continue;
    append(noisy, name);
    double const ratio = cost_ratio(before->second.value, after->second.value, kind);
    if (ratio < 1 / least_slowdown)
      return failed("slowdown",
                    fmt::format("{} gets better when the process is slowed: {:g} to {:g}",
                                name,
                                before->second.value,
                                after->second.value),
                    fmt::format("declare \"better\": \"{}\"", other_direction(kind)));
    if (ratio >= least_slowdown) append(reacting, name);
  }
  if (noisy.empty()) return skipped("slowdown", "no noisy metrics");
  if (!reacting.empty()) return passed("slowdown", "seen in " + reacting);
  return failed("slowdown",
                "a process that is stopped for 7/8 of the time reports the same " + noisy,
                "measure wall-clock time, in each run, and at least 20 ms of work");
}

CheckResult skipped(std::string check, std::string why) {
  return {std::move(check), State::skipped, std::move(why)};
}

bool have_passed(std::vector<CheckResult> const& results) {
  return std::ranges::none_of(
      results, [](CheckResult const& result) { return result.state == State::failed; });
}

}  // namespace torchwatch::suite_try
