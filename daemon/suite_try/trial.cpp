#include "daemon/suite_try/trial.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "bisect/compare/compare.h"
#include "daemon/measure/gpu_slots.h"
#include "daemon/measure/job.h"
#include "daemon/measure/seeds.h"
#include "daemon/suite_try/conversation.h"
#include "daemon/suite_try/marked_processes.h"
#include "daemon/suite_try/slow_down.h"
#include "runner/acceptance.h"
#include "runner/device_locks.h"
#include "runner/process/sandbox.h"
#include "runner/round.h"

namespace torchwatch::suite_try {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using protocol::Job;
using protocol::Outcome;

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// The longest wait for a hello or an answer to a bad line, in seconds.
constexpr double hello_patience = 60;
constexpr double answer_patience = 10;
/// A worker that waits for its turn may come to rest first. Then its CPU time is watched.
constexpr double settle_time = 0.3;
constexpr double watch_time = 0.7;
constexpr int most_watched = 4;
/// The runs of a job alone, and those of all others. They differ, so that a worker with a fixed
/// number is found.
constexpr int few_runs = 3;
constexpr int more_runs = 5;
/// The limits of the comparison of a build with itself.
constexpr int most_rounds = 8;
constexpr auto longest_comparison = 3min;
constexpr auto kill_patience = 2s;
constexpr auto unknown_word = "torchwatch_unknown";

double seconds_since(Clock::time_point begin) {
  return Seconds{Clock::now() - begin}.count();
}

/// Returns a variable that no other process has.
std::string new_mark() {
  measure::SystemSeeds seeds;
  return std::to_string(seeds.draw()) + '_' + std::to_string(seeds.draw());
}

/// Returns the environment in which the fleet's runner would start workers on this host.
asio::awaitable<Result<runner::WorkerEnvironment>> environment_of(Subject const& subject) {
  auto const& fleet = subject.fleet;
  runner::WorkerEnvironment surroundings;
  surroundings.has_network = fleet.network;
  surroundings.readable = fleet.readable;
  surroundings.environment = fleet.environment;
  surroundings.hidden = subject.hidden;
  if (fleet.device != Device::cpu) surroundings.gpu = measure::gpu_of_slot(fleet.devices, 0);
  if (fleet.isolation == config::IsolationWish::none) co_return std::move(surroundings);
  auto const executor = co_await asio::this_coro::executor;
  auto const isolation = co_await process::find_isolation(executor);
  if (!isolation) co_return within("this host can make no sandbox", isolation.error());
  surroundings.isolation = *isolation;
  co_return std::move(surroundings);
}

/// Returns comparison rules that decide after a few pairs, and are wrong more often than those of a
/// nightly.
config::DecideOptions quick(config::DecideOptions decide) {
  decide.error = 0.01;
  decide.miss = 0.05;
  decide.max_pairs = most_rounds;
  return decide;
}

/// All checks of one worker. Single-threaded.
class Trial {
 public:
  Trial(Subject subject, runner::WorkerEnvironment surroundings, OnCheck on_check);
  Trial(Trial const&) = delete;
  Trial& operator=(Trial const&) = delete;

  /// Kills the processes that workers left behind.
  ~Trial() { marked_.signal(SIGKILL); }

  asio::awaitable<std::vector<CheckResult>> run();

 private:
  asio::awaitable<bool> try_alone();
  asio::awaitable<void> try_result(Conversation& talk, Reply reply);
  asio::awaitable<void> try_failure(Reply reply);
  asio::awaitable<void> try_unknown();
  asio::awaitable<void> try_more_runs();
  asio::awaitable<void> try_turns();
  asio::awaitable<void> try_end();
  asio::awaitable<void> try_kill();
  asio::awaitable<void> try_slowdown();
  asio::awaitable<void> try_same_build();

  asio::awaitable<Result<Conversation>> open(Job job);
  asio::awaitable<Result<Conversation>> begin_turns();
  asio::awaitable<Reply> ask(Conversation& talk, Job job);
  asio::awaitable<Reply> ask_unknown(Job job);
  asio::awaitable<void> send(Conversation& talk, protocol::Message message);
  asio::awaitable<bool> next_wait(Conversation& talk, TurnLog& log);
  asio::awaitable<bool> give_turn(Conversation& talk, TurnLog& log);
  asio::awaitable<Heard> watch_rest(Conversation& talk, TurnLog& log);
  asio::awaitable<bool> give_first_turns(Conversation& talk, TurnLog& log, int count);
  asio::awaitable<void> finish(Conversation& talk, TurnLog& log);
  asio::awaitable<std::size_t> count_left();
  std::map<std::string, bisect::Compare> new_comparisons() const;
  asio::awaitable<std::string> run_pair(std::map<std::string, bisect::Compare>& comparisons);

  Job job(int runs) const;
  void keep_result(Reply const& reply);
  std::vector<std::pair<std::string, Job>> unknown_jobs() const;

  bool is_command() const { return !subject_.job.command.empty(); }

  bool waits() const { return !is_command() || subject_.job.waits; }

  bool add(CheckResult result);
  void add_skipped(std::vector<std::string> const& checks, std::string const& why);
  void keep_noise(Conversation const& talk);

  Subject subject_;
  runner::WorkerEnvironment surroundings_;
  OnCheck on_check_;
  std::string mark_ = new_mark();
  MarkedProcesses marked_{"TORCHWATCH_TRY=" + mark_};
  Benchmark benchmark_;
  Declared declared_;
  measure::SystemSeeds seeds_;
  std::vector<CheckResult> results_;
  std::vector<std::string> noise_;
  std::vector<Outcome> outcomes_;  // of all jobs that had a result
  std::vector<CountedRuns> run_counts_;
  std::optional<double> end_after_answer_;
};

Trial::Trial(Subject subject, runner::WorkerEnvironment surroundings, OnCheck on_check)
    : subject_{std::move(subject)},
      surroundings_{std::move(surroundings)},
      on_check_{std::move(on_check)},
      benchmark_{parse_benchmark(subject_.job.benchmark).value()},
      declared_{declared_by(subject_.suite, subject_.job)} {
  subject_.job.build.env["TORCHWATCH_TRY"] = mark_;
}

bool Trial::add(CheckResult result) {
  bool const has_passed = result.state != State::failed;
  results_.push_back(std::move(result));
  return has_passed;
}

void Trial::add_skipped(std::vector<std::string> const& checks, std::string const& why) {
  for (auto const& check : checks)
    results_.push_back(skipped(check, why));
}

void Trial::keep_noise(Conversation const& talk) {
  noise_.insert(noise_.end(), talk.noise().begin(), talk.noise().end());
}

Job Trial::job(int runs) const {
  auto changed = subject_.job;
  changed.measure.runs = runs;
  return changed;
}

asio::awaitable<std::vector<CheckResult>> Trial::run() {
  bool const works = co_await try_alone();
  if (works) {
    co_await try_unknown();
    if (waits())
      co_await try_turns();
    else
      co_await try_more_runs();
    co_await try_end();
    co_await try_kill();
    co_await try_slowdown();
    co_await try_same_build();
    add(check_runs(run_counts_, declared_));
    add(check_exact(outcomes_, declared_));
  }
  add(check_output(noise_));
  if (!works) add_skipped({"all others"}, "there is no result to check");
  co_return std::move(results_);
}

/// Starts a worker and waits for its hello.
asio::awaitable<Result<Conversation>> Trial::open(Job job) {
  auto const executor = co_await asio::this_coro::executor;
  auto talk = Conversation::start(executor, job, surroundings_);
  if (!talk) co_return talk.error();
  auto const first = co_await talk->hear(hello_patience);
  auto const greeting = check_hello(first, 0);
  if (greeting.state == State::passed) co_return std::move(talk);
  co_return Error{ErrorCode::unavailable, "another process: " + greeting.found};
}

asio::awaitable<void> Trial::send(Conversation& talk, protocol::Message message) {
  auto line = protocol::encode(message);
  co_await talk.send_line(std::move(line));
}

/// Starts a worker and sends it a job that takes turns, if the worker can.
asio::awaitable<Result<Conversation>> Trial::begin_turns() {
  auto taking = job(more_runs);
  taking.takes_turns = waits();
  auto talk = co_await open(std::move(taking));
  if (!talk) co_return talk.error();
  protocol::Message given{talk->job()};
  co_await send(*talk, std::move(given));
  co_return std::move(talk);
}

/// Sends a job that takes no turns, and waits for its end.
asio::awaitable<Reply> Trial::ask(Conversation& talk, Job job) {
  auto const begin = Clock::now();
  protocol::Message message{std::move(job)};
  co_await send(talk, std::move(message));
  for (;;) {
    double const left = subject_.job.limits.timeout_s - seconds_since(begin);
    auto heard = co_await talk.hear(left);
    auto reply = reply_in(std::move(heard));
    if (!reply) continue;
    reply->seconds = seconds_since(begin);
    co_return std::move(*reply);
  }
}

/// Checks a worker that works alone, and what it reports. Returns whether it has a result.
asio::awaitable<bool> Trial::try_alone() {
  on_check_("starts, answers");
  auto const executor = co_await asio::this_coro::executor;
  auto const begin = Clock::now();
  auto talk = Conversation::start(executor, job(few_runs), surroundings_);
  if (!talk) {
    add({"starts", State::failed, talk.error().message, "name an executable in the suite"});
    co_return false;
  }
  auto const first = co_await talk->hear(hello_patience);
  bool const is_greeted = add(check_hello(first, seconds_since(begin)));
  auto given = talk->job();
  Reply reply;
  if (is_greeted) reply = co_await ask(*talk, std::move(given));
  keep_noise(*talk);
  if (!is_greeted) co_return false;
  bool const has_result = add(check_answer(reply, talk->job())) && reply.outcome;
  if (has_result)
    co_await try_result(*talk, std::move(reply));
  else if (!reply.outcome)
    co_await try_failure(std::move(reply));
  co_return has_result;
}

/// Checks a result, and that the process goes on and ends as it must.
asio::awaitable<void> Trial::try_result(Conversation& talk, Reply reply) {
  auto const& outcome = *reply.outcome;
  add(check_metrics(outcome, talk.job()));
  add(check_values(outcome, talk.job(), declared_));
  add(check_units(outcome, declared_, reply.seconds));
  bool const is_isolated =
      surroundings_.isolation != process::Isolation::none && !surroundings_.has_network;
  add(is_isolated ? check_sandbox(reply, std::nullopt)
                  : skipped("sandbox", "the fleet has no isolation, or a network"));
  outcomes_.push_back(outcome);
  run_counts_.push_back({few_runs, outcome});
  auto again = talk.job();
  again.id += "_again";
  auto const second = co_await ask(talk, std::move(again));
  bool const repeats = add(check_repeat(second));
  if (repeats) {
    co_await talk.send_line("this line is not a message");
    auto const heard = co_await talk.hear(answer_patience);
    add(check_bad_line(heard));
  }
  talk.end_input();
  end_after_answer_ = co_await talk.time_to_end();
  keep_noise(talk);
}

/// Finds out whether a job that failed needs a network.
asio::awaitable<void> Trial::try_failure(Reply reply) {
  bool const is_isolated =
      surroundings_.isolation != process::Isolation::none && !surroundings_.has_network;
  if (!is_isolated) co_return;
  on_check_("sandbox");
  surroundings_.has_network = true;
  auto alone = job(few_runs);
  auto talk = co_await open(std::move(alone));
  surroundings_.has_network = false;
  if (!talk) co_return;
  auto given = talk->job();
  std::optional<Reply> with_network;
  with_network = co_await ask(*talk, std::move(given));
  add(check_sandbox(reply, with_network));
}

/// Returns jobs that ask for something that does not exist. A command gets only its model: it need
/// not look at the rest.
std::vector<std::pair<std::string, Job>> Trial::unknown_jobs() const {
  std::vector<std::pair<std::string, Benchmark>> benchmarks;
  auto const add_one = [&](char const* what, auto change) {
    auto benchmark = benchmark_;
    change(benchmark);
    benchmarks.emplace_back(what, benchmark);
  };
  bool const has_model = std::ranges::any_of(subject_.job.command, [](std::string const& word) {
    return word.find("{model}") != std::string::npos;
  });
  if (!is_command() || has_model)
    add_one("model", [](Benchmark& benchmark) { benchmark.model = unknown_word; });
  if (!is_command()) {
    add_one("test", [](Benchmark& benchmark) { benchmark.test = *parse_test(unknown_word); });
    add_one("backend", [](Benchmark& benchmark) { benchmark.backend = unknown_word; });
  }
  std::vector<std::pair<std::string, Job>> jobs;
  for (auto const& [what, benchmark] : benchmarks) {
    auto unknown = job(few_runs);
    unknown.benchmark = name_of(benchmark);
    jobs.emplace_back(what, std::move(unknown));
  }
  return jobs;
}

/// Runs a job in a process of its own.
asio::awaitable<Reply> Trial::ask_unknown(Job job) {
  auto talk = co_await open(std::move(job));
  if (!talk) {
    Reply reply;
    reply.problem = talk.error().message;
    co_return reply;
  }
  auto given = talk->job();
  auto reply = co_await ask(*talk, std::move(given));
  keep_noise(*talk);
  co_return std::move(reply);
}

asio::awaitable<void> Trial::try_unknown() {
  on_check_("unknown");
  std::vector<UnknownJob> replies;
  auto const jobs = unknown_jobs();
  for (auto const& [what, unknown] : jobs) {
    auto reply = co_await ask_unknown(unknown);
    UnknownJob one{what, std::move(reply)};
    replies.push_back(std::move(one));
  }
  add(check_unknown(replies, is_command()));
}

/// Waits until the worker waits for a turn, and returns true. False: its job has ended.
asio::awaitable<bool> Trial::next_wait(Conversation& talk, TurnLog& log) {
  for (;;) {
    auto heard = co_await talk.hear(subject_.job.limits.timeout_s);
    if (heard.message && std::holds_alternative<protocol::Ready>(*heard.message)) {
      ++log.waits;
      co_return true;
    }
    auto reply = reply_in(std::move(heard));
    if (!reply) continue;
    log.reply = std::move(*reply);
    co_return false;
  }
}

/// Watches a worker that waits for its turn. Returns what it sent meanwhile: silence, if it rests.
asio::awaitable<Heard> Trial::watch_rest(Conversation& talk, TurnLog& log) {
  auto early = co_await talk.hear(settle_time);
  if (early.kind != Heard::Kind::silence) co_return std::move(early);
  double const before = marked_.cpu_seconds();
  auto const begin = Clock::now();
  auto heard = co_await talk.hear(watch_time);
  log.cpu_shares.push_back((marked_.cpu_seconds() - before) / seconds_since(begin));
  co_return std::move(heard);
}

/// Gives the worker its turn, after it was watched the first times. False: its job has ended.
asio::awaitable<bool> Trial::give_turn(Conversation& talk, TurnLog& log) {
  if (log.waits <= most_watched) {
    auto heard = co_await watch_rest(talk, log);
    if (heard.message) log.sent_while_waiting = protocol::type_of(*heard.message);
    if (heard.kind != Heard::Kind::silence) {
      log.reply.problem = heard.text;
      co_return false;
    }
  }
  protocol::Message turn{protocol::Turn{subject_.job.id}};
  co_await send(talk, std::move(turn));
  co_return true;
}

/// Keeps a result of a job with `more_runs` for the checks of all results.
void Trial::keep_result(Reply const& reply) {
  if (!reply.outcome) return;
  outcomes_.push_back(*reply.outcome);
  run_counts_.push_back({more_runs, *reply.outcome});
}

/// Runs a job of a command that cannot wait, for its number of runs.
asio::awaitable<void> Trial::try_more_runs() {
  add_skipped({"turns", "rests"}, "the command does not wait");
  auto alone = job(more_runs);
  auto talk = co_await open(std::move(alone));
  if (!talk) co_return;
  auto given = talk->job();
  auto const reply = co_await ask(*talk, std::move(given));
  keep_result(reply);
}

asio::awaitable<void> Trial::try_turns() {
  on_check_("turns, rests");
  TurnLog log;
  log.runs = more_runs;
  auto talk = co_await begin_turns();
  if (talk) {
    co_await finish(*talk, log);
    keep_noise(*talk);
  } else {
    log.reply.problem = talk.error().message;
  }
  add(check_turns(log));
  add(check_rest(log));
  keep_result(log.reply);
}

/// Ends the input of a worker that waits for its first turn.
asio::awaitable<void> Trial::try_end() {
  on_check_("ends");
  std::optional<double> while_waiting = 0;
  auto talk = co_await begin_turns();
  if (waits() && talk) {
    TurnLog log;
    bool const is_waiting = co_await next_wait(*talk, log);
    talk->end_input();
    if (is_waiting) while_waiting = co_await talk->time_to_end();
  }
  add(check_end(end_after_answer_, while_waiting));
}

/// Returns the number of processes that are left some time after a worker was killed.
asio::awaitable<std::size_t> Trial::count_left() {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  auto const until = Clock::now() + kill_patience;
  while (!marked_.find().empty() && Clock::now() < until) {
    timer.expires_after(50ms);
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return marked_.find().size();
}

/// Gives turns until the job ends.
asio::awaitable<void> Trial::finish(Conversation& talk, TurnLog& log) {
  for (;;) {
    bool const is_waiting = co_await next_wait(talk, log);
    if (!is_waiting) co_return;
    bool const goes_on = co_await give_turn(talk, log);
    if (!goes_on) co_return;
  }
}

/// Gives the worker its first turns, without watching it. False: its job has ended before.
asio::awaitable<bool> Trial::give_first_turns(Conversation& talk, TurnLog& log, int count) {
  log.waits = most_watched;  // none is watched
  for (int turn = 0; waits() && turn < count; ++turn) {
    bool const is_waiting = co_await next_wait(talk, log);
    if (!is_waiting) co_return false;
    bool const goes_on = co_await give_turn(talk, log);
    if (!goes_on) co_return false;
  }
  co_return true;
}

/// Kills a worker after its first runs.
asio::awaitable<void> Trial::try_kill() {
  on_check_("killed");
  auto talk = co_await begin_turns();
  if (!talk) {
    add(skipped("killed", talk.error().message));
    co_return;
  }
  TurnLog log;
  static_cast<void>(co_await give_first_turns(*talk, log, 3));
  static_cast<void>(co_await talk->hear(watch_time));
  talk->kill();
  auto const left = co_await count_left();
  marked_.signal(SIGKILL);
  add(check_kill(left));
}

/// Slows a process down from its second turn on, when its model is built.
asio::awaitable<void> Trial::try_slowdown() {
  on_check_("slowdown");
  if (benchmark_.device != Device::cpu) {
    add(skipped("slowdown", "a GPU goes on while its process is stopped"));
    co_return;
  }
  auto talk = co_await begin_turns();
  if (!talk) {
    add(skipped("slowdown", talk.error().message));
    co_return;
  }
  TurnLog log;
  bool const goes_on = co_await give_first_turns(*talk, log, 2);
  if (!goes_on) {
    add(skipped("slowdown", "it takes too few turns"));
    co_return;
  }
  static_cast<void>(co_await (finish(*talk, log) || slow_down(marked_)));
  auto const& slowed = log.reply.outcome;
  add(slowed ? check_slowdown(outcomes_.front(), *slowed, declared_)
             : skipped("slowdown", text_of_failure(log.reply)));
}

/// Measures two processes of the build side by side, and adds the pair to each comparison. Returns
/// why a process failed; empty when none did.
asio::awaitable<std::string> Trial::run_pair(std::map<std::string, bisect::Compare>& comparisons) {
  protocol::Round round;
  round.jobs = {job(more_runs), job(more_runs)};
  round.seed = seeds_.draw();
  runner::ProgressSink on_progress = [](protocol::Progress const&) {
  };
  auto const answers =
      co_await runner::run_round(std::move(round), surroundings_, std::move(on_progress));
  std::vector<JobOutcome> measured;
  for (auto const& answer : answers) {
    measured.push_back(measure::outcome_from(JobKey{}, answer, Timestamp{}));
    if (!measured.back().ok()) co_return measure::failure_of(measured.back());
    outcomes_.push_back(std::get<Outcome>(answer));
  }
  for (auto& [name, comparison] : comparisons) {
    auto const levels = measure::levels_in(measured, *parse_metric(name));
    if (levels) comparison.add({levels->front(), levels->back()});
  }
  co_return std::string{};
}

/// Returns an empty comparison for each metric that the worker reports.
std::map<std::string, bisect::Compare> Trial::new_comparisons() const {
  std::map<std::string, bisect::Compare> comparisons;
  for (auto const& [name, value] : outcomes_.front().metrics)
    if (auto const metric = parse_metric(name); metric && declared_.contains(name))
      comparisons.try_emplace(name, *metric, quick(subject_.decide));
  return comparisons;
}

asio::awaitable<void> Trial::try_same_build() {
  on_check_("same build");
  bool const is_accepted = runner::check_outcome(outcomes_.front(), subject_.job).empty();
  if (!is_accepted || !noise_.empty()) {
    add(skipped("same build", "the runner accepts no result of it"));
    co_return;
  }
  auto comparisons = new_comparisons();
  auto const until = Clock::now() + longest_comparison;
  auto const is_undecided = [](auto const& entry) {
    return !entry.second.answer();
  };
  for (int round = 0; round < most_rounds && Clock::now() < until; ++round) {
    if (std::ranges::none_of(comparisons, is_undecided)) break;
    auto const why = co_await run_pair(comparisons);
    if (!why.empty()) {
      add({"same build", State::failed, why, "let two processes run side by side, in turns"});
      co_return;
    }
  }
  std::map<std::string, Comparison> answers;
  for (auto const& [name, comparison] : comparisons)
    answers[name] = comparison.answer().value_or(Comparison{});
  add(check_same_build(answers));
}

}  // namespace

asio::awaitable<Result<std::vector<CheckResult>>> try_suite(Subject subject, OnCheck on_check) {
  auto surroundings = co_await environment_of(subject);
  if (!surroundings) co_return surroundings.error();
  protocol::Round round;
  round.jobs = {subject.job};
  auto claim = runner::claim_of(round, *surroundings);
  runner::DeviceLocks const locks;
  runner::DeviceLocks::OnWait on_wait = [&on_check] {
    on_check("waits for the devices of this host");
  };
  auto const held = co_await locks.take(std::move(claim), std::move(on_wait));
  if (!held) co_return held.error();
  Trial trial{std::move(subject), std::move(*surroundings), std::move(on_check)};
  auto results = co_await trial.run();
  co_return std::move(results);
}

}  // namespace torchwatch::suite_try
