#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/suite_try/reply.h"
#include "runner/protocol.h"
#include "storage/domain/comparison.h"
#include "storage/domain/metric.h"

/// The checks of `torchwatch suite try`, as pure functions of what a worker sent.
namespace torchwatch::suite_try {

enum class State { passed, failed, skipped };

/// The result of one check.
struct CheckResult {
  std::string check;  ///< its name, such as "metrics"
  State state = State::passed;
  std::string found;   ///< one line, for people
  std::string mend{};  ///< the way to mend it, one line; empty unless it failed
};

/// The declared metrics by name.
using Declared = std::map<std::string, MetricKind>;

/// Returns the metrics that a job of the suite may report.
Declared declared_by(config::SuiteOptions const& suite, protocol::Job const& job);

/// `starts`: the first line is a hello of a worker that uses this version of the protocol.
/// `seconds`: from its start to that line.
CheckResult check_hello(Heard const& first, double seconds);

/// `answers`: a job alone has a result with the job's ID and benchmark.
CheckResult check_answer(Reply const& reply, protocol::Job const& job);

/// `output`: standard output has only messages. `noise`: the other lines.
CheckResult check_output(std::vector<std::string> const& noise);

/// `metrics`: the result has every declared metric, and no other.
CheckResult check_metrics(protocol::Outcome const& outcome, protocol::Job const& job);

/// `values`: each value is finite and not negative, positive where it must be, and the runner
/// accepts the result.
CheckResult check_values(protocol::Outcome const& outcome,
                         protocol::Job const& job,
                         Declared const& declared);

/// `units`: no time is longer than the job, or shorter than a nanosecond, and exact counts are
/// whole numbers. `seconds`: the duration of the job.
CheckResult check_units(protocol::Outcome const& outcome, Declared const& declared, double seconds);

/// A result, and the number of runs that its job asked for.
struct CountedRuns {
  int asked = 0;
  protocol::Outcome outcome;
};

/// `runs`: noisy metrics have at most one sample a run, and one of them exactly that many. Exact
/// ones have at most one sample.
CheckResult check_runs(std::vector<CountedRuns> const& results, Declared const& declared);

/// `repeats`: the second job of a process also has a result.
CheckResult check_repeat(Reply const& second);

/// `exact`: all processes report the same value of each exact metric.
CheckResult check_exact(std::vector<protocol::Outcome> const& outcomes, Declared const& declared);

/// A job for something that does not exist, and the reply.
struct UnknownJob {
  std::string what;  ///< "model"
  Reply reply;
};

/// `unknown`: jobs for something unknown fail with `unsupported` and a reason. `is_command`: a
/// command measures, which reports that by its exit status.
CheckResult check_unknown(std::vector<UnknownJob> const& jobs, bool is_command);

/// `bad line`: a line that is not a message is answered with the error `protocol`.
CheckResult check_bad_line(Heard const& heard);

/// The turns of one job.
struct TurnLog {
  int runs = 0;                      ///< asked for
  int waits = 0;                     ///< times the worker waited for a turn
  std::string sent_while_waiting{};  ///< the type of the first such message
  std::vector<double> cpu_shares{};  ///< CPU time by time of the waits that were watched
  Reply reply{};
};

/// `turns`: the worker waits for a turn before each run, and sends nothing until it has it.
CheckResult check_turns(TurnLog const& log);

/// `rests`: the worker uses no CPU time while it waits for a turn.
CheckResult check_rest(TurnLog const& log);

/// `ends`: the worker ends soon after the end of its input. Nothing: it did not end.
CheckResult check_end(std::optional<double> after_answer, std::optional<double> while_waiting);

/// `killed`: a killed worker leaves no processes. `left`: the processes that it left.
CheckResult check_kill(std::size_t left);

/// `sandbox`: the job works in a sandbox. `with_network`: the reply of the job in one with a
/// network, which is tried only after a failure.
CheckResult check_sandbox(Reply const& reply, std::optional<Reply> const& with_network);

/// `same build`: processes of one build do not differ. `comparisons`: by the name of the metric.
CheckResult check_same_build(std::map<std::string, Comparison> const& comparisons);

/// `slowdown`: a process that is stopped for most of the time gets worse. `normal`, `slowed`: the
/// results without and with that.
CheckResult check_slowdown(protocol::Outcome const& normal,
                           protocol::Outcome const& slowed,
                           Declared const& declared);

/// Returns a result for a check that was not made.
CheckResult skipped(std::string check, std::string why);

/// True when no check failed.
bool have_passed(std::vector<CheckResult> const& results);

}  // namespace torchwatch::suite_try
