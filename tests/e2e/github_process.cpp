#include "tests/e2e/github_process.h"

#include <fstream>
#include <stdexcept>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "daemon/http/curl_transport.h"
#include "tests/e2e/eventually.h"

namespace torchwatch::e2e {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

process::Command command_in(fs::path const& folder) {
  fs::create_directories(folder);
  process::Command command;
  command.argv = {FAKE_GITHUB_PROGRAM,
                  "--cert-dir",
                  (folder / "certificates").string(),
                  "--state",
                  (folder / "state.json").string()};
  command.inherits = {"TORCHWATCH_GITHUB_REQUESTS"};  // see log_request()
  return command;
}

/// Waits for the line that the program prints when it listens.
json greeting_of(Process const& process) {
  auto const greeted = eventually([&] { return process.out().ends_with('\n'); });
  if (!greeted) throw std::runtime_error("fake-github does not start: " + process.err());
  return json::parse(process.out());
}

}  // namespace

GithubProcess::GithubProcess(fs::path const& folder)
    : folder_{folder},
      process_{command_in(folder), folder / "fake-github"},
      greeting_(greeting_of(process_)) {
  auto const token = folder / "token";
  std::ofstream{token} << "token-of-a-test\n";
  fs::permissions(token, fs::perms::owner_read | fs::perms::owner_write);
}

json GithubProcess::settings() const {
  return {{"repository", "pytorch/pytorch"},
          {"api", greeting_.at("url")},
          {"ca_file", greeting_.at("ca")},
          {"token_file", (folder_ / "token").string()}};
}

void GithubProcess::control(json const& change) const {
  http::Options options;
  options.ca_file = greeting_.at("ca").get<std::string>();
  http::CurlTransport transport{options};
  github::Request request{
      "POST", greeting_.at("url").get<std::string>() + "/_control", {}, change.dump()};
  asio::io_context loop{1};
  auto answer = asio::co_spawn(loop, transport.send(std::move(request)), asio::use_future);
  loop.run();
  auto const response = answer.get().value();
  if (response.status != 200) throw std::runtime_error("fake-github: " + response.body);
}

json GithubProcess::state() const {
  return json::parse(text_of(folder_ / "state.json"));
}

}  // namespace torchwatch::e2e
