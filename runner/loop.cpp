#include "runner/loop.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <string_view>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "runner/device_locks.h"
#include "runner/hook.h"
#include "runner/process/excerpt.h"
#include "runner/process/lines.h"
#include "runner/process/process_tree.h"
#include "runner/process/sandbox.h"
#include "runner/process/scratch_directory.h"
#include "runner/processors.h"
#include "runner/protocol.h"
#include "runner/round.h"

namespace torchwatch::runner {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using asio::posix::stream_descriptor;
using protocol::Failure;
using protocol::Job;
using protocol::Message;
using protocol::Round;

namespace {

template <class T>
using Queue = asio::experimental::channel<void(boost::system::error_code, T)>;
constexpr auto unbounded = std::numeric_limits<std::size_t>::max();

/// The queues that connect the coroutines of a runner.
struct Queues {
  explicit Queues(asio::any_io_executor const& executor)
      : rounds{executor, unbounded},
        answers{executor, unbounded} {}

  void answer(Message message) {
    ++unsent;
    answers.try_send(boost::system::error_code{}, std::move(message));
  }

  /// Queues progress. Drops it when 64 messages wait, since the service reads too slowly then.
  void report(protocol::Progress const& progress) {
    constexpr int enough = 64;
    if (unsent < enough) answer(progress);
  }

  Queue<Round> rounds;
  Queue<Message> answers;
  int unsent = 0;
};

Message hello(process::Isolation isolation) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  protocol::Hello message;
  message.role = "runner";
  message.fingerprint = {
      {"host", host.data()}, {"pid", ::getpid()}, {"isolation", describe(isolation)}};
  return message;
}

/// Returns the configured GPU, or the first one of CUDA_VISIBLE_DEVICES, which launchers such as
/// Slurm set, or "0". Empty when that variable is empty.
std::string gpu_of(RunnerOptions const& options) {
  if (!options.gpu.empty()) return options.gpu;
  char const* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return "0";
  std::string_view const all = visible;
  return std::string{all.substr(0, all.find(','))};
}

/// Returns null on a host without NVIDIA's driver.
std::shared_ptr<Nvml const> library_of_gpus() {
  auto loaded = Nvml::load();
  return loaded ? std::make_shared<Nvml const>(std::move(*loaded)) : nullptr;
}

Message refusal(std::string const& line, std::string const& why) {
  return Failure{"",
                 "protocol",
                 "runner was sent \"" + process::excerpt(line) + "\": " + process::excerpt(why)};
}

/// Queues jobs and rounds until the input ends.
asio::awaitable<void> take_jobs(process::LineReader input, Queues& queues) {
  for (;;) {
    auto const line = co_await input.read_line();
    if (!line) co_return;
    try {
      auto message = protocol::decode(*line);
      if (auto* const job = std::get_if<Job>(&message)) {
        queues.rounds.try_send(boost::system::error_code{}, Round{{std::move(*job)}});
      } else if (auto* const round = std::get_if<Round>(&message)) {
        queues.rounds.try_send(boost::system::error_code{}, std::move(*round));
      } else {
        queues.answer(refusal(*line, "it takes only jobs and rounds"));
      }
    } catch (protocol::ProtocolError const& problem) {
      queues.answer(refusal(*line, problem.what()));
    }
  }
}

/// Returns a failure with `code` for each job of `round`.
std::vector<Message> failures_of(Round const& round, char const* code, Error const& error) {
  std::vector<Message> failures;
  for (auto const& job : round.jobs)
    failures.emplace_back(Failure{job.id, code, job.benchmark + ": " + error.message});
  return failures;
}

/// The host of this runner: its worker environment, locks and hooks.
struct Host {
  /// Runs the hook `after_round` at the end of a scope, also when the round is cancelled.
  class AfterRound {
   public:
    explicit AfterRound(Host const& host) : host_{host} {}

    AfterRound(AfterRound const&) = delete;
    AfterRound& operator=(AfterRound const&) = delete;

    ~AfterRound() {
      auto const done = run_hook(host_.after_round, gpu_variables(host_.surroundings));
      if (!done) std::cerr << done.error().message << std::endl;
    }

   private:
    Host const& host_;
  };

  WorkerEnvironment surroundings;
  DeviceLocks locks;
  std::vector<std::string> before_round;
  std::vector<std::string> after_round;
};

/// Measures a round while its locks are held. Without a sandbox, a worker's processes in sessions
/// of their own also end with the round.
asio::awaitable<std::vector<Message>> measure(Round round, Queues& queues, Host const& host) {
  DeviceLocks::OnWait on_wait = [&queues, id = round.jobs.empty() ? "" : round.jobs.front().id] {
    queues.report({id, protocol::waiting});
  };
  auto claim = claim_of(round, host.surroundings);
  auto const held = co_await host.locks.take(std::move(claim), std::move(on_wait));
  if (!held) co_return failures_of(round, protocol::host_trouble, held.error());
  Host::AfterRound const after{host};
  auto const prepared = run_hook(host.before_round, gpu_variables(host.surroundings));
  if (!prepared) {
    auto const* const code = prepared.error().is_of_host ? protocol::host_trouble : "device";
    co_return failures_of(round, code, prepared.error());
  }
  ProgressSink pass_on = [&queues](protocol::Progress const& progress) {
    queues.report(progress);
  };
  auto answers = co_await run_round(std::move(round), host.surroundings, std::move(pass_on));
  process::kill_all_children();
  co_return answers;
}

/// Waits a moment before failures are reported. A scheduler that ends a job signals all of its
/// processes, in any order. A worker that ended with its runner has not failed: the runner's own
/// signal arrives meanwhile, and cancels this.
asio::awaitable<void> await_own_end(std::vector<Message> const& answers) {
  bool const has_failure = std::ranges::any_of(
      answers, [](Message const& answer) { return std::holds_alternative<Failure>(answer); });
  if (!has_failure) co_return;
  asio::steady_timer moment{co_await asio::this_coro::executor, std::chrono::milliseconds{200}};
  co_await moment.async_wait(asio::use_awaitable);
}

asio::awaitable<void> do_jobs(Queues& queues, Host host) {
  for (;;) {
    auto round = co_await queues.rounds.async_receive(asio::use_awaitable);
    auto answers = co_await measure(std::move(round), queues, host);
    co_await await_own_end(answers);
    for (auto& answer : answers)
      queues.answer(std::move(answer));
  }
}

/// Writes the queued answers. Ends when the reader has closed `output`.
asio::awaitable<void> send_answers(stream_descriptor output, Queues& queues) {
  for (;;) {
    auto const message = co_await queues.answers.async_receive(asio::use_awaitable);
    --queues.unsent;
    std::string line = protocol::encode(message);
    auto const sent = co_await process::write_line(output, std::move(line));
    if (!sent) co_return;
  }
}

stream_descriptor duplicate(asio::any_io_executor const& executor, int fd) {
  return stream_descriptor{executor, ::fcntl(fd, F_DUPFD_CLOEXEC, 0)};
}

}  // namespace

asio::awaitable<int> run_runner(RunnerOptions options, int input, int output) {
  auto const executor = co_await asio::this_coro::executor;
  std::signal(SIGPIPE, SIG_IGN);
  process::adopt_orphans();
  process::end_orphaned_sandboxes();
  process::sweep_scratch_directories();
  WorkerEnvironment surroundings{Processors::of_slot(options.slot, options.slots),
                                 process::Isolation::none,
                                 options.has_network,
                                 std::move(options.readable),
                                 std::move(options.environment),
                                 std::move(options.hidden),
                                 gpu_of(options),
                                 library_of_gpus(),
                                 options.beside_others};
  if (options.is_isolated) {
    auto const found = co_await process::find_isolation(executor);
    if (!found) {
      std::cerr << "this host cannot keep workers in sandboxes: " << found.error().message
                << "; install bubblewrap and let it make namespaces, or set isolation to \"none\""
                << std::endl;
      co_return 1;
    }
    surroundings.isolation = *found;
    process::kill_all_children();  // those of the trial
  }
  asio::signal_set stop{executor, SIGINT, SIGTERM, SIGHUP};
  process::LineReader lines{duplicate(executor, input)};
  auto answers = duplicate(executor, output);
  Queues queues{executor};
  queues.answer(hello(surroundings.isolation));

  // The first one that ends cancels the others. Cancelling a job kills its worker.
  auto sending = send_answers(std::move(answers), queues);
  auto asked_to_end = take_jobs(std::move(lines), queues) || stop.async_wait(asio::use_awaitable);
  Host host{std::move(surroundings),
            DeviceLocks{std::move(options.locks)},
            std::move(options.before_round),
            std::move(options.after_round)};
  auto working = do_jobs(queues, std::move(host));
  auto const ended = co_await (std::move(sending) || std::move(working) || std::move(asked_to_end));
  process::kill_all_children();
  co_return ended.index() == 0 ? 1 : 0;
}

}  // namespace torchwatch::runner
