#include "daemon/builds/fetcher.h"

#include <chrono>
#include <variant>

#include "daemon/async/watchdog.h"
#include "daemon/builds/fetch_progress.h"
#include "http/url.h"
#include "runner/process/child_process.h"
#include "runner/process/environment.h"
#include "runner/process/excerpt.h"

namespace torchwatch::builds {
namespace asio = boost::asio;

namespace {

/// Returns the expected kind of reply from the last message of a program.
template <class T>
Result<T> answer_in(Result<fetch::Message> message) {
  if (!message) return message.error();
  if (auto* const answer = std::get_if<T>(&*message)) return std::move(*answer);
  if (auto const* const refusal = std::get_if<fetch::Refusal>(&*message)) return refusal->error;
  return Error{ErrorCode::corrupt, "torchwatch-fetch: unexpected reply"};
}

}  // namespace

asio::awaitable<Result<fetch::Fetched>> FetchProgram::fetch(fetch::FetchRequest request) {
  auto const download = request.download;
  fetch::Request any = std::move(request);
  co_return answer_in<fetch::Fetched>(co_await run(std::move(any), download));
}

asio::awaitable<Result<fetch::Index>> FetchProgram::look_into(fetch::IndexRequest request) {
  auto const page = request.page;
  fetch::Request any = std::move(request);
  co_return answer_in<fetch::Index>(co_await run(std::move(any), page));
}

asio::awaitable<Result<fetch::CompanionFile>> FetchProgram::find(fetch::CompanionRequest request) {
  auto const page = request.page;
  fetch::Request any = std::move(request);
  co_return answer_in<fetch::CompanionFile>(co_await run(std::move(any), page));
}

/// Returns the program's last message.
asio::awaitable<Result<fetch::Message>> FetchProgram::run(fetch::Request request,
                                                          fetch::DownloadRequest download) {
  auto const unavailable = [&download](std::string const& why) {
    return Error{ErrorCode::unavailable,
                 "fetch " + http::without_secrets(download.url) + ": " + why};
  };
  process::Command command;
  command.argv = {program_};
  command.inherits = process::network_variables();
  async::Limits limits;
  limits.time = download.limit;
  auto program = process::ChildProcess::start(executor_, std::move(command));
  if (!program) co_return program.error();
  async::Watchdog const watchdog{executor_, limits, *program};
  auto line = fetch::encode(request);
  auto const written = co_await program->write_line(std::move(line));
  if (!written) co_return unavailable(written.error().message);
  FetchReporter reporter{http::without_secrets(download.url)};
  while (true) {
    auto const said = co_await program->read_line();
    if (!said) break;
    auto message = fetch::decode_message(*said);
    if (!message || !std::holds_alternative<fetch::FetchProgress>(*message)) co_return message;
    reporter.note(std::get<fetch::FetchProgress>(*message));
  }
  auto const status = co_await program->wait();
  if (!watchdog.complaint().empty()) co_return unavailable("it " + watchdog.complaint());
  auto const words = process::last_lines(program->last_stderr());
  co_return unavailable(words.empty() ? process::describe(status) : words);
}

}  // namespace torchwatch::builds
