#include "runner/command/measure.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include "runner/command/child.h"
#include "runner/command/invocation.h"
#include "runner/command/samples.h"
#include "runner/command/text.h"

namespace torchwatch::command {
namespace {

using Clock = std::chrono::steady_clock;

/// The most bytes of standard output in one turn.
constexpr std::size_t most_output = std::size_t{8} << 20;
/// The time that a waiting command has to end after the end of its input, in milliseconds.
constexpr int leave_patience = 5000;

constexpr auto example = R"(allowed is one object a line, such as {"latency": 12.5})";

Error too_much_output() {
  return {ErrorCode::corrupt,
          "it printed more than " + std::to_string(most_output >> 20) +
              " MiB on standard output in one turn; print logs to standard error"};
}

Error no_run(Log const& log) {
  auto const words = last_line(log.tail());
  return {ErrorCode::corrupt,
          "it printed no run; " + std::string{example} +
              (words.empty() ? "" : "; it printed last: " + words)};
}

/// The advice for a program with a relative path, which is not found.
std::string advice_on(std::string const& program) {
  if (program.starts_with('/') || program.find('/') == std::string::npos) return "";
  std::error_code ignored;
  return "; it is searched in " + std::filesystem::current_path(ignored).string() +
         ", so give an absolute path";
}

/// One command, and the samples of its runs.
class Measurement {
 public:
  Measurement(protocol::Job const& job, Runner const& runner, Log& log)
      : job_{job},
        runner_{runner},
        log_{log} {}

  protocol::Message measure();

 private:
  Result<> prepare();
  Result<> collect();
  Result<> run_to_ends();
  Result<> run_by_lines(Child& child);
  Result<> finish(Child& child);
  Result<Child> start();
  Result<std::vector<Run>> read_all(Child& child);
  Result<Run> read_one(Child& child);
  Result<std::optional<Run>> take_run(std::string& output);
  Result<> check_nothing_early(Child& child);
  Result<> add(std::vector<Run> const& runs);
  void wait_for_turn();
  protocol::Outcome outcome() const;
  protocol::Failure failure_of(Error const& error) const;

  protocol::Job const& job_;
  Runner const& runner_;
  Log& log_;
  Clock::time_point const begin_ = Clock::now();
  Name name_;
  Wanted wanted_;
  Build build_;
  std::optional<Samples> samples_;
};

protocol::Message Measurement::measure() {
  auto const prepared = prepare();
  if (!prepared) return failure_of(prepared.error());
  auto const collected = collect();
  if (!collected) return failure_of(collected.error());
  return outcome();
}

Result<> Measurement::prepare() {
  auto name = parse_name(job_.benchmark);
  if (!name)
    return Error{
        ErrorCode::invalid_argument,
        "benchmark \"" + job_.benchmark + "\": allowed is test_TEST[MODEL-DEVICE-BACKEND]"};
  if (job_.command.empty() || job_.command.front().empty())
    return Error{ErrorCode::invalid_argument, "the job has no command; set it in its suite"};
  if (job_.measure.runs < 1)
    return Error{ErrorCode::invalid_argument,
                 "runs: found " + std::to_string(job_.measure.runs) + ", allowed is 1 or more"};
  name_ = std::move(*name);
  wanted_ = wanted_by(job_, name_);
  build_ = find_build(job_.build.prefix);
  samples_.emplace(wanted_, static_cast<std::size_t>(job_.measure.runs));
  return {};
}

Result<> Measurement::collect() {
  if (!job_.waits) return run_to_ends();
  wait_for_turn();
  auto child = start();
  if (!child) return child.error();
  return run_by_lines(*child);
}

/// Starts the command once in each turn.
Result<> Measurement::run_to_ends() {
  while (!samples_->is_complete()) {
    wait_for_turn();
    auto child = start();
    if (!child) return child.error();
    child->close_input();
    auto const runs = read_all(*child);
    if (!runs) return runs.error();
    auto const added = add(*runs);
    if (!added) return added;
  }
  return {};
}

/// Asks the command, which was started in this turn, for one run in each turn.
Result<> Measurement::run_by_lines(Child& child) {
  for (bool is_first = true; !samples_->is_complete(); is_first = false) {
    if (!is_first) wait_for_turn();
    auto const early = check_nothing_early(child);
    if (!early) return early;
    // If this fails, the command has ended. Reading finds the reason.
    child.write("run\n");
    auto const run = read_one(child);
    if (!run) return run.error();
    auto const added = add({*run});
    if (!added) return added;
  }
  return finish(child);
}

/// Ends the input of a command that waits, and then the command.
Result<> Measurement::finish(Child& child) {
  child.close_input();
  auto const until = Clock::now() + std::chrono::milliseconds{leave_patience};
  while (Clock::now() < until) {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (child.read(std::max(static_cast<int>(left), 0)) != Child::Read::ended) continue;
    return check_status(child.end(), log_.tail());
  }
  log_.add("[the command did not end at the end of its input, and is killed]\n");
  return {};
}

Result<Child> Measurement::start() {
  auto child = Child::start(arguments_of(job_, name_, build_),
                            entries_of(environment_of(job_, name_, build_, own_variables())),
                            log_);
  if (child) return child;
  return Error{ErrorCode::not_found, child.error().message + advice_on(job_.command.front())};
}

/// Returns the runs that the command prints until it ends.
Result<std::vector<Run>> Measurement::read_all(Child& child) {
  while (child.read(Child::forever) != Child::Read::ended)
    if (child.received() > most_output) return too_much_output();
  auto const status = check_status(child.end(), log_.tail());
  if (!status) return status.error();
  auto output = parse_output(child.output(), wanted_);
  if (!output) return output.error();
  log_.add(output->log);
  if (output->runs.empty()) return no_run(log_);
  return std::move(output->runs);
}

/// Returns the next run that the command prints.
Result<Run> Measurement::read_one(Child& child) {
  auto const before = child.received();
  for (bool has_ended = false; !has_ended;) {
    has_ended = child.read(Child::forever) == Child::Read::ended;
    if (child.received() - before > most_output) return too_much_output();
    if (has_ended) child.output() += '\n';  // its last line may lack one
    auto run = take_run(child.output());
    if (!run) return run.error();
    if (*run) return std::move(**run);
  }
  auto const status = check_status(child.end(), log_.tail());
  if (!status) return status.error();
  return Error{ErrorCode::corrupt,
               "it ended after " + std::to_string(samples_->count()) + " of " +
                   std::to_string(job_.measure.runs) +
                   " runs; it must print one after each \"run\", until its input ends"};
}

/// Removes whole lines from the beginning of `output`, until one is a run. The others go to the
/// log.
Result<std::optional<Run>> Measurement::take_run(std::string& output) {
  for (auto end = output.find('\n'); end != std::string::npos; end = output.find('\n')) {
    auto const line = output.substr(0, end + 1);
    output.erase(0, end + 1);
    auto run = parse_line(line, wanted_);
    if (!run || *run) return run;
    log_.add(line);
  }
  return std::optional<Run>{};
}

/// Fails when a command that waits has printed a run that was not asked for.
Result<> Measurement::check_nothing_early(Child& child) {
  auto const before = child.received();
  while (child.read(0) == Child::Read::some)
    if (child.received() - before > most_output) return too_much_output();
  auto const run = take_run(child.output());
  if (!run) return run.error();
  if (*run)
    return Error{ErrorCode::corrupt,
                 "it printed a run before it was asked for; allowed is one after each \"run\""};
  return {};
}

Result<> Measurement::add(std::vector<Run> const& runs) {
  auto const complete = check_complete(runs, wanted_);
  if (!complete) return complete;
  for (auto const& run : runs) {
    auto const added = samples_->add(run);
    if (!added) return added;
  }
  return {};
}

void Measurement::wait_for_turn() {
  runner_.report(static_cast<int>(samples_->count()), job_.measure.runs);
  runner_.wait_for_turn();
}

protocol::Outcome Measurement::outcome() const {
  protocol::Outcome outcome;
  outcome.id = job_.id;
  outcome.benchmark = job_.benchmark;
  outcome.metrics = samples_->values();
  outcome.pytorch_version = build_.version;
  outcome.git_hash = build_.git_hash;
  outcome.fingerprint = fingerprint(job_.measure.threads, build_);
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  outcome.accounts["rss_peak_bytes"] = static_cast<double>(children.ru_maxrss) * 1024;
  outcome.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  return outcome;
}

protocol::Failure Measurement::failure_of(Error const& error) const {
  bool const is_unsupported = error.code == ErrorCode::refused;
  auto const command = job_.command.empty() ? "" : shortened(joined(job_.command, " ")) + ": ";
  return {job_.id, is_unsupported ? "unsupported" : "failed", command + error.message};
}

}  // namespace

protocol::Message measure(protocol::Job const& job, Runner const& runner, Log& log) {
  return Measurement{job, runner, log}.measure();
}

}  // namespace torchwatch::command
