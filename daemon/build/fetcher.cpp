#include "daemon/build/fetcher.h"

#include <chrono>
#include <csignal>

#include <spdlog/spdlog.h>

#include "daemon/async/watchdog.h"
#include "fetch/wire.h"
#include "runner/process/child_process.h"
#include "runner/process/excerpt.h"

namespace torchwatch::build {
namespace asio = boost::asio;

namespace {

using std::chrono::steady_clock;

/// A line a minute.
class ProgressLog {
 public:
  explicit ProgressLog(std::string url) : url_{std::move(url)} {}

  void note(fetch::FetchProgress const& progress) {
    constexpr std::chrono::minutes pause{1};
    auto const now = steady_clock::now();
    if (now < told_ + pause) return;
    told_ = now;
    bool const downloads = progress.phase == fetch::FetchProgress::Phase::downloading;
    spdlog::info("fetch_progress url={} phase={} bytes={} of={}",
                 url_,
                 downloads ? "download" : "unpack",
                 progress.bytes,
                 progress.of ? std::to_string(*progress.of) : "?");
  }

 private:
  std::string url_;
  steady_clock::time_point told_ = steady_clock::now();
};

}  // namespace

asio::awaitable<Result<fetch::Fetched>> Fetcher::fetch(fetch::FetchOrder order) const {
  auto const url = order.download.url;
  auto const unavailable = [&url](std::string const& why) {
    return Error{ErrorCode::unavailable, "fetch " + url + ": " + why};
  };
  process::Command command;
  command.argv = {program_};
  command.unset_env = {"GITHUB_TOKEN"};
  auto const started = steady_clock::now();
  auto program = process::ChildProcess::start(executor_, std::move(command));
  if (!program) co_return program.error();
  async::Watchdog const watchdog{executor_, order.download.limit, *program};
  auto line = fetch::encode(order);
  auto const written = co_await program->write_line(std::move(line));
  if (!written) co_return unavailable(written.error().message);
  ProgressLog log{url};
  while (true) {
    auto const said = co_await program->read_line();
    if (!said) break;
    auto message = fetch::decode_message(*said);
    if (!message) co_return message.error();
    if (auto* const end = std::get_if<fetch::FetchEnd>(&*message)) co_return std::move(end->result);
    log.note(std::get<fetch::FetchProgress>(*message));
  }
  auto const status = co_await program->wait();
  if (status.signal == SIGKILL && steady_clock::now() - started >= order.download.limit)
    co_return unavailable("it took longer than " + std::to_string(order.download.limit.count()) +
                          " s");
  auto const words = process::last_lines(program->last_stderr());
  co_return unavailable(words.empty() ? process::describe(status) : words);
}

}  // namespace torchwatch::build
