#include "tests/e2e/process.h"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

namespace torchwatch::e2e {

namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

fs::path with_suffix(fs::path path, char const* suffix) {
  return path += suffix;
}

process::Command into_files(process::Command command, fs::path const& output) {
  command.stdout_file = with_suffix(output, ".out");
  command.stderr_file = with_suffix(output, ".err");
  return command;
}

asio::awaitable<std::optional<process::ExitStatus>> status_within(process::ChildProcess& child,
                                                                  std::chrono::milliseconds limit) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer timer{co_await asio::this_coro::executor, limit};
  auto const first = co_await (child.wait() || timer.async_wait(asio::use_awaitable));
  auto const* const status = std::get_if<process::ExitStatus>(&first);
  co_return status == nullptr ? std::nullopt : std::optional{*status};
}

}  // namespace

Process::Process(process::Command command, fs::path const& output)
    : output_{output},
      child_{
          process::ChildProcess::start(loop_.get_executor(), into_files(std::move(command), output))
              .value()} {
  child_.close_stdin();
}

std::optional<Finished> Process::ended_within(std::chrono::milliseconds limit) {
  auto answer = asio::co_spawn(loop_, status_within(child_, limit), asio::use_future);
  loop_.restart();
  loop_.run();
  auto const status = answer.get();
  if (!status) return std::nullopt;
  return Finished{status->code, status->signal, out(), err()};
}

Finished Process::wait(std::chrono::seconds limit) {
  auto finished = ended_within(limit);
  if (finished) return std::move(*finished);
  constexpr std::size_t enough = 4000;
  auto said = err();
  if (said.size() > enough) said.erase(0, said.size() - enough);
  throw std::runtime_error("still running after " + std::to_string(limit.count()) +
                           " s; the end of its standard error:\n" + said);
}

void Process::send(int signal) const {
  ::kill(pid(), signal);
}

std::string Process::out() const {
  return text_of(with_suffix(output_, ".out"));
}

std::string Process::err() const {
  return text_of(with_suffix(output_, ".err"));
}

std::string text_of(fs::path const& file) {
  std::ifstream stream{file, std::ios::binary};
  std::ostringstream text;
  // Catches the exception that an iterator would throw when a file in /proc is of a process that
  // ends meanwhile.
  text << stream.rdbuf();
  return text.str();
}

}  // namespace torchwatch::e2e
